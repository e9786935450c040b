import type { CursorStore } from "../../../repair/cursor-store.js";
import type { SqliteClient } from "../client/client.js";
import type { Connection } from "../client/connection.js";
import { look, write } from "../client/connection.js";
import type { Clock } from "../../../clock.js";

interface CursorParts {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly waitMs: number;
}

/** Where repairs remember how far they have read. */
export function createCursors({ connection, clock, waitMs }: CursorParts): CursorStore {
  const { client } = connection;
  return {
    readCursor: (name) => look(client, () => readCursor(client, name)),
    async writeCursor(name, cursor) {
      await write(connection, { waitMs }, () => {
        client.run(
          `insert into posthorn_repair_cursor (name, cursor, written_at) values (?, ?, ?)
           on conflict (name) do update set cursor = excluded.cursor, written_at = excluded.written_at`,
          name,
          cursor,
          clock.now(),
        );
      });
    },
  };
}

function readCursor(client: SqliteClient, name: string): string | undefined {
  const row = client.get("select cursor from posthorn_repair_cursor where name = ?", name);
  return (row as { cursor: string } | undefined)?.cursor;
}

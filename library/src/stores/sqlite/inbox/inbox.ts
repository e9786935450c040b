import { reach } from "#faults";
import type { InboxStore } from "../../../inbox/inbox-store.js";
import type { SqliteDatabase } from "../client/client.js";
import { look, write } from "../client/connection.js";
import { accept } from "./accept.js";
import { findKnown, findRow } from "./find.js";
import { purge } from "./purge.js";
import { noteFailure, noteRefusal } from "./records.js";
import type { ReceiptParts } from "./touch.js";
import { Receipts } from "./touch.js";

export interface InboxParts<Db extends SqliteDatabase> extends ReceiptParts {
  readonly db: Db;
}

/** The inbox, without what every port of the store says of itself. */
export function createInbox<Db extends SqliteDatabase>(
  parts: InboxParts<Db>,
): Omit<InboxStore<Db, "synchronous">, "capabilities" | "transactions"> {
  const { db, connection, clock, waitMs } = parts;
  const { client } = connection;
  const receipts = new Receipts(parts);
  return {
    find: (key) => look(client, () => findKnown(client, key, clock.now())),
    read: (key) => look(client, () => findRow(client, key)),
    accept: (arrival, work, limits) =>
      accept({ connection, db }, { arrival, work, now: () => clock.now() }, limits),
    async fail(arrival, error) {
      reach("fail.before_record");
      await write(connection, { waitMs }, () => noteFailure(client, arrival, { error, nowMs: clock.now() }));
      reach("fail.after_record");
    },
    async refuse(arrival, because) {
      reach("refuse.before_record");
      await write(connection, { waitMs }, () =>
        noteRefusal(client, arrival, { because, nowMs: clock.now() }),
      );
      reach("refuse.after_record");
    },
    touch: (arrival) => receipts.touch(arrival),
    flush: () => receipts.flush(),
    async purge(limits) {
      // A duplicate that is noted in memory alone has started its event's window again.
      await receipts.flush();
      return purge(parts, limits);
    },
  };
}

// A process of its own whose long handler never ends, so that it can be killed. Prints a line for each handler that is in its
// second step. Started with the database, `postgres` or `sqlite`, and where that is.
import Database from "better-sqlite3";
import { Pool } from "pg";
import { createWorker } from "posthorn";
import type { LongContext, ReceivedEvent } from "posthorn";
import { postgresStore } from "posthorn/postgres";
import { sqliteStore } from "posthorn/sqlite";

async function hang({ id }: ReceivedEvent, { once }: LongContext): Promise<undefined> {
  const charge = await once("charge", { act: () => "done by the first" });
  return once("mail", {
    act: () => {
      // Begun, and never known to have ended.
      process.stdout.write(`${id} ${charge}\n`);
      return new Promise<undefined>(() => undefined);
    },
  });
}

const [database, place = ""] = process.argv.slice(2);
const options = {
  handlerDeadlineMs: 5000,
  leaseMs: 10_500,
  handlers: { "order.closed": { long: hang } },
};
const worker =
  database === "sqlite"
    ? createWorker({ store: sqliteStore({ db: new Database(place) }), ...options })
    : createWorker({
        store: postgresStore({ client: new Pool({ connectionString: place, max: 4 }) }),
        ...options,
      });
await worker.start();

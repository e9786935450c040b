// A process of its own whose long handler never ends, so that it can be killed. Prints a line for each handler that begins.
import Database from "better-sqlite3";
import { createWorker } from "posthorn";
import { sqliteStore } from "posthorn/sqlite";

const [path = ""] = process.argv.slice(2);
const worker = createWorker({
  store: sqliteStore({ db: new Database(path) }),
  handlerDeadlineMs: 500,
  leaseMs: 6000,
  handlers: {
    "order.closed": {
      long: ({ id }) => {
        process.stdout.write(`${id}\n`);
        return new Promise<undefined>(() => undefined);
      },
    },
  },
});
await worker.start();

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
      long: async ({ id }, { once }) => {
        const charge = await once("charge", { act: () => "done by the first" });
        // Begun, and never known to have ended.
        void once("mail", { act: () => new Promise(() => undefined) });
        await new Promise((resolve) => setTimeout(resolve, 200));
        process.stdout.write(`${id} ${charge}\n`);
        return new Promise<undefined>(() => undefined);
      },
    },
  },
});
await worker.start();

// A process of its own whose long handler never ends, so that it can be killed. Prints a line for each handler that begins.
import { Pool } from "pg";
import { createWorker } from "posthorn";
import { postgresStore } from "posthorn/postgres";

const [url = ""] = process.argv.slice(2);
const worker = createWorker({
  store: postgresStore({ client: new Pool({ connectionString: url, max: 4 }) }),
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

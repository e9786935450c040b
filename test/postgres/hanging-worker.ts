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

// A worker that applies what was stored, to be killed. Started by host.ts with its options as JSON.
import { createWorker } from "posthorn";
import { openStore } from "./open-store.mjs";
import { serve } from "./serve.mjs";
import { consumersOf } from "./stored/consumers.mjs";

/** @import { HostOptions } from "./work.mjs" */

const options = /** @type {HostOptions} */ (JSON.parse(process.argv[2] ?? "{}"));
const worker = createWorker({
  store: /** @type {any} */ (await openStore(options, 8)),
  consumers: /** @type {any} */ (await consumersOf(options)),
  slots: 4,
  // As short as a worker takes it: most of a test's time is leases that end.
  handlerDeadlineMs: 1000,
  leaseMs: 6001,
  pollMs: 50,
  observer: (signal) => {
    if (signal.kind === "store_failed")
      console.error(`${signal.operation}: ${signal.code} ${signal.message}`);
  },
});
process.once("SIGTERM", () => void worker.stop().then(() => process.exit(0)));
// One that waits can be armed before it registers its handlers.
if (options.waits !== true) await worker.start();
serve({
  "/start": async (_request, response) => {
    await worker.start();
    response.writeHead(204).end();
  },
});

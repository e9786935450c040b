// A worker that applies what was stored, to be killed. Started by host.ts with its options as JSON.
import { createWorker } from "posthorn";
import { openStore } from "./open-store.mjs";
import { serve } from "./serve.mjs";
import { applyingTo } from "./stored-work.mjs";

/** @import { HostOptions } from "./work.mjs" */

const options = /** @type {HostOptions} */ (JSON.parse(process.argv[2] ?? "{}"));
const { single, many } = applyingTo(options);
// Whoever is killed must not use up what a handler that throws is allowed.
const retry = { firstMs: 20, factor: 1, maxAttempts: 60 };
const worker = createWorker({
  store: /** @type {any} */ (await openStore(options, 8)),
  consumers: {
    single: { handlers: { "*": /** @type {never} */ (single) }, retry },
    many: { handlers: { "*": /** @type {never} */ ({ by: "key", max: 20, batch: many }) }, retry },
  },
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
await worker.start();
serve({});

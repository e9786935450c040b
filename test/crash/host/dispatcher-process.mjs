// A worker that delivers, to be killed, stopped and ended. Started by host.ts with its options as JSON.
import { startDispatcher } from "./dispatching.mjs";
import { openStore } from "./open-store.mjs";
import { serve } from "./serve.mjs";

/** @import { HostOptions } from "./work.mjs" */

const options = /** @type {HostOptions} */ (JSON.parse(process.argv[2] ?? "{}"));

await startDispatcher(await openStore(options, 4), options);
serve({});

// A whole host in one process, to be killed: it receives, publishes and delivers. Started by host.ts with its options
// as JSON.
import { buffer } from "node:stream/consumers";
import { startDispatcher } from "./dispatching.mjs";
import { openPublisher, publishingRoutes } from "./publishing.mjs";
import { serve } from "./serve.mjs";
import { shiftClock } from "./wall-clock.mjs";

/** @import { HostOptions } from "./work.mjs" */

const options = /** @type {HostOptions} */ (JSON.parse(process.argv[2] ?? "{}"));
const host = await openPublisher(options);
await startDispatcher(host.outbox, options);
serve({
  ...publishingRoutes(host),
  "/shift": async (request, response) => {
    shiftClock(JSON.parse(String(await buffer(request))).ms);
    response.writeHead(204).end();
  },
  "/pages": async (request, response) => {
    host.limitPages?.(JSON.parse(String(await buffer(request))).most);
    response.writeHead(204).end();
  },
});

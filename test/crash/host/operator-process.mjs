// A person who intervenes, to be killed. Started by host.ts with its options as JSON.
import { buffer } from "node:stream/consumers";
import { createOperator } from "posthorn/operator";
import { openStore } from "./open-store.mjs";
import { serve } from "./serve.mjs";

/** @import { IncomingMessage, ServerResponse } from "node:http" */
/** @import { HostOptions } from "./work.mjs" */

const options = /** @type {HostOptions} */ (JSON.parse(process.argv[2] ?? "{}"));
const store = await openStore(options, 2);
const operator = createOperator({ store: /** @type {any} */ (store) });

/** @param {string} id */
function handlerOf(id) {
  return { id, sources: ["*"], types: ["*"], order: /** @type {const} */ ("key"), dead: undefined };
}

/** @param {(asked: any) => Promise<unknown>} deed */
function answering(deed) {
  return async (/** @type {IncomingMessage} */ request, /** @type {ServerResponse} */ response) => {
    const answer = await deed(JSON.parse(String(await buffer(request))));
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer ?? null));
  };
}

serve({
  "/replay": answering((rows) => operator.replay(rows)),
  "/redrive": answering((letters) => operator.redriveAll(letters)),
  "/register": answering((ids) => store.register(ids.map(handlerOf))),
  // No worker has ever had it: nobody waits for the minutes after which one counts as gone.
  "/remove": answering((id) => store.removeHandler(id, { because: "a test", by: "a test", unseenForMs: 0 })),
  "/mark": answering(({ tenant, eventId, consumer }) => store.markStored(tenant, eventId, consumer)),
  "/held": answering(async (filter) => (await operator.held(filter)).items),
  "/release": answering(({ tenant, eventId }) => operator.release(tenant, eventId)),
  "/forget": answering(({ tenant, source, id }) => operator.forget(tenant, source, id)),
});

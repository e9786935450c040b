// A person who intervenes, to be killed. Started by host.ts with its options as JSON.
import { buffer } from "node:stream/consumers";
import { createOperator } from "posthorn/operator";
import { openStore } from "./open-store.mjs";
import { serve } from "./serve.mjs";

/** @import { IncomingMessage, ServerResponse } from "node:http" */
/** @import { HostOptions } from "./work.mjs" */

const options = /** @type {HostOptions} */ (JSON.parse(process.argv[2] ?? "{}"));
const operator = createOperator({ store: /** @type {any} */ (await openStore(options, 2)) });

/** @param {(asked: any) => Promise<unknown>} deed */
function answering(deed) {
  return async (/** @type {IncomingMessage} */ request, /** @type {ServerResponse} */ response) => {
    const answer = await deed(JSON.parse(String(await buffer(request))));
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  };
}

serve({
  "/replay": answering((rows) => operator.replay(rows)),
  "/redrive": answering((letters) => operator.redriveAll(letters)),
  "/forget": answering(({ tenant, source, id }) => operator.forget(tenant, source, id)),
});

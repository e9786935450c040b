// A receiver that stores first, to be killed. Started by host.ts with its options as JSON.
import { createReceiver, standardWebhooks } from "posthorn";
import { nodeListener } from "posthorn/node";
import { openStore } from "./open-store.mjs";
import { serve } from "./serve.mjs";

/** @import { HostOptions } from "./work.mjs" */

const SECRET = "whsec_cG9zdGhvcm4gY3Jhc2ggdGVzdHMgb25seSE=";
const options = /** @type {HostOptions} */ (JSON.parse(process.argv[2] ?? "{}"));
const verifier = standardWebhooks({ secrets: SECRET });
const receiver = createReceiver({
  mode: "store_first",
  store: /** @type {never} */ (await openStore(options, 6)),
  sources: { shop: { verifier, windowS: "forever", key: { json: "/key" } } },
});
serve({ "/shop": nodeListener(receiver, { source: "shop" }) });

// A receiver that stores first, to be killed. Started by host.ts with its options as JSON.
import { createReceiver, standardWebhooks } from "posthorn";
import { nodeListener } from "posthorn/node";
import { openStore } from "./open-store.mjs";
import { serve } from "./serve.mjs";

/** @import { HostOptions } from "./work.mjs" */

const SECRET = "whsec_cG9zdGhvcm4gY3Jhc2ggdGVzdHMgb25seSE=";
const options = /** @type {HostOptions} */ (JSON.parse(process.argv[2] ?? "{}"));
const verifier = standardWebhooks({ secrets: SECRET });
const source = { verifier, windowS: /** @type {const} */ ("forever"), key: { json: "/key" } };
// Gaps that never close are given up by number in the middle of a stream, and by time at its end: before the lease of a
// worker that was killed has ended, so that nobody waits longer for them.
const order = {
  policy: /** @type {const} */ ("hold"),
  sequence: { json: "/version" },
  maxEvents: 4,
  maxMs: 5000,
};
const receiver = createReceiver({
  mode: "store_first",
  store: /** @type {never} */ (await openStore(options, 6)),
  // The names of the held ones end, so that one of long ago is stale.
  sources: {
    shop: source,
    held: { ...source, windowS: 1_209_600, order },
    latest: source,
    jobs: source,
    frail: source,
  },
});
const names = /** @type {const} */ (["shop", "held", "latest", "jobs", "frail"]);
serve(Object.fromEntries(names.map((name) => [`/${name}`, nodeListener(receiver, { source: name })])));

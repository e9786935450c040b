// A process that removes what is old, to be killed. Started by host.ts with its options as JSON.
import { openStore } from "./open-store.mjs";
import { serve } from "./serve.mjs";

/** @import { HostOptions } from "./work.mjs" */

const options = /** @type {HostOptions} */ (JSON.parse(process.argv[2] ?? "{}"));
const store = await openStore(options, 2);

// A few at a time, so that a kill leaves something to be done.
const LIMIT = 4;

async function removeAll() {
  for (const kind of /** @type {const} */ (["attempts", "events"])) {
    for (let after; ;) {
      const step = await store.removeOld({ kind, windowMs: 1, limit: LIMIT, after });
      if (step.kind === "busy" || step.next === undefined) break;
      after = step.next;
    }
  }
}

serve({
  "/remove": async (_request, response) => {
    await removeAll();
    response.writeHead(204).end();
  },
});

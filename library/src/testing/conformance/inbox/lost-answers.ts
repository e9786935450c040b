import type { Acceptance } from "../../../inbox/inbox-store.js";
import { isPosthornError } from "../../../posthorn-error.js";
import { alike, holds, print, same } from "../expectation.js";
import type { InboxPledge } from "./harness.js";
import { accept, apply, arrivalOf, storeOf, timesWritten } from "./harness.js";

const ACQUIRE_MS = 50;
const TRIES = 100;
const AGAIN_MS = 20;

export const inboxLostAnswers: readonly InboxPledge[] = [
  {
    name: "an accept that gets no connection within acquireMs is told saturated, and its handler does not run",
    needs: ["saturation"],
    async check(bench) {
      const arrival = await arrivalOf();
      const release = await bench.saturate?.();
      try {
        const acceptance = await accept(bench, arrival, { mark: "write", acquireMs: ACQUIRE_MS });
        alike(acceptance, { kind: "saturated" }, "accept");
      } finally {
        await release?.();
      }
      alike(await bench.written(), [], "what is written");
      same(await storeOf(bench, 1).find(arrival), undefined, "find");
      await apply(bench, arrival, { mark: "write" });
      same(await timesWritten(bench, "write"), 1, "writes of the handler");
    },
  },
  {
    name: "an accept whose commit got no answer throws store_commit_unknown, and the next delivery finds the truth",
    needs: ["sharesHostTransaction", "awaitingHandlers", "lostAnswers"],
    async check(bench) {
      const { unanswered } = bench;
      holds(unanswered !== undefined, "The harness gave no store that loses answers");
      const arrival = await arrivalOf();
      const pause = (): Promise<void> => Promise.resolve(unanswered.arm());
      const found = await accept(bench, arrival, { mark: "write", pause, on: unanswered.store }).then(
        (acceptance) => `an accept that came to ${print(acceptance)}`,
        (error: unknown) => (isPosthornError(error) ? error.code : print(error)),
      );
      same(found, "store_commit_unknown", "what was thrown");
      let next: Acceptance = { kind: "busy" };
      // The server may still be at the commit, or at noticing that nobody waits for it.
      for (let tries = 0; next.kind === "busy" && tries < TRIES; tries++) {
        await new Promise((resolve) => setTimeout(resolve, tries === 0 ? 0 : AGAIN_MS));
        next = await accept(bench, arrival, { mark: "write" });
      }
      holds(["applied", "duplicate"].includes(next.kind), `The next delivery came to ${print(next)}`);
      same(await timesWritten(bench, "write"), 1, "writes of the handler");
    },
  },
];

import type { Edit, Planted } from "./mutant.js";

/** A bug of a decision, in the source that the simulator runs: it must find it. */
function bug(name: string, file: string, edit: Edit | readonly Edit[]): Planted {
  return { name, file, edits: Array.isArray(edit) ? edit : [edit] };
}

// They are planted in what is shipped, not in the simulator: that each is found shows that it runs the shipped code.
export const DECISIONS: readonly Planted[] = [
  bug("the epoch is not compared by a settlement", "lanes/lane.ts", {
    find: "lane.lease !== undefined && lane.epoch === claim.epoch && lane.head",
    replace: "lane.lease !== undefined && lane.head",
  }),
  bug("an epoch is used again", "lanes/lane.ts", {
    find: "epoch: epoch + 1n,",
    replace: "epoch,",
  }),
  bug("a lane that was empty is not armed", "stores/memory/lanes/places.ts", {
    find: "rule.arms(laneOf(lane)) ?",
    replace: "rule.arms(laneOf(lane)) && lane.epoch === 0n ?",
  }),
  bug("what is acknowledged is due again", "delivery/transition.ts", {
    find: 'case "acknowledged":\n      return "delivered";\n    case "forbidden":',
    replace: 'case "acknowledged":\n      return again(waitMs, policy);\n    case "forbidden":',
  }),
  bug("what is not acknowledged is delivered", "delivery/transition.ts", {
    find: 'return { state: "due", afterMs: waitMs, counts: true };',
    replace: 'return "delivered";',
  }),
  bug("an event is acknowledged before its commit", "inbox/applier.ts", {
    find: "return await store.accept(arrival, noting(work, came), limits);",
    replace:
      'void store.accept(arrival, noting(work, came), limits).catch(() => undefined);\n      return { kind: "applied", attempt: 1 };',
  }),
  bug("a failed event counts as known", "inbox/applier.ts", {
    find: "known && !mayTakeOver(known.outcome)",
    replace: "known !== undefined",
  }),
  bug("the wake-up when something is due is dropped", "work/work-loop.ts", {
    find: "if (!rung) this.#mayBeMore = true;",
    replace: "",
  }),
  bug("a run goes on past one that failed", "delivery/lane-run.ts", {
    find: 'if (step.rest !== "delivered") return {',
    replace: 'if (step.rest !== "delivered" && delivery === claim.run.at(-1)) return {',
  }),
  bug("one retry more than the policy allows", "delivery/lane-run.ts", {
    find: "retryWaitMs(endpoint.retry, failures + 1, parts.random())",
    replace: "retryWaitMs(endpoint.retry, Math.max(failures, 1), parts.random())",
  }),
  bug("an expired event is sent", "delivery/lane-run.ts", {
    find: "return expiresInMs !== undefined && expiresInMs <= runMs;",
    replace: "return expiresInMs !== undefined && expiresInMs > Infinity && runMs > 0;",
  }),
  bug("the sequence before is not told", "delivery/lane-run.ts", {
    find: "after = delivery.sequence;",
    replace: "",
  }),
  bug("what was held up past its lease is sent", "delivery/lane-run.ts", {
    find: "leftMs: () => begunAt + deadlineMs - clock.monotonic(),",
    replace: "leftMs: () => deadlineMs,",
  }),
  bug("release gives back what is held", "delivery/dispatcher.ts", {
    find: "held.map(({ claim }) => claim),",
    replace: "held.flatMap(() => []),",
  }),
  bug("what a handler publishes is committed at once", "outbox/sender.ts", {
    find: "const written = await this.#store.write(events, tx);",
    replace: "const written = await this.#store.append(events);",
  }),
];

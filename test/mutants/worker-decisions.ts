import type { Edit, Planted } from "./mutant.js";

/** A bug of receivers that store first, of workers, or of the memory store that both have in a simulated run. */
function bug(name: string, file: string, ...edits: readonly Edit[]): Planted {
  return { name, file, edits };
}

const APPLY = "stores/memory/lanes/apply.ts";

/** The simulated runs of a stream that is stored first must find each of them. */
export const WORKER_DECISIONS: readonly Planted[] = [
  bug(
    "a lane is settled outside of the handler's transaction",
    APPLY,
    {
      find: "const tx = begin();\n",
      replace:
        "const tx = begin();\n  const early = settleApplied(parts, claim, { limits, startedAtMs, count: entered.length });\n",
    },
    {
      find: "handled: ran.handled, tx, limits, startedAtMs });",
      replace: "handled: ran.handled, tx, limits, startedAtMs, early });",
    },
    {
      find: "const next = settleApplied(parts, claim, { ...done, count: entered.length });",
      replace: "const next = done.early;",
    },
  ),
  bug("an apply is not fenced", APPLY, {
    find: "row === undefined || !rule.isCurrent(laneOf(row), claim)",
    replace: "row === undefined",
  }),
  bug("a run acknowledges more than it applied", "inbox/worker/run-work.ts", {
    find: "for (const each of run) all",
    replace: "for (const each of run.slice(0, 3)) all",
  }),
  bug("a batch acknowledges more than it applied", "inbox/handler/prepare-batch.ts", {
    find: "await run(events, context)",
    replace: "await run(events.slice(0, 3) as never, context)",
  }),
  bug("a heartbeat is lost", "inbox/worker/heartbeat.ts", {
    find: "beats = (await this.#extendInTime(idle.signal)) ? BEATS_PER_LEASE : BEATS_AFTER_FAILURE;",
    replace: "beats = BEATS_PER_LEASE;",
  }),
  bug("a hold never ends", "stores/memory/lanes/hold.ts", {
    find: "return until <= this.#parts.clock.monotonic();",
    replace: "return until <= -this.#parts.clock.monotonic();",
  }),
  bug("an event does not wait for its turn", "lanes/hold.ts", {
    find: "if (after > reached) missing =",
    replace: "if (after > sequence) missing =",
  }),
  bug("what was waited for is given up too soon", "lanes/hold.ts", {
    find: "if (index < tooMany) return",
    replace: "if (index <= tooMany) return",
  }),
  bug("an event is not told that it is late", "stores/memory/lanes/hold.ts", {
    find: "if (!isLate) return this.#parts.place(event);",
    replace: "return this.#parts.place(event);",
  }),
  bug("newest is asked without its lock", "stores/memory/inbox/newest.ts", {
    find: "let held = this.#held.get(key); held !== undefined; held",
    replace: "let held: Held | undefined; held !== undefined; held",
  }),
  bug("an equal version is the newest", "stores/memory/inbox/newest.ts", {
    find: "known.eventId !== eventId",
    replace: "known === undefined",
  }),
  bug("a replay of the newest event is dropped", "stores/memory/inbox/newest.ts", {
    find: "known?.version === version && known.eventId !== eventId",
    replace: "known?.version === version",
  }),
  bug("a pause is forgotten", "stores/memory/lanes/record-ended.ts", {
    find: "if (paused !== undefined) endpoints.pause(row.endpointId, paused);",
    replace: "",
  }),
  bug("a pause ends when a worker starts", "stores/memory/outbox/endpoint-table.ts", {
    find: "this.#seenAt.set(id, this.#clock.now());",
    replace: "this.#seenAt.set(id, this.#clock.now());\n    this.#standings.delete(id);",
  }),
  bug("a dispatcher claims handlers", "lanes/lane-store.ts", {
    find: 'if (of.kind === "endpoint") return consumer.kind === undefined;',
    replace: 'if (of.kind === "endpoint") return true;',
  }),
  bug("what another version handles is skipped", "inbox/worker/handler-runs.ts", {
    find: "registered !== undefined && isHandledByOther(",
    replace: "registered === undefined && isHandledByOther(",
  }),
  bug("a worker without a handler does not let others claim first", "inbox/worker/others-first.ts", {
    find: "if (this.#isTheirTurn)",
    replace: "if (this.#isTheirTurn && this.#span === Infinity)",
  }),
  bug("an event is acknowledged that was not stored", "inbox/keeper.ts", {
    find: 'return { verdict: "unavailable", why: describeThrown(error) };',
    replace: 'return { verdict: "stored", why: describeThrown(error) };',
  }),
  bug("an event is stored without its key", "inbox/keeper.ts", {
    find: "const key = keyOf(source, event, headers);",
    replace: "const key = keyOf(source, event, headers) && undefined;",
  }),
  bug("a replay stays in its round", "operator/replay-store.ts", {
    find: 'return verb === "replay" ? row.round + 1 : row.round;',
    replace: "return row.round;",
  }),
  bug("what was applied before is applied again", APPLY, {
    find: "return row !== undefined && !mayTakeOver(row.outcome);",
    replace: "return row !== undefined && !mayTakeOver(row.outcome) && rows.size < 0;",
  }),
];

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
  bug("an error that is to be given up is tried again", "inbox/handler/handler-failure.ts", {
    find: 'return given(claim, consumer, "error_rule");',
    replace: "return retried(claim, consumer, { passed: 0, chance });",
  }),
  bug("what is to run again at once waits", "inbox/handler/handler-failure.ts", {
    find: 'return { state: "due", afterMs: 0, counts: true };',
    replace: "return retried(claim, consumer, { passed: 0, chance });",
  }),
  bug("an error that is to be skipped is skipped without a reason", "inbox/worker/handler-runs.ts", {
    find: "return this.#skip(claim, checked, consequence.because);",
    replace: "return this.#skip(claim, checked, undefined);",
  }),
  bug("an event that is put off spends a retry", "inbox/handler/handler-failure.ts", {
    find: "afterMs: thrown.afterMs, counts: false",
    replace: "afterMs: thrown.afterMs, counts: true",
  }),
  bug("a step is done twice, though check has found it", "inbox/handler/steps.ts", {
    find: "found === undefined ? await act(own) : found",
    replace: "found === undefined ? await act(own) : await act(own)",
  }),
  bug("a step is done again, though its result was kept", "inbox/handler/steps.ts", {
    find: 'if (before.kind === "done") return parsed(before.result);',
    replace: 'if (before.kind === "done") return parsed(encoded(step, await act(idempotencyKey(step))));',
  }),
  bug("an event is forgotten, and its name is not", "stores/memory/operator/forget.ts", {
    find: "const names = parts.names.remove(tenant, { source, id, stored: [...stored] });",
    replace: "const names = 0;",
  }),
  bug(
    "what is released overtakes what is held before it",
    "lanes/hold.ts",
    { find: "if (index <= last.released)", replace: "if (index === last.released)" },
    {
      find: 'if (turn.kind === "held" && because === undefined) break;',
      replace: 'if (turn.kind === "held" && because === undefined) continue;',
    },
  ),
  bug("what is missing in the host's table is not replayed", "operator/reconcile.ts", {
    find: 'if ((kind === "missing" ? missing : extra) === "report") return undefined;',
    replace:
      'if (kind === "missing" || extra === "report") return kind === "missing" ? "staged" : undefined;',
  }),
  bug("what a person calls applied is applied", "stores/memory/operator/mark-stored.ts", {
    find: 'appliedRow(arrival, { outcome: "success" }, {',
    replace: 'appliedRow(arrival, { outcome: "failed" as never }, {',
  }),
  bug("a conflict that is redriven does not say what came first", "operator/replays.ts", {
    find: "storeArrival(store, arrival, first ?? (isConflict ? id : undefined));",
    replace: "storeArrival(store, arrival, first && undefined);",
  }),
  bug("what waits for a removed handler is not cancelled", "stores/memory/outbox/remove-endpoint.ts", {
    find: 'cancelAll(parts, id, "consumer_removed");',
    replace: "",
  }),
  bug("a handler is removed that a worker has", "stores/memory/outbox/remove-endpoint.ts", {
    find: "if (clock.now() - seenAt < unseenForMs)",
    replace: "if (clock.now() - seenAt < -unseenForMs)",
  }),
];

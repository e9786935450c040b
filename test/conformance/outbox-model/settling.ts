import type { OutboxBench } from "posthorn/testing";
import { expect } from "vitest";
import type { AttemptRecord } from "../../../library/src/lanes/attempt-record.js";
import type { DeadBecause, DeadPolicy } from "../../../library/src/lanes/dead.js";
import type { Claim, NextState, Settled, Settlement } from "../../../library/src/lanes/lane-store.js";
import { deliveryIn, outboxOf, ticksMs } from "../../../library/src/testing/conformance/outbox/steps.js";
import { requestOf, takeClaim } from "./claiming.js";
import { dueIn, LAPSES_ALLOWED } from "./lane.js";
import type { ModelLane } from "./lane.js";
import { command, WORKERS } from "./model.js";
import type { Command, Model } from "./model.js";
import type { Row } from "./rows.js";

/** What a worker may find: what its attempt came to, and what it says becomes of the delivery. */
const FOUND = {
  retry: { outcome: "refused", status: 503 },
  retry_uncounted: { outcome: "unknown", status: undefined },
  gone: { outcome: "refused", status: 410 },
  exhausted: { outcome: "unreachable", status: undefined },
  refused: { outcome: "refused", status: 413 },
  forbidden: { outcome: "forbidden", status: undefined },
  unsendable: undefined,
  expired: undefined,
  untried: undefined,
  tried: { outcome: "refused", status: 500 },
} as const satisfies Readonly<Record<string, Pick<AttemptRecord, "outcome" | "status"> | undefined>>;

export type Finding = keyof typeof FOUND;
export const FINDINGS = Object.keys(FOUND) as Finding[];

/** What a worker says of a claim. */
export interface Doing {
  /** Of a run, rounded down. */
  readonly acknowledged: 0 | 0.5 | 1;
  /** Of the first that was not acknowledged. */
  readonly finding: Finding;
  readonly policy: DeadPolicy;
  readonly next: boolean;
}

const MOST_NEXT = 4;

/** Settles one of the latest claims, whether it is still held or has passed to another long ago. */
export function settling(back: number, doing: Doing): Command {
  return command(
    `settle(${back}, ${JSON.stringify(doing)})`,
    async (model, bench) => {
      const claim = model.claims.at(-1 - (back % model.claims.length));
      if (claim === undefined) return;
      const lane = model.lanes.find(({ lease }) => lease?.claim === claim);
      const worker = lane?.lease?.worker ?? WORKERS[0];
      const settlement = settlementOf(bench, claim, doing);
      const { leaseMs = 0, run = { maxEvents: 1, maxBytes: 1 } } = requestOf(bench, worker, MOST_NEXT);
      // A worker talks to one process; whoever comes too late may have moved to another.
      const at = lane === undefined ? back : WORKERS.indexOf(worker as never);
      const [answer] = await outboxOf(bench, at).settle({ worker, leaseMs, run, settlements: [settlement] });
      if (lane === undefined) return expect(answer).toEqual({ kind: "stale" });
      const { version = 1 } = model.endpoints.get(lane.endpointId) ?? {};
      const isSkipped = lane.skipIntended && settlement.acknowledged === 0;
      apply(model, lane, { settlement, doing });
      const changed = claim.consumer.version < version;
      checkNext(model, bench, { lane, worker, settlement, answer, mayMiss: isSkipped || changed });
    },
    (model) => model.claims.length > 0,
  );
}

interface Asked {
  readonly lane: ModelLane;
  readonly worker: string;
  readonly settlement: Settlement;
  readonly answer: Settled | undefined;
  /**
   * Behind a head that was skipped, and of an endpoint that was changed since the claim, the worker may get the next one,
   * or whoever claims it.
   */
  readonly mayMiss: boolean;
}

function checkNext(model: Model, bench: OutboxBench, { lane, worker, answer, ...asked }: Asked): void {
  expect(answer?.kind).toBe("settled");
  const found = answer?.kind === "settled" ? answer.next : undefined;
  const isDue = (dueIn(lane, model.now) ?? 1) <= 0 && lane.lapses < LAPSES_ALLOWED;
  const isFree = isDue && lane.key !== undefined && model.isActive(lane.endpointId);
  const { next, acknowledged, rest } = asked.settlement;
  if (found !== undefined || !asked.mayMiss) expect(found !== undefined).toBe(next && isFree);
  if (found === undefined) return;
  // Given back untried it is the same head, of which a store need not read a run again.
  const orFewer = acknowledged === 0 && rest === undefined;
  takeClaim(model, bench, { claim: found, worker, maxEvents: MOST_NEXT, orFewer });
}

function settlementOf(bench: OutboxBench, claim: Claim, doing: Doing): Settlement {
  const acknowledged = Math.floor(doing.acknowledged * claim.run.length);
  const isWhole = acknowledged === claim.run.length;
  const delivered = Array.from(
    { length: acknowledged },
    () => ({ outcome: "acknowledged", status: 200 }) as const,
  );
  const tried = isWhole ? undefined : FOUND[doing.finding];
  return {
    claim,
    attempts: [...delivered, ...(tried === undefined ? [] : [tried])].map((each, n) =>
      attemptOf(claim, n, each),
    ),
    acknowledged,
    rest: isWhole ? undefined : restOf(bench, doing),
    next: doing.next,
  };
}

function attemptOf(
  { run, attempts }: Claim,
  n: number,
  { outcome, status }: Pick<AttemptRecord, "outcome" | "status">,
): AttemptRecord {
  const { sequence, round } = run[n] ?? run[0];
  const number = n === 0 ? attempts + 1 : 1;
  const startedAt = new Date(Date.UTC(2030, 0, 1, 12, 0, 1));
  const error = status === undefined ? "reset" : undefined;
  return { sequence, round, number, startedAt, durationMs: 12, outcome, status, error, answer: undefined };
}

const WAIT_TICKS = 1.5;

function restOf(bench: OutboxBench, { finding, policy }: Doing): NextState | undefined {
  switch (finding) {
    case "retry":
    case "retry_uncounted":
      return { state: "due", afterMs: ticksMs(bench, WAIT_TICKS), counts: finding === "retry" };
    case "gone":
      return { state: "disabled", because: "it answered 410" };
    case "exhausted":
    case "refused":
    case "forbidden":
    case "unsendable":
      return { state: "dead", because: finding, policy };
    case "expired":
      return { state: "cancelled", because: "expired" };
    case "untried":
    case "tried":
      return undefined;
  }
}

const DEATHS: Readonly<Partial<Record<DeadBecause, Row>>> = {
  exhausted: "due | the last attempt that the retry policy allows fails",
  refused: "due | the endpoint answers 413, 414 or 431",
  forbidden: "due | the endpoint's address may not be called",
  unsendable: "due | no signed request can be made of it",
};

/** What the settlement makes of the lane. */
function apply(
  model: Model,
  lane: ModelLane,
  { settlement, doing }: { readonly settlement: Settlement; readonly doing: Doing },
): void {
  const { claim, attempts, acknowledged, rest } = settlement;
  for (const [n, { round, number, outcome }] of attempts.entries()) {
    model.note(deliveryIn(settlement.claim as Claim, n), `${round}.${number} ${outcome}`);
  }
  lane.lease = undefined;
  lane.readyAt = model.now;
  for (let n = 0; n < acknowledged; n++) model.acknowledge(lane);
  if (acknowledged === claim.run.length) return;
  const tried = attempts[acknowledged];
  if (tried !== undefined) {
    lane.attempts += 1;
    lane.lapses = 0;
    lane.blockedAt ??= model.now;
  }
  if (rest?.state === "disabled") disable(model, lane.endpointId, rest.because);
  if (lane.skipIntended) return model.cancel(lane, "skipped");
  if (rest?.state === "cancelled") return model.cancel(lane, "expired");
  if (rest?.state === "dead") {
    if (tried !== undefined) lane.failures += 1;
    const row = DEATHS[rest.because];
    if (row !== undefined) model.meets(row);
    const deliveryId = deliveryIn(claim as Claim, acknowledged);
    return model.kill(lane, deliveryId, { ...rest, lastStatus: FOUND[doing.finding]?.status });
  }
  if (rest?.state !== "due") return;
  model.meets(
    "due | the attempt is refused, unreachable or unknown, and the retry policy allows another one",
  );
  lane.readyAt = model.now + WAIT_TICKS;
  lane.failures += rest.counts ? 1 : 0;
}

/** The first answer of 410 is the one that is kept. */
function disable(model: Model, endpointId: string, because: string): void {
  model.meets("due | the endpoint answers 410");
  if (model.endpoints.get(endpointId)?.state === "disabled") return;
  model.meets("active, paused | it answers 410");
  model.setState(endpointId, "disabled", because);
}

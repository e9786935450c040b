import type { OutboxBench } from "posthorn/testing";
import { expect } from "vitest";
import type { Claim, NextState } from "../../../library/src/lanes/lane-store.js";
import {
  deliveryIn,
  outboxOf,
  settlementOf,
  ticksMs,
} from "../../../library/src/testing/conformance/outbox/steps.js";
import { requestOf } from "./claiming.js";
import { isDue, LAPSES_ALLOWED, pass } from "./lane.js";
import type { ModelLane } from "./lane.js";
import { command, WORKERS } from "./model.js";
import type { Command, Model } from "./model.js";

/** What a worker may say of a claim. */
export interface Doing {
  /** Of a run, rounded down. */
  readonly acknowledged: 0 | 0.5 | 1;
  readonly rest: "due" | "due_uncounted" | "halt" | "skip" | "park" | "cancelled" | "nothing";
  readonly next: boolean;
}

/** Settles one of the latest claims, whether it is still held or has passed to another long ago. */
export function settling(back: number, doing: Doing): Command {
  return command(
    `settle(${back}, ${JSON.stringify(doing)})`,
    async (model, bench) => {
      const claim = model.claims.at(-1 - (back % model.claims.length));
      if (claim === undefined) return;
      const lane = model.lanes.find(({ lease }) => lease?.claim === claim);
      const acknowledged = Math.floor(doing.acknowledged * claim.run.length);
      const rest = acknowledged === claim.run.length ? undefined : restOf(bench, doing.rest);
      // Given back untried, it is due at once: who asks for the next then, is asking for the same.
      const next = doing.next && (acknowledged > 0 || rest !== undefined);
      const settlement = settlementOf(claim, { acknowledged, next, ...(rest && { rest }) });
      const worker = lane?.lease?.worker ?? WORKERS[0];
      const { leaseMs = 0, run = { maxEvents: 1, maxBytes: 1 } } = requestOf(bench, worker, 4);
      // A worker talks to one process; whoever comes too late may have moved to another.
      const at = lane === undefined ? back : WORKERS.indexOf(worker as never);
      const [answer] = await outboxOf(bench, at).settle({
        worker,
        leaseMs,
        run,
        settlements: [settlement],
      });
      if (lane === undefined) return expect(answer).toEqual({ kind: "stale" });
      expect(answer?.kind).toBe("settled");
      const skipped = lane.skipIntended && acknowledged === 0;
      for (const { sequence, round, number, outcome } of settlement.attempts) {
        const index = claim.run.findIndex((each) => each.sequence === sequence);
        model.note(deliveryIn(claim, index), `${round}.${number} ${outcome}`);
      }
      applySettlement(model, lane, {
        claim,
        acknowledged,
        rest,
        tried: settlement.attempts.length > acknowledged,
      });
      const found = answer?.kind === "settled" ? answer.next : undefined;
      const free = isDue(lane, model.now) && lane.key !== undefined && !model.paused.has(lane.endpointId);
      const promised = next && free && lane.lapses < LAPSES_ALLOWED;
      // Behind a head that was skipped, and of an endpoint that was changed since the claim, the worker may get the next
      // one, or whoever claims it.
      const changed = claim.consumer.version < (model.versions.get(lane.endpointId) ?? 1);
      if (found !== undefined || !(skipped || changed)) expect(found !== undefined).toBe(promised);
      if (found !== undefined) model.take(found, worker, 4);
    },
    (model) => model.claims.length > 0,
  );
}

interface Applied {
  readonly claim: Claim;
  readonly acknowledged: number;
  readonly rest: NextState | undefined;
  readonly tried: boolean;
}

function applySettlement(model: Model, lane: ModelLane, { claim, acknowledged, rest, tried }: Applied): void {
  for (let n = 0; n < acknowledged; n++) pass(lane, true);
  lane.lease = undefined;
  lane.settled = true;
  lane.readyAt = model.now;
  if (acknowledged === claim.run.length) return;
  if (tried) {
    lane.attempts += 1;
    lane.hasFailed = true;
  }
  if (lane.skipIntended || rest?.state === "cancelled") return pass(lane);
  if (rest?.state === "dead" && tried) lane.failures += 1;
  if (rest?.state === "dead") model.kill(lane, deliveryIn(claim, acknowledged), rest.policy);
  if (rest?.state !== "due") return;
  lane.readyAt = model.now + WAIT_TICKS;
  lane.failures += rest.counts ? 1 : 0;
}

const WAIT_TICKS = 1.5;

function restOf(bench: OutboxBench, rest: Doing["rest"]): NextState | undefined {
  switch (rest) {
    case "nothing":
      return undefined;
    case "due":
    case "due_uncounted":
      return { state: "due", afterMs: ticksMs(bench, WAIT_TICKS), counts: rest === "due" };
    case "cancelled":
      return { state: "cancelled", because: "expired" };
    case "halt":
    case "skip":
    case "park":
      return { state: "dead", because: "exhausted", policy: rest };
  }
}

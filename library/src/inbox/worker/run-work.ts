import type { Claim, ClaimedDelivery } from "../../lanes/lane-store.js";
import { isBatch } from "../handler/batch.js";
import { mayTakeOver } from "../inbox-store.js";
import type { Handled } from "../inbox-store.js";
import { prepareBatch } from "../handler/prepare-batch.js";
import { isPromise, prepareWork } from "../handler/prepare-work.js";
import type { Occasion, Work, WorkParts } from "../handler/prepare-work.js";
import { orderOf } from "../arrival/hold-rule.js";
import { headersText } from "../arrival/kept-headers.js";
import { arrivalOf, arrivalsOf, inboxConsumer } from "./stored-arrival.js";
import type { StepStore } from "../handler/step-store.js";
import type { CheckedConsumer } from "./worker-options.js";
import type { ApplyWork, EnteredDelivery } from "./worker-store.js";

type Run = readonly [EnteredDelivery, ...EnteredDelivery[]];

export interface RunWorkParts<Tx> extends WorkParts<Tx> {
  readonly store: WorkParts<Tx>["store"] & Pick<StepStore, "roundOf">;
}

/**
 * What runs in the transaction of a claim whose events have handlers of one kind. On a synchronous store the handlers' outer
 * parts run here, before the transaction and under the lease.
 */
export async function runWork<Tx>(
  parts: RunWorkParts<Tx>,
  { handlers, dropStale }: Pick<CheckedConsumer, "handlers" | "dropStale">,
  { claim, signal }: { readonly claim: Claim; readonly signal: AbortSignal },
): Promise<ApplyWork<Tx>> {
  const handlerOf = ({ event }: ClaimedDelivery) => handlers.find(event.source, event.type);
  const first = handlerOf(claim.run[0]);
  const prepare = isBatch(first)
    ? async (run: Run): Promise<ApplyWork<Tx>> => {
        const [head, ...others] = run.map((each) => occasionOf(claim, each, signal));
        const work = await prepareBatch(parts, first.batch, [head as Occasion, ...others]);
        return (tx, { length }) => work(tx, length);
      }
    : async ([head]: Run): Promise<ApplyWork<Tx>> => {
        const occasion = { ...occasionOf(claim, head, signal), dropStale };
        return ofOne(await prepareWork(parts, handlerOf(head), occasion));
      };
  if (parts.store.transactions === "synchronous") {
    const [head, ...others] = await withRounds(parts.store, claim);
    return head === undefined ? appliedBefore : prepare([head, ...others]);
  }
  if (isBatch(first)) return async (tx, run) => (await prepare(run))(tx, run);
  return async (tx, run) => {
    const all: Handled[] = [];
    for (const each of run) all.push(...(await (await prepare([each]))(tx, [each])));
    return all;
  };
}

/** The rounds, asked before the transaction that would tell them; up to an event that was applied before, as in the transaction. */
async function withRounds(
  store: Pick<StepStore, "roundOf">,
  claim: Claim,
): Promise<readonly EnteredDelivery[]> {
  const run: EnteredDelivery[] = [];
  for (const { delivery, arrival } of arrivalsOf(claim)) {
    const { tenant, source, id } = arrival;
    const { round, outcome } = await store.roundOf({ tenant, source, id }, inboxConsumer(claim));
    if (outcome !== undefined && !mayTakeOver(outcome)) break;
    run.push({ ...delivery, inboxRound: round });
  }
  return run;
}

/** An event that was applied before is not any more: an operator has forgotten or replayed it since. */
export class ForgottenMeanwhile extends Error {}

/** The work of an event that was applied before: the store finds a duplicate, and does not call it. */
export const appliedBefore: ApplyWork<unknown> = () => {
  throw new ForgottenMeanwhile("The event was applied before, and is not any more.");
};

/** An event was replayed after its long handler had begun: what that has done belongs to the round before. */
export class ReplayedMeanwhile extends Error {}

/** The work of one event, unless it is in another round by now: the steps of that round would be called done, and never be. */
export function ofRound<Tx>(work: Work<Tx>, round: number): ApplyWork<Tx> {
  const inRound = ofOne(work);
  return (tx, run) => {
    const [{ inboxRound }] = run;
    if (inboxRound === round) return inRound(tx, run);
    throw new ReplayedMeanwhile(
      `The handler ran in round ${round}, and its event is in round ${inboxRound}.`,
    );
  };
}

/** The work of one event as that of a run of one. */
export function ofOne<Tx>(work: Work<Tx>): ApplyWork<Tx> {
  return (tx) => {
    const handled = work(tx);
    return isPromise(handled) ? handled.then((each) => [each]) : [handled];
  };
}

/** A delivery as its handler is given it. */
export function occasionOf(claim: Claim, delivery: EnteredDelivery, signal: AbortSignal): Occasion {
  const { source, type, body, headers = {}, receipt } = delivery.event;
  const arrival = { ...arrivalOf(delivery), body, headers: headersText(headers) };
  const id = receipt?.id ?? delivery.event.id;
  const event = { id, source, type, time: receipt?.time, stamp: receipt?.stamp, body };
  const owner = { consumer: inboxConsumer(claim), round: delivery.inboxRound };
  return { event, identified: { id, arrival }, order: orderOf(receipt?.hold), signal, owner };
}

import { shownName } from "../../consumer-name.js";
import type { Claim } from "../../lanes/lane-store.js";
import { notify } from "../../observer.js";
import type { Observer, Signal } from "../../observer.js";
import { describeThrown, framesOf } from "../../thrown.js";
import type { Handled } from "../inbox-store.js";
import { isAgain } from "../handler/again.js";
import { HandlerFailure } from "../handler/prepare-work.js";
import type { Applied, ApplyWork } from "./worker-store.js";

/** What the handlers of a transaction came to, by the places of their events in the run. */
export type Outcomes = Map<number, string>;

/** Keeps what became of each delivery, and says when the work is done. Of work that was rolled back and ran again, the last word counts. */
export function noting<Tx>(work: ApplyWork<Tx>, outcomes: Outcomes, ended?: () => void): ApplyWork<Tx> {
  return (tx, deliveries) => {
    const handled = work(tx, deliveries);
    const note = (said: readonly Handled[]): readonly Handled[] => {
      ended?.();
      for (const index of deliveries.keys()) {
        const outcome = said[index]?.outcome;
        if (outcome !== undefined) outcomes.set(index, outcome);
      }
      return said;
    };
    // A promise is handed on as one: the store refuses it where it cannot wait.
    return "then" in handled ? handled.then(note) : note(handled);
  };
}

export interface Told {
  readonly applied: Applied;
  readonly outcomes: Outcomes;
  readonly durationMs: number;
}

/** Says what became of each event of a claim, once its transaction is over. */
export function tellHandled(
  observer: Observer | undefined,
  claim: Claim,
  { applied, outcomes, durationMs }: Told,
): void {
  const { consumer, attempts, run } = claim;
  const told = toldOf(applied, run.length);
  const failure = applied.kind === "failed" ? failureOf(applied.error) : undefined;
  for (const [index, delivery] of run.slice(0, told).entries()) {
    const { id, tenant, source, type, receipt } = delivery.event;
    notify(observer, {
      kind: "event_handled",
      tenant,
      source,
      type,
      id: receipt?.id ?? id,
      consumer: shownName(consumer.id),
      outcome: applied.kind === "applied" ? outcomeWord(outcomes.get(index)) : applied.kind,
      attempt: index === 0 ? attempts + 1 : 1,
      durationMs,
      ...failure,
    });
  }
}

/** How many events of the claim something became of. */
function toldOf(applied: Applied, length: number): number {
  switch (applied.kind) {
    case "applied":
    case "duplicate":
      return applied.count;
    case "failed":
      // After a run of several has failed, each of its events is tried, and told, alone.
      return length > 1 ? 0 : 1;
    case "stale":
    case "busy":
    case "saturated":
      return 0;
  }
}

/** An event that its handler wants again has not failed. */
function failureOf(error: unknown): Partial<Extract<Signal, { readonly kind: "event_handled" }>> {
  const thrown = error instanceof HandlerFailure ? error.cause : error;
  const why = describeThrown(thrown);
  return isAgain(thrown) ? { outcome: "postponed", why } : { why, stack: framesOf(thrown) };
}

function outcomeWord(outcome = "success"): string {
  return outcome === "success" ? "applied" : outcome;
}

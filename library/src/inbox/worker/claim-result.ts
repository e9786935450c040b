import { deliveryIdOf } from "../../lanes/delivery-id.js";
import type { Claim, NextState, Settlement } from "../../lanes/lane-store.js";
import type { Signal } from "../../observer.js";

/** What a claim came to. */
export interface ClaimResult {
  readonly claim: Claim;
  /** How many of its events are done. */
  readonly handled: number;
  readonly failed: number;
  /** The lane's next head, which the last transaction has leased. */
  readonly next: Claim | undefined;
  /** What is left to be settled: a failure, or a claim that is given back. */
  readonly settlement: Omit<Settlement, "next"> | undefined;
  /** Whether the answer to a commit was lost. */
  readonly lost: boolean;
  /** Whether it was given back because another version of the host has the handler. */
  readonly isOthers: boolean;
  /** Told when it is settled. */
  readonly signal: Signal | undefined;
}

/** One that came to nothing. */
export function result(claim: Claim): ClaimResult {
  const nothing = { next: undefined, settlement: undefined, signal: undefined };
  return { claim, handled: 0, failed: 0, lost: false, isOthers: false, ...nothing };
}

/** Given back untried, for somebody else or for later. */
export function givenBack(claim: Claim, afterMs: number): ClaimResult {
  const rest: NextState = { state: "due", afterMs, counts: false };
  return { ...result(claim), settlement: { claim, attempts: [], acknowledged: 0, rest } };
}

/** What is told once it is settled. */
export function signalOf({ kind, id, consumer, run: [head] }: Claim, rest: NextState): Signal | undefined {
  if (rest.state === "paused") {
    const { forMs, because } = rest;
    return { kind: "handler_paused", handler: consumer.id, forMs, because };
  }
  if (rest.state !== "dead") return undefined;
  const { because, policy } = rest;
  const { type, id: eventId, source, receipt } = head.event;
  const delivery = deliveryIdOf(kind === "lane" ? { kind, lane: id, sequence: head.sequence } : { kind, id });
  const of = { source, type, id: eventId, providerId: receipt?.id, delivery };
  return { kind: "delivery_dead", endpoint: consumer.id, ...of, because, policy };
}

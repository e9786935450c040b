import type { Effect, EventFacts, Sent } from "./event-facts.js";
import { firstSent } from "./event-facts.js";
import type { Finding } from "./finding.js";

/** The first effect of an event at a consumer. */
export interface FirstEffect {
  readonly facts: EventFacts;
  readonly effect: Effect;
}

/** What a history says of one key of a source. */
export interface KeyFacts {
  readonly source: string;
  /** In the order in which they were first sent. */
  readonly events: EventFacts[];
  /** By consumer, in the order of their commits. */
  readonly firsts: Map<string, FirstEffect[]>;
}

export function noKeyFacts(source: string): KeyFacts {
  return { source, events: [], firsts: new Map() };
}

export function noteFirst({ firsts }: KeyFacts, consumer: string, first: FirstEffect): void {
  const known = firsts.get(consumer);
  if (known === undefined) firsts.set(consumer, [first]);
  else known.push(first);
}

/**
 * Finds an effect that came after one of an event which nobody had sent when its own was stored already. The answer is the
 * last moment at which it can have been stored, the first request the earliest.
 */
export function overtakenAtStoring(firsts: readonly FirstEffect[]): Finding | undefined {
  let latest: { readonly sent: Sent; readonly effect: Effect } | undefined;
  for (const { facts, effect } of firsts) {
    const sent = firstSent(facts);
    const [stored] = facts.acknowledged;
    if (stored && latest && stored.reply.n < latest.sent.n) {
      const found = "it was stored before another of its key was sent, and was applied after that";
      return { found, witness: [stored.reply, latest.sent, latest.effect, effect] };
    }
    if (sent && sent.n > (latest?.sent.n ?? -Infinity)) latest = { sent, effect };
  }
  return undefined;
}

/** Finds an effect that came after one of a higher sequence, though nobody was told that it is late; or was told so wrongly. */
export function overtakenInSequence(
  { events }: KeyFacts,
  firsts: readonly FirstEffect[],
): Finding | undefined {
  let highest: FirstEffect | undefined;
  let sentAbove: ReadonlyMap<EventFacts, Sent> | undefined;
  for (const first of firsts) {
    const { facts, effect } = first;
    if (effect.fields.late === true) {
      sentAbove ??= firstSentAbove(events);
      const finding = wronglyLate(first, sentAbove.get(facts));
      if (finding) return finding;
    } else if (highest && sequenceOf(facts) < sequenceOf(highest.facts))
      return {
        found: "it was applied after one of a higher sequence, and was not told that it is late",
        witness: [highest.effect, effect],
      };
    if (highest === undefined || sequenceOf(facts) > sequenceOf(highest.facts)) highest = first;
  }
  return undefined;
}

/** It is late only where one of a higher sequence may have been stored before it. */
function wronglyLate({ facts, effect }: FirstEffect, above: Sent | undefined): Finding | undefined {
  const [stored] = facts.acknowledged;
  if (stored === undefined || (above && above.n < stored.reply.n)) return undefined;
  const found = "it is told that it is late, and nothing of a higher sequence was sent before it was stored";
  return { found, witness: [stored.reply, ...(above ? [above] : []), effect] };
}

/** Of each event the first request of all that have higher sequences. */
function firstSentAbove(events: readonly EventFacts[]): ReadonlyMap<EventFacts, Sent> {
  const above = new Map<EventFacts, Sent>();
  let first: Sent | undefined;
  let equal: Sent | undefined;
  let last: bigint | undefined;
  for (const facts of events.toSorted(byFallingSequence)) {
    const sequence = sequenceOf(facts);
    if (sequence !== last) [first, last] = [earlier(first, equal), sequence];
    equal = earlier(equal, firstSent(facts));
    if (first) above.set(facts, first);
  }
  return above;
}

function byFallingSequence(a: EventFacts, b: EventFacts): number {
  const [left, right] = [sequenceOf(a), sequenceOf(b)];
  if (left === right) return 0;
  return left < right ? 1 : -1;
}

function earlier(a: Sent | undefined, b: Sent | undefined): Sent | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a.n < b.n ? a : b;
}

function sequenceOf(facts: EventFacts): bigint {
  return BigInt(firstSent(facts)?.fields.sequence ?? 0);
}

import type { Event } from "../../event.js";
import { LARGEST_SEQUENCE } from "../../hold-mark.js";
import type { Gap, HoldMark } from "../../hold-mark.js";
import { orderingKey, storableKey, textAt } from "./ordering-key.js";
import type { Arrival } from "../inbox-store.js";
import type { HoldRule, Source } from "../source.js";
import type { HeaderBag } from "../../signature/headers/headers.js";

/** What a handler is told of its event's place in the sequence of its key. */
export interface EventOrder {
  readonly generation: bigint;
  readonly sequence: bigint;
  /** True when it came after its place had been passed: events that happened later were handled before it. */
  readonly late: boolean;
  /** Events that were waited for in vain, right before this one; they may still come, and are late then. */
  readonly gap: Gap | undefined;
}

export function orderOf(mark: HoldMark | undefined): EventOrder | undefined {
  if (mark === undefined) return undefined;
  const { generation, sequence, late = false, gap } = mark;
  return { generation, sequence, late, gap };
}

/**
 * The key of an event: where its sender's sequence is followed, that of the sender, which counts by it. The headers are
 * those of the request: among the kept ones, two accounts that a token names would have one key.
 */
export function keyOf({ key, hold }: Source, event: Event, headers: HeaderBag): string | undefined {
  const { lane } = event.stamp ?? {};
  if (hold !== undefined && hold.sequence === undefined && lane !== undefined) return storableKey(lane.key);
  return key === undefined ? undefined : orderingKey(key, headers, event.body);
}

/** An arrival that is kept for an operator: with its key a redrive puts it among the events of that key, without one beside them. */
export function keyed(source: Source, event: Event, arrival: Arrival, headers: HeaderBag): Arrival {
  return { ...arrival, key: keyOf(source, event, headers) };
}

/** Where an event stands in the sequence of its key; undefined where nobody has said so: it is handled as it comes. */
export function holdMark({ hold }: Source, event: Event, headers: HeaderBag): HoldMark | undefined {
  if (hold === undefined) return undefined;
  const { maxEvents, maxMs, first } = hold;
  const position =
    hold.sequence === undefined ? event.stamp?.lane : counted(textAt(hold.sequence, headers, event.body));
  if (position === undefined || !isStorable(position.generation) || !isStorable(position.sequence))
    return undefined;
  const { generation, sequence, after } = position;
  const mark = { generation, sequence, after, maxEvents, maxMs };
  return first === undefined ? mark : { ...mark, first: firstOf(first, mark) };
}

/** A signed sequence says where it starts, and of a later event no more than what came directly before it; a lower number than the first starts the key, too. */
function firstOf(first: NonNullable<HoldRule["first"]>, { sequence, after }: HoldMark): bigint {
  if (first === "signed") return after ?? sequence;
  return sequence < first ? sequence : first;
}

/** A provider's count has one generation, and leaves no number out. */
function counted(text = ""): Pick<HoldMark, "generation" | "sequence" | "after"> | undefined {
  if (!/^\d{1,19}$/.test(text)) return undefined;
  const sequence = BigInt(text);
  return { generation: 0n, sequence, after: sequence - 1n };
}

function isStorable(number: bigint): boolean {
  return number >= 0n && number <= LARGEST_SEQUENCE;
}

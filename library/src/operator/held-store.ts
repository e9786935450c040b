import { LARGEST_SEQUENCE } from "../hold-mark.js";
import type { Gap, HoldMark } from "../hold-mark.js";
import type { RegisteredHandler } from "../lanes/handler-consumer.js";
import { matcherOf } from "../pattern.js";
import { cursorInvalid } from "./cursor.js";
import { keyCursorOf, keyOfCursor } from "./inbox-cursor.js";
import type { Page, Paged } from "./operator-store.js";

/** Which held events are wanted; what is left out does not matter. */
export interface HeldFilter {
  readonly tenant?: string | undefined;
  readonly source?: string | undefined;
  readonly key?: string | undefined;
}

/** Until when an event is held, and for what. */
export interface Hold {
  readonly since: Date;
  /** At the latest: then what is missing is given up. */
  readonly until: Date;
  /** Sequences directly before it that have not come; undefined where it waits for those alone that are held before it. */
  readonly missing: Pick<Gap, "from" | "to"> | undefined;
}

/** Where a stored event stands in the sequence of its key: what it waits for, or what was decided of it. */
export interface HeldRecord {
  readonly tenant: string;
  readonly source: string;
  readonly key: string;
  /** The stored event. */
  readonly eventId: string;
  readonly type: string;
  readonly receivedAt: Date;
  readonly generation: bigint;
  readonly sequence: bigint;
  /** The handlers that get it, by their ids: all of them wait. */
  readonly consumers: readonly string[];
  /** Undefined where it is held no longer, or never was. */
  readonly hold: Hold | undefined;
  /** What was given up before it. */
  readonly gap: Gap | undefined;
  /** It came after its place had been passed. */
  readonly isLate: boolean;
}

/** What became of a release. */
export type HeldReleased =
  /** It goes on now, after those that were held before it; the gaps that were given up, in the order of their sequences. */
  | { readonly kind: "released"; readonly events: number; readonly gaps: readonly Gap[] }
  /** No event of this id is held. */
  | { readonly kind: "unknown" };

/** What a person sees of events that wait for others of their key. Each sentence is a case of the conformance kit, in the same words. */
export interface HeldStore {
  /** Events that are held, in the order of tenants, sources, keys and sequences: what is missing, since when, and until when at the latest. */
  heldEvents(filter: HeldFilter, page: Page): Promise<Paged<HeldRecord>>;
  /** Where one event stands in the sequence of its key, also after its hold has ended; undefined where its source holds nothing. */
  heldEvent(tenant: string, eventId: string): Promise<HeldRecord | undefined>;
  /**
   * Gives up what a held event waits for: those that are held before it go on first, then the event itself, and each says
   * what was given up before it. A second call changes nothing.
   */
  releaseHeld(tenant: string, eventId: string): Promise<HeldReleased>;
}

/** What a store finds of an event whose source holds. */
export interface HeldFound extends Pick<
  HeldRecord,
  "tenant" | "source" | "key" | "eventId" | "type" | "receivedAt"
> {
  readonly mark: HoldMark;
  /** Undefined where it is not held. */
  readonly until: Date | undefined;
  readonly missing: Hold["missing"];
}

/** An event as it is shown, of what a store knows of it. */
export function heldRecord(
  { mark, until, missing, ...event }: HeldFound,
  handlers: readonly Pick<RegisteredHandler, "id" | "sources">[],
): HeldRecord {
  const { generation, sequence, maxMs, gap, late = false } = mark;
  return {
    ...event,
    generation,
    sequence,
    consumers: handlers.filter(({ sources }) => matcherOf(sources)(event.source)).map(({ id }) => id),
    // Both ends move together when the clock is set back.
    hold: until && { since: new Date(until.getTime() - maxMs), until, missing },
    gap,
    isLate: late,
  };
}

/** Where a page of held events ended. */
export interface HeldSpot {
  readonly tenant: string;
  readonly source: string;
  readonly key: string;
  readonly generation: bigint;
  readonly sequence: bigint;
  /** The number of the event: a sender may give a sequence twice. */
  readonly number: bigint;
}

export function heldCursorOf({ tenant, source, key, generation, sequence, number }: HeldSpot): string {
  return keyCursorOf([tenant, source, key, String(generation), String(sequence), String(number)]);
}

/** Undefined where the list begins. */
export function heldSpotOf(after: string | undefined): HeldSpot | undefined {
  const [tenant = "", source = "", key = "", ...numbers] = keyOfCursor(after, 6) ?? [];
  if (after === undefined) return undefined;
  if (!numbers.every(isNumber)) throw cursorInvalid(after);
  const [generation = 0n, sequence = 0n, number = 0n] = numbers.map(BigInt);
  return { tenant, source, key, generation, sequence, number };
}

function isNumber(text: string): boolean {
  return /^\d{1,19}$/.test(text) && BigInt(text) <= LARGEST_SEQUENCE;
}

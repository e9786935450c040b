import type { InboxOutcome } from "../inbox/inbox-store.js";
import type { InboxAddress } from "./inbox-view-store.js";

/** One row of the inbox whose event is to be handled again. */
export interface WantedAgain extends InboxAddress {
  /** `redrive`: what was not applied in its present round. `replay`: what was applied, in a new round. */
  readonly verb: "redrive" | "replay";
  /** In which it is meant; undefined: in whichever it is. */
  readonly round?: number | undefined;
}

/** What became of a wish to handle an event again. */
export type StagedAgain =
  /** It waits for its place in its lane, behind what was stored before; its handler runs once more. */
  | "staged"
  /** It was replayed before, and is in another round by now; or it was stored for its workers before. */
  | "before"
  /** It was applied: a replay would apply it again, in a new round. */
  | "applied"
  /** Nothing of it was applied in its present round: a redrive handles it. */
  | "not_applied"
  /** There is no stored event: it was handled within its request, or removed by retention. The provider has to send it again. */
  | "not_stored"
  /** No worker has registered a handler that the event could go to. */
  | "no_worker"
  /** Its handler runs at this moment. */
  | "busy"
  | "unknown";

/** What became of an event that was to be forgotten. */
export type Forgotten =
  /** The provider's next delivery of it is applied as a new event. */
  | { readonly kind: "forgotten"; readonly rows: number; readonly names: number }
  /** A handler of it runs at this moment, or a worker has it leased. */
  | { readonly kind: "busy" }
  /** It is to be handled again already: its round would be lost. */
  | { readonly kind: "pending" }
  | { readonly kind: "unknown" };

/** For how long a row is remembered that was called applied by hand: what its source says is not known any more. */
export const MARKED_S: number = 14 * 24 * 3600;

/** A stored event as the inbox would name it. */
export interface UnhandledEvent {
  /** `evt_…` */
  readonly eventId: string;
  readonly source: string;
  /** The provider's id, in its stored form. */
  readonly id: string;
  readonly type: string;
  /** When it happened, by the provider's word. */
  readonly eventAt: Date | undefined;
}

/** What a store knows of a row that is to be handled again. */
export interface KnownRow {
  readonly outcome: InboxOutcome;
  readonly round: number;
  readonly hasEvent: boolean;
  readonly hasConsumer: boolean;
}

/** The round in which an event is handled again, or why it is not. Pure: every store locks a row, asks, and writes the answer. */
export function handledAgain(
  { verb, round }: Pick<WantedAgain, "verb" | "round">,
  row: KnownRow,
): number | StagedAgain {
  if (round !== undefined && round !== row.round) return "before";
  const isApplied = row.outcome === "success";
  if (verb === "redrive" && isApplied) return "applied";
  if (verb === "replay" && !isApplied) return "not_applied";
  if (!row.hasEvent) return "not_stored";
  if (!row.hasConsumer) return "no_worker";
  return verb === "replay" ? row.round + 1 : row.round;
}

/** How events are handled again, or forgotten. Each sentence is a case of the conformance kit, in the same words. */
export interface ReplayStore {
  /**
   * Lets events be handled again from what is stored of them, each at one consumer, at the ends of their lanes and in the
   * given order. A redrive takes what was not applied, in its round; a replay what was applied, in the next round. The row
   * is pending until then, and it is applied once in each round.
   */
  stageAgain(wanted: readonly WantedAgain[]): Promise<readonly StagedAgain[]>;
  /** Calls a row applied whose effect is there already, in its present round: no handler applies it. False where it was, or where there is none. */
  markApplied(row: InboxAddress & { readonly round: number }): Promise<boolean>;
  /**
   * Of events that were stored for handlers, those of which the inbox has no row at a consumer, in the given order: they wait
   * there, or have died, or were never its own.
   */
  unhandled(
    tenant: string,
    eventIds: readonly string[],
    consumer: string,
  ): Promise<readonly UnhandledEvent[]>;
  /**
   * Calls a stored event applied at a consumer that has no row of it: the delivery that waits there, or is redriven later,
   * is a duplicate. False where the inbox calls it applied, where its handler runs, or where there is no such event.
   */
  markStored(tenant: string, eventId: string, consumer: string): Promise<boolean>;
  /**
   * Forgets an event at all of its consumers, with the names under which it came and the steps of its handlers: the next that
   * comes is new, in round 1 again, and its steps are done anew with the same idempotency keys. Not while a handler of it
   * runs, or a worker has it leased.
   */
  forgetEvent(tenant: string, source: string, id: string): Promise<Forgotten>;
}

import type { Handling } from "./consumer-record.js";
import type { EventName, HistoryRecord, RecordOf } from "./record.js";
import type { Meaning } from "./reply-meaning.js";

export type Sent = RecordOf<"send", "invoke">;
export type Effect = RecordOf<"effect", "ok">;
export type Stored = RecordOf<"stored", "ok">;
export type Replay = RecordOf<"replay", "invoke">;
export type HandlingRow = RecordOf<"handling_row", "ok">;

/** A request and its reply. */
export interface Answered {
  readonly sent: Sent;
  readonly reply: RecordOf<"send", "ok">;
}

/** What a history says of an event in one round of one consumer, or of the handler within its request. */
export interface HandlingFacts {
  /** Undefined: the handler within the request. */
  readonly consumer: string | undefined;
  readonly round: number;
  /** The first two; a third proves nothing more. */
  readonly effects: Effect[];
  /** Its row of the inbox, which is in its newest round. */
  stored: Stored | undefined;
  /** Why it has no effect. */
  row: HandlingRow | undefined;
  /** The first replay that asked for this round. */
  asked: Replay | undefined;
  /** The first replay that was granted, and its answer. */
  granted: readonly [Replay, HistoryRecord] | undefined;
}

/**
 * What a history says of one event: the few records that prove anything, however long the history is.
 * Of each kind the first is kept, because it is the earliest proof.
 */
export interface EventFacts {
  readonly name: EventName;
  /** One for each of its bodies, signed or forged. */
  readonly sent: Sent[];
  /** One for each of its bodies. */
  readonly acknowledged: Answered[];
  /** The first that says that the event is stored, to be handled later. */
  kept: Answered | undefined;
  refused: Answered | undefined;
  /** A reply, or the lack of one, has left open that the event was taken. */
  perhapsTaken: boolean;
  /** A look that began after an acknowledgement and found no effect. */
  missedBy: HistoryRecord | undefined;
  /** One for each consumer and round of which anything is known. */
  readonly handlings: HandlingFacts[];
}

export function noFacts({ tenant, source, id }: EventName): EventFacts {
  return {
    name: { tenant, source, id },
    sent: [],
    acknowledged: [],
    kept: undefined,
    refused: undefined,
    perhapsTaken: false,
    missedBy: undefined,
    handlings: [],
  };
}

/** What is known of one round of a consumer; undefined where nothing is. */
export function handlingIn(
  { handlings }: EventFacts,
  { consumer, round = 1 }: Handling,
): HandlingFacts | undefined {
  return handlings.find((each) => each.consumer === consumer && each.round === round);
}

/** The same, to be written into. */
export function handlingOf(facts: EventFacts, { consumer, round = 1 }: Handling): HandlingFacts {
  const known = handlingIn(facts, { consumer, round });
  if (known !== undefined) return known;
  const handling: HandlingFacts = {
    consumer,
    round,
    effects: [],
    stored: undefined,
    row: undefined,
    asked: undefined,
    granted: undefined,
  };
  facts.handlings.push(handling);
  return handling;
}

/** The first request with an event that somebody who knows the secret has signed. */
export function firstSent({ sent }: EventFacts): Sent | undefined {
  return sent.find(({ fields }) => fields.genuine);
}

/** The effects of an event, at whichever consumer and in whichever round. */
export function effectsOf({ handlings }: EventFacts): readonly Effect[] {
  return handlings.flatMap(({ effects }) => effects);
}

export function noteSent({ sent }: EventFacts, record: Sent): void {
  const { bodyHash, genuine } = record.fields;
  const known = sent.some(({ fields }) => fields.bodyHash === bodyHash && fields.genuine === genuine);
  if (!known) sent.push(record);
}

export function noteAnswer(facts: EventFacts, answered: Answered, meaning: Meaning): void {
  if (meaning === "refused") facts.refused ??= answered;
  else facts.perhapsTaken = true;
  if (meaning === "stored") facts.kept ??= answered;
  if (meaning !== "acknowledged" && meaning !== "stored") return;
  const { bodyHash, genuine } = answered.sent.fields;
  const known = facts.acknowledged.some(
    ({ sent: { fields } }) => fields.bodyHash === bodyHash && fields.genuine === genuine,
  );
  if (!known) facts.acknowledged.push(answered);
}

export function noteLook(facts: EventFacts, asked: HistoryRecord, found: RecordOf<"look", "ok">): void {
  const acknowledgedAt = facts.acknowledged[0]?.reply.n ?? Infinity;
  // A look that began before the reply may have missed what was committed just after.
  if (found.fields.effects === 0 && acknowledgedAt < asked.n) facts.missedBy ??= found;
}

export function noteEffect(facts: EventFacts, record: Effect): void {
  const { effects } = handlingOf(facts, record.fields);
  if (effects.length < 2) effects.push(record);
}

export function noteReplay(facts: EventFacts, asked: Replay, ended: HistoryRecord): void {
  const handling = handlingOf(facts, asked.fields);
  const isGranted = ended.op === "replay" && ended.phase === "ok" && ended.fields.answer === "staged";
  if (isGranted) handling.granted ??= [asked, ended];
}

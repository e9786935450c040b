import type { EventName, HistoryRecord, RecordOf } from "./record.js";
import type { Meaning } from "./reply-meaning.js";

export type Sent = RecordOf<"send", "invoke">;
export type Effect = RecordOf<"effect", "ok">;
export type Stored = RecordOf<"stored", "ok">;

/** A request and its reply. */
export interface Answered {
  readonly sent: Sent;
  readonly reply: RecordOf<"send", "ok">;
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
  refused: Answered | undefined;
  /** A reply, or the lack of one, has left open that the event was taken. */
  perhapsTaken: boolean;
  /** A look that began after an acknowledgement and found no effect. */
  missedBy: HistoryRecord | undefined;
  /** The first two; a third proves nothing more. */
  readonly effects: Effect[];
  stored: Stored | undefined;
}

export function noFacts({ tenant, source, id }: EventName): EventFacts {
  return {
    name: { tenant, source, id },
    sent: [],
    acknowledged: [],
    refused: undefined,
    perhapsTaken: false,
    missedBy: undefined,
    effects: [],
    stored: undefined,
  };
}

export function noteSent({ sent }: EventFacts, record: Sent): void {
  const { bodyHash, genuine } = record.fields;
  const known = sent.some(({ fields }) => fields.bodyHash === bodyHash && fields.genuine === genuine);
  if (!known) sent.push(record);
}

export function noteAnswer(facts: EventFacts, answered: Answered, meaning: Meaning): void {
  if (meaning === "refused") facts.refused ??= answered;
  else facts.perhapsTaken = true;
  if (meaning !== "acknowledged") return;
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

export function noteEffect({ effects }: EventFacts, record: Effect): void {
  if (effects.length < 2) effects.push(record);
}

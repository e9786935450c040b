import type { Effect, EventFacts, HandlingFacts, Stored } from "./event-facts.js";
import { effectsOf, handlingIn } from "./event-facts.js";
import type { Finding } from "./finding.js";
import type { KeyFacts } from "./key-facts.js";
import type { HistoryRecord, RecordOf } from "./record.js";

/** The invariants that can be judged so far, by their number in the catalogue of faults. */
export type InvariantName =
  | "I1"
  | "I2"
  | "I3"
  | "I4"
  | "I5"
  | "I6"
  | "I7"
  | "I8"
  | "I9"
  | "I10"
  | "I12"
  | "I13";

/** A consumer of a source whose events are stored first. */
export type Registered = RecordOf<"consumer", "ok">;

/** What was read at the end of the run, and who was to handle what. */
export interface EndFacts {
  /** Undefined where nothing was to have an effect. */
  readonly effects: RecordOf<"effects_read", "ok"> | undefined;
  /** Undefined where no inbox was read. */
  readonly inbox: RecordOf<"inbox_read", "ok"> | undefined;
  /** None where the events of a source are handled within their requests. */
  readonly consumersOf: (source: string) => readonly Registered[];
}

/** A promise, judged by what is known of one event, of one key, and by the run as a whole. */
export interface Invariant {
  readonly name: InvariantName;
  readonly promise: string;
  judge?(facts: EventFacts, end: EndFacts): Finding | undefined;
  judgeKey?(key: KeyFacts, end: EndFacts): Finding | undefined;
  judgeRun?(end: EndFacts): Finding | undefined;
}

/** A lost answer counts as sent: the request may have arrived. A forged request counts as nothing. */
const noPhantom: Invariant = {
  name: "I1",
  promise: "every effect comes from a signed request with the same bytes, and none from another",
  judge(facts) {
    const { sent, acknowledged } = facts;
    const forged = acknowledged.find((each) => !each.sent.fields.genuine);
    if (forged) {
      const found = "a request that nobody with the secret has signed was acknowledged";
      return { found, witness: [forged.sent, forged.reply] };
    }
    const before = (effect: HistoryRecord) => sent.filter(({ n }) => n < effect.n);
    const phantom = effectsOf(facts).find(
      (effect) =>
        !before(effect).some(({ fields }) => fields.genuine && fields.bodyHash === effect.fields.bodyHash),
    );
    if (!phantom) return undefined;
    const found = "an effect of bytes that nobody with the secret has sent";
    return { found, witness: [...sent.slice(0, 2), phantom] };
  },
};

/** The rows and the increments beside them are counted apart: a transaction that was torn has one without the other. */
const effectOnce: Invariant = {
  name: "I2",
  promise: "an event has at most one effect in each round of a consumer",
  judge({ sent, handlings }) {
    const doubled = handlings.find(({ effects }) => effects.length > 1);
    if (doubled === undefined) return undefined;
    const found = `its work was done twice${at(doubled)}`;
    return { found, witness: [...sent.slice(0, 1), ...doubled.effects] };
  },
  judgeRun({ effects }) {
    if (effects === undefined) return undefined;
    const { rows, counted } = effects.fields;
    if (rows === counted) return undefined;
    return { found: `${rows} effects stand beside ${counted} increments: work was torn`, witness: [effects] };
  },
};

/**
 * A lost answer promises nothing, and one that says "stored" promises no effect before it. A look that began after an acknowledgement must find the effect: committed after
 * the reply, it would be there at the end too.
 */
const ackImpliesEffect: Invariant = {
  name: "I3",
  promise: "an event that was acknowledged has its effect, from before the reply on",
  judge(facts, { consumersOf }) {
    const { name, acknowledged, kept, missedBy } = facts;
    const [first] = acknowledged;
    if (first === undefined || kept !== undefined || consumersOf(name.source).length > 0) return undefined;
    const witness = [first.sent, first.reply];
    if (handlingIn(facts, {})?.effects[0] === undefined)
      return { found: "it was acknowledged and is lost", witness };
    if (missedBy === undefined) return undefined;
    return { found: "it was acknowledged before its work was committed", witness: [...witness, missedBy] };
  },
};

/** One lost answer, or one that says "come again", and nothing is claimed of the event. */
const refusalImpliesNone: Invariant = {
  name: "I4",
  promise: "an event whose every request was refused for good left nothing behind",
  judge(facts) {
    const { refused, perhapsTaken, handlings } = facts;
    if (refused === undefined || perhapsTaken) return undefined;
    const [effect] = effectsOf(facts);
    const left = effect ?? handlings.find(({ stored }) => stored)?.stored;
    if (left === undefined) return undefined;
    const found = `it was refused, and left ${effect ? "an effect" : "a row in the inbox"}`;
    return { found, witness: [refused.sent, refused.reply, left] };
  },
};

/** I5 for the inbox. Lost answers do not matter: whatever became of the commit, it became of both. */
const together: Invariant = {
  name: "I5",
  promise: "an event's effect and the row that says so are both there, or neither",
  judge({ name, handlings }, { inbox }) {
    if (inbox?.fields.sources.includes(name.source) !== true) return undefined;
    for (const handling of handlings) {
      const { effects, stored } = handling;
      const [effect] = effects;
      if (effect && !saysApplied(handlings, handling))
        return { found: `its effect stands without its row${at(handling)}`, witness: [effect] };
      if (effect || stored?.fields.outcome !== "success") continue;
      return { found: `its row says success, and its effect is not there${at(handling)}`, witness: [stored] };
    }
    return undefined;
  },
};

/** A row is in its newest round: the rounds before that were applied, or there would be no newer one. */
function saysApplied(handlings: readonly HandlingFacts[], { consumer, round }: HandlingFacts): boolean {
  return handlings.some((each) => {
    if (each.consumer !== consumer || each.stored === undefined) return false;
    return each.round > round || (each.round === round && each.stored.fields.outcome === "success");
  });
}

function at({ consumer, round }: HandlingFacts): string {
  if (consumer === undefined) return "";
  return round === 1 ? `, at ${consumer}` : `, at ${consumer} in round ${round}`;
}

/** Every observer has hashed the bytes that it saw itself. */
const byteFidelity: Invariant = {
  name: "I12",
  promise: "the bytes of an event are the same when sent, stored, handled and acknowledged",
  judge(facts) {
    const { sent, acknowledged, handlings } = facts;
    for (const { stored, effects } of handlings) {
      const finding = stored && alteredRow(stored, sent, effects[0]);
      if (finding) return finding;
    }
    const [effect] = effectsOf(facts);
    const other = acknowledged.find((each) => effect && each.sent.fields.bodyHash !== effect.fields.bodyHash);
    if (!other || !effect) return undefined;
    const found = "other bytes were acknowledged than were handled";
    return { found, witness: [other.sent, other.reply, effect] };
  },
};

function alteredRow(
  stored: Stored,
  sent: EventFacts["sent"],
  effect: Effect | undefined,
): Finding | undefined {
  const { bodyHash, hashColumn, outcome } = stored.fields;
  if (bodyHash !== hashColumn)
    return { found: "its row holds other bytes than its hash says", witness: [stored] };
  if (!sent.some(({ fields }) => fields.bodyHash === bodyHash))
    return { found: "its row holds bytes that nobody sent", witness: [...sent, stored] };
  if (effect && outcome === "success" && bodyHash !== effect.fields.bodyHash)
    return { found: "its handler got other bytes than were stored", witness: [stored, effect] };
  return undefined;
}

export const INVARIANTS: readonly Invariant[] = [
  noPhantom,
  effectOnce,
  ackImpliesEffect,
  refusalImpliesNone,
  together,
  byteFidelity,
];

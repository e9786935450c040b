import type { EventFacts } from "./event-facts.js";
import { firstSent, handlingIn } from "./event-facts.js";
import type { Finding } from "./finding.js";
import type { Invariant, Registered } from "./invariants.js";
import type { FirstEffect, KeyFacts } from "./key-facts.js";
import { overtakenAtStoring, overtakenInSequence } from "./key-facts.js";
import type { HistoryRecord } from "./record.js";

/** A replay whose answer was lost counts as granted. */
const asked: Invariant = {
  name: "I1",
  promise: "a consumer applies what it was registered for, and again only what somebody has asked for",
  judge({ name, handlings }, { consumersOf }) {
    for (const { consumer, round, effects, asked: wish } of handlings) {
      const [effect] = effects;
      if (effect === undefined || consumer === undefined) continue;
      if (!consumersOf(name.source).some(({ fields }) => fields.consumer === consumer))
        return { found: `an effect at ${consumer}, which was not to have it`, witness: [effect] };
      if (round > 1 && wish === undefined)
        return {
          found: `an effect in round ${round} at ${consumer}, for which nobody has asked`,
          witness: [effect],
        };
    }
    return undefined;
  },
};

/** An event whose answers were all lost is held to this where one consumer has it: it was stored then. */
const noLoss: Invariant = {
  name: "I6",
  promise: "every stored event is applied by each of its consumers, in each round, or there is a reason",
  judge(facts, { consumersOf }) {
    const { name, handlings } = facts;
    const waiting = handlings.find(
      ({ row }) => row?.fields.state === "due" && row.fields.because === undefined,
    );
    if (waiting?.row)
      return { found: `it still waits at ${waiting.consumer}, for nothing`, witness: [waiting.row] };
    for (const { consumer, round, effects, row, granted } of handlings)
      if (granted && effects.length === 0 && row === undefined)
        return {
          found: `its replay was granted, and ${consumer} never had it in round ${round}`,
          witness: granted,
        };
    const witness = proofOfStoring(facts);
    const missed = consumersOf(name.source).find(({ n, fields: { consumer } }) => {
      const handling = handlingIn(facts, { consumer });
      const isToHave = n < (firstSent(facts)?.n ?? -Infinity);
      return isToHave && handling?.effects[0] === undefined && handling?.row === undefined;
    });
    if (witness === undefined || missed === undefined) return undefined;
    return { found: `it is stored, and ${missed.fields.consumer} never had it`, witness };
  },
};

function proofOfStoring({
  acknowledged: [first],
  handlings,
}: EventFacts): readonly HistoryRecord[] | undefined {
  if (first !== undefined) return [first.sent, first.reply];
  const known = handlings.find(({ consumer, effects }) => consumer !== undefined && effects.length > 0);
  return known?.effects.slice(0, 1);
}

/** What has another end at a consumer is not judged there: a redrive gives it another place. Nor are later rounds. */
const effectOrder: Invariant = {
  name: "I8",
  promise: "the first effects of a key come in the order of its sequences, or in that of storing",
  judgeKey(key, { consumersOf }) {
    for (const { fields } of consumersOf(key.source)) {
      if (fields.order === "none") continue;
      const firsts = (key.firsts.get(fields.consumer) ?? []).filter((first) => staysInPlace(first, fields));
      const finding = overtaken(key, firsts);
      if (finding) return finding;
    }
    return undefined;
  },
};

function staysInPlace({ facts }: FirstEffect, { consumer }: Registered["fields"]): boolean {
  return facts.handlings.every((each) => each.consumer !== consumer || each.row === undefined);
}

function overtaken(key: KeyFacts, firsts: readonly FirstEffect[]): Finding | undefined {
  const inSequence = key.events.every((facts) => firstSent(facts)?.fields.sequence !== undefined);
  return inSequence ? overtakenInSequence(key, firsts) : overtakenAtStoring(firsts);
}

export const CONSUMER_INVARIANTS: readonly Invariant[] = [asked, noLoss, effectOrder];

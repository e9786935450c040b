import type { Report } from "../violation.js";
import { PASSED_ON_FROM } from "../../stored/handlers.js";
import { conflictOf } from "../../stored/names.js";
import { called } from "./stored-facts.js";
import type { Fate, StoredFacts } from "./stored-facts.js";

/**
 * Every acknowledged event is applied exactly once by each consumer, once more for each replay, and anew when it was
 * forgotten and came again (W1, W2).
 */
export function onceLaw(facts: StoredFacts, report: Report): void {
  for (const number of facts.missing)
    report("W1 lost", `event ${number} was acknowledged, and is not stored`);
  const known = new Set(facts.kept.map(({ event }) => event.number));
  for (const { consumer, number } of facts.effects)
    if (!known.has(number))
      report("W2 doubled", `event ${number} was applied at ${consumer}, and never stored`);
  for (const fate of facts.fates) {
    const ends = [...fate.forgotten, Infinity];
    ends.forEach((to, n) => {
      onceBetween(facts, report, { fate, from: ends[n - 1] ?? -1, to });
    });
    const [marked = Infinity] = fate.marked.slice(-1);
    const isAgain = [...fate.replays, ...fate.forgotten].some((index) => index > marked);
    const late = fate.effects.some(({ index }) => index > marked);
    if (late && !isAgain)
      report("W2 doubled", `${called(fate)} was applied after a person had called it applied`);
  }
}

interface Span {
  readonly fate: Fate;
  readonly from: number;
  /** When it was forgotten; Infinity at the end. */
  readonly to: number;
}

/** An event is new to its consumers where it was forgotten, whether they had applied it by then or not. */
function onceBetween(facts: StoredFacts, report: Report, { fate, from, to }: Span): void {
  const isWithin = (index: number): boolean => index > from && index < to;
  const effects = fate.effects.filter(({ index }) => isWithin(index));
  const stale = fate.stale.filter(({ index }) => isWithin(index));
  const times = effects.length;
  const most = 1 + fate.replays.filter(isWithin).length;
  if (times > most) report("W2 doubled", `${called(fate)} was applied ${times} times, and not ${most}`);
  const isFree = fate.isExcused || fate.marked.length > 0 || isDropped(fate, facts);
  const least = to < Infinity || isFree ? 0 : most;
  if (times + stale.length < least)
    report("W1 lost", `${called(fate)} was applied ${times} times, and not ${least}`);
  const occasions = effects.flatMap(({ occasion }) => occasion ?? []);
  if (new Set(occasions).size < occasions.length)
    report("W2 doubled", `${called(fate)} was applied twice in one round`);
}

/** What was forgotten and sent again is stored again; what was missing in the host's table when it was compared is there again (W1). */
export function againLaw(facts: StoredFacts, report: Report): void {
  for (const [number, times] of facts.forgotten) {
    const last = times.at(-1) ?? -1;
    if (!facts.kept.some(({ event, index }) => event.number === number && index > last))
      report("W1 lost", `event ${number} was forgotten and sent again, and is not stored again`);
  }
  const compared = new Map(
    facts.records.flatMap(({ record, index }) =>
      record.kind === "reconciled" ? [[record.consumer, index] as const] : [],
    ),
  );
  for (const { record, index } of facts.records) {
    if (record.kind !== "vanished" || index > (compared.get(record.consumer) ?? -1)) continue;
    const { consumer, number } = record;
    const fate = facts.fates.find(
      (each) => each.consumer.name === consumer && each.kept.event.number === number,
    );
    if (fate === undefined || fate.isExcused || fate.marked.length > 0 || isDropped(fate, facts)) continue;
    if (![...fate.effects, ...fate.stale].some((effect) => effect.index > index))
      report("W1 lost", `${called(fate)} was missing when all was compared, and was not applied again`);
  }
}

/** A conflict is refused until a person redrives it; then it says which event came first (W13). */
export function conflictLaw(facts: StoredFacts, report: Report): void {
  for (const { record } of facts.records) {
    if (
      record.kind === "acknowledged" &&
      conflictOf(record.number) !== undefined &&
      record.verdict !== "conflict"
    )
      report("W13 conflict", `event ${record.number} was ${record.verdict}, and has the id of another`);
    if (record.kind !== "kept" || conflictOf(record.number) === undefined) continue;
    const first = conflictOf(record.number);
    if (record.cause !== first)
      report(
        "W13 conflict",
        `event ${record.number} is stored, and its cause is ${record.cause} and not ${first}`,
      );
  }
}

/** A consumer that drops what is stale need not apply an event, or its replay, where it has applied another of as high a version. */
function isDropped(dropped: Fate, facts: StoredFacts): boolean {
  const { consumer, kept } = dropped;
  const { event } = kept;
  if (consumer.kind !== "drop_stale" || event.key === undefined) return false;
  return facts.laneOf(consumer.name, event.key).some((fate) => {
    return fate !== dropped && fate.effects.length > 0 && fate.kept.event.version >= event.version;
  });
}

/** What a handler publishes goes out if its transaction has committed; what was stored for handlers never does (W9). */
export function publishedLaw({ script, posted, fates }: StoredFacts, report: Report): void {
  for (const number of posted) {
    if (number < PASSED_ON_FROM)
      report("W9 published", `event ${number} was stored for handlers, and sent to an endpoint`);
  }
  const [first] = script.consumers;
  if (!script.delivers || first?.kind === "long") return;
  for (const fate of fates) {
    const { number, passesOn } = fate.kept.event;
    if (fate.consumer !== first || !passesOn) continue;
    const [isSent, isApplied] = [posted.has(number + PASSED_ON_FROM), fate.effects.length > 0];
    if (isSent !== isApplied)
      report(
        "W9 published",
        `${called(fate)} was ${isApplied ? "" : "not "}applied, and what it publishes was ${isSent ? "" : "not "}sent`,
      );
  }
}

import type { Report } from "../violation.js";
import { PASSED_ON_FROM } from "../../stored/handlers.js";
import { called } from "./stored-facts.js";
import type { Fate, StoredFacts } from "./stored-facts.js";

/** Every acknowledged event is applied exactly once by each consumer, and once more for each replay (W1, W2). */
export function onceLaw(facts: StoredFacts, report: Report): void {
  for (const number of facts.forgotten)
    report("W1 lost", `event ${number} was acknowledged, and is not stored`);
  for (const fate of facts.fates) {
    const times = fate.effects.length;
    const most = 1 + fate.replays;
    if (times > most) report("W2 doubled", `${called(fate)} was applied ${times} times, and not ${most}`);
    const least = fate.isExcused || isDropped(fate, facts) ? 0 : most;
    if (times + fate.stale < least)
      report("W1 lost", `${called(fate)} was applied ${times} times, and not ${least}`);
    const occasions = fate.effects.flatMap(({ occasion }) => occasion ?? []);
    if (new Set(occasions).size < occasions.length)
      report("W2 doubled", `${called(fate)} was applied twice in one round`);
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

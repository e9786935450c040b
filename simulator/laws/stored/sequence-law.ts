import type { Report } from "../violation.js";
import { called } from "./stored-facts.js";
import type { Fate, StoredFacts } from "./stored-facts.js";

/** Events of a key are applied in the order in which they were stored (W3). What is held is judged by its own law. */
export function sequenceLaw(facts: StoredFacts, report: Report): void {
  if (facts.script.hold !== undefined) return;
  for (const [, lane] of lanesOf(facts)) {
    let last: { readonly fate: Fate; readonly index: number } | undefined;
    for (const fate of lane.filter(({ isMoved }) => !isMoved)) {
      const index = fate.effects[0]?.index;
      if (index === undefined) continue;
      if (last !== undefined && index < last.index)
        report(
          "W3 order",
          `${called(fate)} was applied before ${called(last.fate)}, which was stored before`,
        );
      if (last === undefined || index > last.index) last = { fate, index };
    }
  }
}

/** Of one resource the versions that are applied grow, and the highest is the last; an equal one is a replay of the same event (W4). */
export function newestLaw(facts: StoredFacts, report: Report): void {
  const versions = new Map(facts.kept.map(({ event }) => [event.number, event]));
  for (const { name, kind } of facts.script.consumers) {
    if (kind !== "newest" && kind !== "drop_stale") continue;
    const known = new Map<string, { readonly version: number; readonly number: number }>();
    for (const { consumer, number, isNewest } of facts.effects) {
      const { key, version = 0 } = versions.get(number) ?? {};
      if (consumer !== name || (kind === "drop_stale" && key === undefined)) continue;
      const highest = known.get(key ?? "none") ?? { version: 0, number: -1 };
      const isReplay = version === highest.version && number === highest.number;
      const isFresh = version > highest.version || isReplay;
      if (isFresh) known.set(key ?? "none", { version, number });
      if (isFresh === (isNewest ?? true)) continue;
      const what = isFresh ? "was called stale" : "was applied as the newest";
      report("W4 newest", `event ${number} (${key} ${version}) at ${name} ${what} after ${highest.version}`);
    }
  }
}

/** Where nothing was held, moved or passed over: what is dropped is what was stale when its turn came, and nothing else (W4). */
export function droppedLaw(facts: StoredFacts, report: Report): void {
  if (facts.script.hold !== undefined) return;
  for (const [{ kind }, lane] of lanesOf(facts)) {
    if (kind !== "drop_stale" || lane.some(({ isMoved, isExcused }) => isMoved || isExcused)) continue;
    let highest = 0;
    for (const fate of lane) {
      const { version } = fate.kept.event;
      const isApplied = fate.effects.length > 0;
      if (isApplied !== version > highest)
        report("W4 newest", `${called(fate)} was ${isApplied ? "applied" : "dropped"} after ${highest}`);
      highest = Math.max(highest, version);
    }
  }
}

/** By consumer and key, where there is an order. */
function lanesOf(facts: StoredFacts): readonly (readonly [Fate["consumer"], readonly Fate[]])[] {
  const ordered = facts.script.consumers.filter(({ order }) => order === "key");
  return ordered.flatMap((consumer) =>
    facts.keys.map((key) => [consumer, facts.laneOf(consumer.name, key)] as const),
  );
}

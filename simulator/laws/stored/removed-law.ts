import { GONE } from "../../stored/names.js";
import type { Report } from "../violation.js";
import type { StoredFacts } from "./stored-facts.js";

/** What waits for a handler that is removed is cancelled, once and for that reason; one that workers have is not removed (W12). */
export function removedLaw({ script, records, kept }: StoredFacts, report: Report): void {
  let removedAt: number | undefined;
  const cancelled = new Map<number, number>();
  for (const { record, index } of records) {
    if (record.kind === "removed" && record.consumer !== GONE)
      report("W12 removed", `${record.consumer} was removed, and workers have it`);
    if (record.kind === "removed" && record.consumer === GONE) removedAt ??= index;
    if (record.kind !== "cancelled" || record.consumer !== GONE) continue;
    cancelled.set(record.number, (cancelled.get(record.number) ?? 0) + 1);
    if (record.because !== "consumer_removed")
      report("W12 removed", `event ${record.number} was cancelled at ${GONE} as ${record.because}`);
  }
  if (!script.hasGone) return;
  if (removedAt === undefined) return report("W12 removed", `${GONE} could not be removed`);
  const at = removedAt;
  for (const number of new Set([...kept.map(({ event }) => event.number), ...cancelled.keys()])) {
    const stored = kept.filter(({ event, index }) => event.number === number && index < at).length;
    const times = cancelled.get(number) ?? 0;
    // What was held at that time had no place there yet.
    const isRight = script.hold === undefined ? times === stored : times <= stored;
    if (!isRight)
      report(
        "W12 removed",
        `event ${number} was stored ${stored} times for ${GONE}, and cancelled ${times} times`,
      );
  }
}

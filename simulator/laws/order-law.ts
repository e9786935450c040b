import type { Places } from "./places.js";
import type { Publications, PublishedEvent } from "./publications.js";
import type { EndpointPlan } from "../script/script.js";
import type { Report } from "./violation.js";

/** If one event was committed before another was begun, it comes first in every lane that they share (I7). */
export function orderLaw({
  places,
  publications,
  endpoints,
  report,
}: {
  readonly places: Places;
  readonly publications: Publications;
  readonly endpoints: readonly EndpointPlan[];
  readonly report: Report;
}): void {
  for (const { name } of endpoints) {
    const lanes = new Map<string, { readonly sequence: bigint; readonly event: PublishedEvent }[]>();
    for (const event of publications.events.values()) {
      const first = places.firstOf(name, event.plan.number);
      // An event with `deliverAt` takes its place when it is due.
      if (first === undefined || event.plan.deliverAfterMs !== undefined) continue;
      const those = lanes.get(first.lane) ?? [];
      those.push({ sequence: first.sequence, event });
      lanes.set(first.lane, those);
    }
    for (const [lane, those] of lanes) judge(those, lane, report);
  }
}

/** Goes backwards through a lane: no event further back may have been known as committed before this one was begun. */
function judge(
  those: readonly { readonly sequence: bigint; readonly event: PublishedEvent }[],
  lane: string,
  report: Report,
): void {
  const ordered = those.toSorted((a, b) => Number(b.sequence - a.sequence));
  let earliestKnown: PublishedEvent | undefined;
  for (const { event } of ordered) {
    if (earliestKnown !== undefined && earliestKnown.knownAt < event.begunAt) {
      const { plan } = earliestKnown;
      report(
        "I7",
        `event ${plan.number} was committed before ${event.plan.number} was begun, and stands behind it in ${lane}`,
      );
    }
    const known = event.result === "ok" ? event.knownAt : Infinity;
    if (known < (earliestKnown?.knownAt ?? Infinity)) earliestKnown = event;
  }
}

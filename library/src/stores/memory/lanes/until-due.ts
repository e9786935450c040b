import { isClaimable } from "../../../lanes/lane-store.js";
import type { Claimable } from "../../../lanes/lane-store.js";
import type { Publications } from "../outbox/publications.js";
import type { MemoryParts } from "../parts.js";

/** Milliseconds until something is due or a lease ends; undefined when nothing waits for its time. */
export function untilDue(
  { clock, endpoints, lanes }: MemoryParts,
  publications: Publications,
  of: Claimable,
): number | undefined {
  const now = clock.monotonic();
  const waits = lanes.waiting().flatMap(({ endpointId, readyAt }) => {
    const consumer = endpoints.consumer(endpointId);
    if (readyAt === undefined || consumer === undefined || !isClaimable(of, consumer)) return [];
    if (consumer.state === "active") return [readyAt - now];
    const until = endpoints.pausedUntilMs(endpointId);
    return until === undefined ? [] : [Math.max(readyAt, until) - now];
  });
  const later = publications.untilNextMs();
  if (later !== undefined) waits.push(later);
  const held = of.kind === "handler" ? publications.holds.untilNextMs() : undefined;
  if (held !== undefined) waits.push(held);
  if (waits.length === 0) return undefined;
  const least = waits.reduce((one, other) => Math.min(one, other));
  // Rounded up: a worker that sleeps that long must not wake a moment too early.
  return Math.ceil(Math.max(0, least));
}

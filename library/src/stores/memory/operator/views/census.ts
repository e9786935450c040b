import type { OutboxCensus } from "../../../../operator/lookup-store.js";
import type { MemoryParts } from "../../parts.js";

/** How much waits; `staged`: how many events have no places yet, `held` of them because others of their key are missing. */
export function census(
  { clock, endpoints, history, lanes }: MemoryParts,
  { staged, held, setAside }: Pick<OutboxCensus, "staged" | "held" | "setAside">,
): OutboxCensus {
  const waiting = lanes.waiting();
  const now = clock.monotonic();
  const active = waiting.filter(({ endpointId }) => endpoints.isActive(endpointId));
  // The dead head of a lane that has stopped is still in it, and waits for nothing.
  const counts = waiting.map(({ head, end, state }) => Number(end - head) - (state === "flowing" ? 0 : 1));
  const blocked = waiting.filter(({ kind, blockedAt }) => kind === "lane" && blockedAt !== undefined);
  return {
    staged,
    held,
    waiting: counts.reduce((sum, count) => sum + count, 0),
    oldestDueMs: active.reduce((oldest, { readyAt = now }) => Math.max(oldest, now - readyAt), 0),
    blockedLanes: blocked.length,
    dead: history.allDead().length,
    setAside,
  };
}

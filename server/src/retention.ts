import { repeat } from "posthorn/gateway";
import type { Observer } from "posthorn";
import { createRetention } from "posthorn/operator";
import type { Settings } from "./config/settings.js";
import type { ServerParts } from "./parts.js";

const REJECTED_EVERY_MS = 60_000;
const REJECTED_AT_ONCE = 500;

/** Removes what is older than its window, until the signal aborts. */
export async function keepRemoved(
  parts: Pick<ServerParts, "settings" | "outbox" | "registry" | "clock" | "log">,
  observer: Observer,
  signal: AbortSignal,
): Promise<void> {
  const { settings, outbox, registry, clock, log } = parts;
  const retention = createRetention({
    store: outbox,
    windows: windowsOf(settings),
    rowsPerSecond: settings.retentionRate,
    observer,
    clock,
  });
  const removeRejected = async (): Promise<boolean> => {
    const before = new Date(clock.now() - settings.retentionRejectedMs);
    return (await registry.removeRejected(before, REJECTED_AT_ONCE)) === REJECTED_AT_ONCE;
  };
  await Promise.all([
    retention.keepRemoved({ signal }),
    repeat({
      everyMs: REJECTED_EVERY_MS,
      clock,
      signal,
      work: removeRejected,
      failed: (error) => log.warn({ err: error }, "old rejected requests could not be removed"),
    }),
  ]);
}

function windowsOf(settings: Settings) {
  return {
    eventsMs: settings.retentionEventsMs,
    attemptsMs: settings.retentionAttemptsMs,
    answersMs: settings.retentionAnswersMs,
    cancelledMs: settings.retentionCancelledMs,
    deadMs: settings.retentionDeadMs,
    setAsideMs: settings.retentionSetAsideMs,
    idsMs: settings.retentionIdsMs,
  };
}

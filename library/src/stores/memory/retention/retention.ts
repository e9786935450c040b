import type {
  Removal,
  RemovalStep,
  RetentionCensus,
  RetentionKind,
  RetentionStore,
} from "../../../retention/retention-store.js";
import { RETENTION_KINDS } from "../../../retention/retention-store.js";
import type { Publications } from "../outbox/publications.js";
import type { MemoryParts } from "../parts.js";
import { removeAttempts } from "./remove-attempts.js";
import { removeEnded } from "./remove-ended.js";
import { removeEvents } from "./remove-events.js";
import { removeEmptyLanes } from "./remove-lanes.js";
import type { Removed, RetentionParts } from "./removed.js";

/** Removes what is old. */
export function createRetention(memory: MemoryParts, publications: Publications): RetentionStore {
  const parts: RetentionParts = { ...memory, publications, upTo: new Map() };
  const removed = new Map<RetentionKind, number>();
  const passedAt = new Map<RetentionKind, number>();
  return {
    removeOld(step) {
      const done = removeOld(parts, step);
      removed.set(step.kind, (removed.get(step.kind) ?? 0) + done.removed);
      if (done.next === undefined) passedAt.set(step.kind, parts.clock.monotonic());
      return Promise.resolve(done);
    },
    retention: () => Promise.resolve(census(parts, removed, passedAt)),
  };
}

function removeOld(parts: RetentionParts, step: RemovalStep): Extract<Removal, { kind: "done" }> {
  const { rows, next, lanes } = removeKind(parts, step);
  return { kind: "done", removed: rows + removeEmptyLanes(parts, lanes), next };
}

function removeKind(parts: RetentionParts, step: RemovalStep): Removed {
  switch (step.kind) {
    case "events":
      return removeEvents(parts, step);
    case "attempts":
    case "answers":
      return removeAttempts(parts, step);
    case "dead":
    case "cancelled":
    case "set_aside":
    case "ids":
      return removeEnded(parts, step);
  }
}

/** Nothing here is on a disk, and nothing is ever set aside. */
function census(
  { clock, events, history }: RetentionParts,
  removed: ReadonlyMap<RetentionKind, number>,
  passedAt: ReadonlyMap<RetentionKind, number>,
): RetentionCensus {
  const nowMs = clock.now();
  const oldest: Partial<Record<RetentionKind, number | undefined>> = {
    events: events.after(-1n, 1)[0]?.writtenAt.getTime(),
    dead: history.resolved()[0]?.at.getTime(),
    cancelled: history.cancelled()[0]?.at.getTime(),
  };
  return {
    bytes: 0,
    freeBytes: undefined,
    tables: [],
    kinds: RETENTION_KINDS.map((kind) => {
      const passed = passedAt.get(kind);
      const at = oldest[kind];
      return {
        kind,
        removed: removed.get(kind) ?? 0,
        passedMs: passed === undefined ? undefined : clock.monotonic() - passed,
        oldestMs: at === undefined ? undefined : Math.max(0, nowMs - at),
      };
    }),
  };
}

import { expect, test } from "vitest";
import { createMetrics } from "./metrics.js";

test("metrics show sizes, the oldest event, what was removed and when a pass last ended", async () => {
  const kinds = [
    { kind: "events" as const, removed: 12, passedMs: 3000, oldestMs: 60_000 },
    { kind: "dead" as const, removed: 0, passedMs: undefined, oldestMs: undefined },
  ];
  const retention = () => Promise.resolve({ bytes: 4096, freeBytes: undefined, tables: [], kinds });
  const { body } = await createMetrics({ processMetrics: false, retention }).text();
  const shown = body.split("\n").filter((line) => /^posthorn_(ret|old|rem)/.test(line));
  expect(shown).toEqual([
    "posthorn_retained_bytes 4096",
    "posthorn_oldest_event_seconds 60",
    'posthorn_removed_rows{kind="events"} 12',
    'posthorn_removed_rows{kind="dead"} 0',
    'posthorn_retention_passed_seconds{kind="events"} 3',
  ]);
});

import { expect, it } from "vitest";
import { systemClock } from "../../../clock.js";
import { purgeInBatches } from "./purge.js";

function table(rows: number) {
  let left = rows;
  const limits: number[] = [];
  return {
    limits,
    remove: (limit: number) => {
      limits.push(limit);
      const gone = Math.min(limit, left);
      left -= gone;
      return Promise.resolve(gone);
    },
    isMore: () => Promise.resolve(left > 0),
  };
}

it("a purge goes on in small batches until nothing is left", async () => {
  const rows = table(1200);
  const report = await purgeInBatches({ maxRows: 10_000, deadlineMs: 5000 }, systemClock, rows);
  expect(report).toEqual({ removed: 1200, more: false });
  expect(rows.limits).toEqual([500, 500, 500]);
});

it("a purge that stops at its limit says whether there is more, also when there is exactly none", async () => {
  expect(await purgeInBatches({ maxRows: 600, deadlineMs: 5000 }, systemClock, table(700))).toEqual({
    removed: 600,
    more: true,
  });
  expect(await purgeInBatches({ maxRows: 600, deadlineMs: 5000 }, systemClock, table(600))).toEqual({
    removed: 600,
    more: false,
  });
});

it("a purge stops at its deadline, measured by a clock that only grows", async () => {
  let ms = 0;
  const clock = { ...systemClock, now: () => 0, monotonic: () => (ms += 400) };
  const report = await purgeInBatches({ maxRows: 100_000, deadlineMs: 1000 }, clock, table(5000));
  expect(report).toEqual({ removed: 1500, more: true });
});

it("limits that would remove nothing, or never end, are refused", async () => {
  for (const limits of [
    { maxRows: 0, deadlineMs: 100 },
    { maxRows: Number.NaN, deadlineMs: 100 },
    { maxRows: 10, deadlineMs: -1 },
  ]) {
    await expect(purgeInBatches(limits, systemClock, table(1))).rejects.toMatchObject({
      code: "store_option_invalid",
    });
  }
});

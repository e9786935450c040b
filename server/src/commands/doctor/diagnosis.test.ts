import { expect, it } from "vitest";
import type { SourceRecord } from "../../store/source.js";
import {
  judgeClock,
  judgeDisk,
  judgeDurability,
  judgeOpenFiles,
  judgeRetention,
  judgeSchema,
  judgeSetAside,
  judgeStage,
  judgeWindow,
} from "./diagnosis.js";

const GIB = 1024 ** 3;
const source = (scheme: string, windowS: number): SourceRecord =>
  ({ name: "shop", scheme, windowS }) as SourceRecord;

it.each([
  [undefined, 0, "ok"],
  [150, 100, "ok"],
  [-5000, 10, "warn"],
  // All of it may be the time that the answer took.
  [5000, 4900, "ok"],
  [120_000, 10, "fail"],
])("a clock that is %s ms off, give or take %i ms, is %s", (skewMs, uncertainMs, level) => {
  expect(judgeClock(skewMs, uncertainMs).level).toBe(level);
});

it.each([
  [100 * GIB, 500 * GIB, "ok"],
  [20 * GIB, 500 * GIB, "ok"],
  [5 * GIB, 500 * GIB, "warn"],
  [5 * GIB, 20 * GIB, "ok"],
  [GIB / 10, GIB, "fail"],
])("a disk with %i of %i bytes free is %s", (free, total, level) => {
  expect(judgeDisk(free, total).level).toBe(level);
});

it("a window that ends before its provider stops to retry fails, and the cure is a command", () => {
  expect(judgeWindow(source("stripe", 3600))).toMatchObject({
    level: "fail",
    cure: expect.stringMatching(/^posthorn source update shop --window \d+$/) as string,
  });
  expect(judgeWindow(source("stripe", 14 * 86_400)).level).toBe("ok");
  expect(judgeWindow(source("hmac", 3600)).level).toBe("ok");
});

it("lost durability and foreign tables fail; a low limit of files is a warning", () => {
  expect(judgeDurability([], "postgres").level).toBe("ok");
  expect(judgeDurability(["fsync is off; expected on"], "postgres").level).toBe("fail");
  expect(judgeSchema("current").level).toBe("ok");
  expect(judgeSchema("older")).toMatchObject({ level: "fail", cure: "posthorn migrate" });
  expect(judgeSchema("older", " --config /etc/p.yaml").cure).toBe("posthorn migrate --config /etc/p.yaml");
  expect(judgeOpenFiles(1024, 10_000).level).toBe("warn");
  expect(judgeOpenFiles(undefined, 10_000).level).toBe("ok");
});

const HOUR_MS = 3_600_000;

it.each([
  [undefined, "ok"],
  [5000, "ok"],
  [2 * HOUR_MS, "warn"],
])("where the last pass over old records ended %s ms ago, retention is %s", (passedMs, level) => {
  const kinds = [{ kind: "events" as const, removed: 1, passedMs, oldestMs: 72 * HOUR_MS }];
  const tables = [{ name: "event", bytes: 5 * 1024 ** 2 }];
  const finding = judgeRetention({ bytes: 7 * 1024 ** 2, freeBytes: undefined, tables, kinds });
  expect(finding.level).toBe(level);
  expect(finding.found).toContain("7 MiB (event 5 MiB), oldest event 3 days old");
});

it("events that were set aside are a warning, with the command that lists them", () => {
  expect(judgeSetAside(0).level).toBe("ok");
  expect(judgeSetAside(3)).toMatchObject({
    level: "warn",
    cure: expect.stringContaining("posthorn set-aside list") as string,
  });
});

it("newer tables are not sent to `migrate`, which would refuse them", () => {
  const { level, cure } = judgeSchema("newer");
  expect(level).toBe("fail");
  expect(cure).toContain("Run that version or a later one");
  expect(cure).not.toContain("migrate");
});

it("staged events that nobody takes are a warning; those that become fewer are not", () => {
  expect(judgeStage(3, 3)).toMatchObject({
    level: "warn",
    found: "3 events wait to be given to their endpoints, and no node takes them",
  });
  expect(judgeStage(3, 3).cure).toContain("--roles dispatch");
  expect([judgeStage(0, 0), judgeStage(5, 0), judgeStage(5, 2)].map(({ level }) => level)).toEqual([
    "ok",
    "ok",
    "ok",
  ]);
});

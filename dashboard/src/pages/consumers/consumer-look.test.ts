import { describe, expect, it } from "vitest";
import { consumerLook, typesOf, typeWords } from "./consumer-look.ts";

const WELL = {
  state: "active",
  hasWorker: true,
  waiting: 0,
  haltedLanes: 0,
  parkedLanes: 0,
  retryingLanes: 0,
} as const;

describe("how a consumer stands", () => {
  it("is the worst that is true of it: no worker for what waits, then halted lanes, then a pause", () => {
    expect(consumerLook(WELL)).toMatchObject({ tone: "landed", word: "active" });
    const paused = { ...WELL, state: "paused", waiting: 3 } as const;
    expect(consumerLook(paused)).toMatchObject({ tone: "paused", word: "paused" });
    expect(consumerLook({ ...paused, haltedLanes: 1 })).toMatchObject({
      tone: "halted",
      word: "1 lane halted",
    });
    const left = consumerLook({ ...paused, haltedLanes: 1, hasWorker: false });
    expect(left).toMatchObject({ tone: "halted", word: "no worker" });
  });

  it("is less bad without a worker when nothing waits for one", () => {
    expect(consumerLook({ ...WELL, hasWorker: false })).toMatchObject({
      tone: "retrying",
      word: "no worker",
    });
  });
});

it("the types of all versions are told once, the first few by name", () => {
  const versions = [
    { sources: ["*"], types: ["a", "b"], at: "" },
    { sources: ["*"], types: ["b", "c", "d"], at: "" },
  ];
  expect(typesOf({ versions })).toEqual(["a", "b", "c", "d"]);
  expect(typeWords(typesOf({ versions }))).toBe("a, b, c and 1 more");
  expect(typeWords(["a", "*"])).toBe("everything");
  expect(typeWords([])).toBe("nothing");
});

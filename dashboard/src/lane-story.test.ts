import { expect, it, vi } from "vitest";

vi.mock("./api.ts", () => ({ api: {} }));
const { placesOf } = await import("./lane-story.ts");

it("a short lane is drawn whole", () => {
  expect(placesOf({ head: "2", depth: "3" })).toEqual({ past: ["1"], next: ["3", "4"], last: [] });
});

it("of a long lane the first and the newest are drawn", () => {
  expect(placesOf({ head: "9", depth: "41" })).toEqual({
    past: ["6", "7", "8"],
    next: ["10", "11", "12", "13", "14", "15"],
    last: ["47", "48", "49"],
  });
});

it("sequences may be larger than numbers", () => {
  expect(placesOf({ head: "9007199254740993", depth: "2" })).toEqual({
    past: ["9007199254740990", "9007199254740991", "9007199254740992"],
    next: ["9007199254740994"],
    last: [],
  });
});

it("an empty lane has only what came before", () => {
  expect(placesOf({ head: "3", depth: "0" })).toEqual({ past: ["1", "2"], next: [], last: [] });
});

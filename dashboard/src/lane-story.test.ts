import { expect, it, vi } from "vitest";

vi.mock("./api.ts", () => ({ api: {} }));
const { placesOf } = await import("./lane-story.ts");

it("a short lane is drawn whole", () => {
  expect(placesOf({ head: "2", depth: "3" })).toEqual({ next: ["3", "4"], last: [] });
});

it("of a long lane the first and the newest are drawn", () => {
  expect(placesOf({ head: "9", depth: "41" })).toEqual({
    next: ["10", "11", "12", "13", "14", "15"],
    last: ["47", "48", "49"],
  });
});

it("sequences may be larger than numbers", () => {
  expect(placesOf({ head: "9007199254740993", depth: "2" })).toEqual({
    next: ["9007199254740994"],
    last: [],
  });
});

it("an empty lane has nothing to draw", () => {
  expect(placesOf({ head: "3", depth: "0" })).toEqual({ next: [], last: [] });
});

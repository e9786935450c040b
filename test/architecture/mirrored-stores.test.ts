import { expect, it } from "vitest";
import { mirrorOf } from "./mirrored-stores.js";

const paths = [
  "library/src/stores/sqlite/lanes/claim.ts",
  "library/src/stores/sqlite/lanes/claim.test.ts",
  "library/src/stores/sqlite/lanes/turn.ts",
  "library/src/stores/postgres/lanes/claim.ts",
  "library/src/stores/postgres/turn.ts",
];

it("a file counts as mirrored when the other store has it at the same path", () => {
  expect(mirrorOf(paths, "sqlite", "postgres")).toEqual({ share: 0.5, missing: ["lanes/turn.ts"] });
});

it("a store without files mirrors nothing, so that a renamed folder does not pass", () => {
  expect(mirrorOf(paths, "oracle", "postgres").share).toBe(0);
});

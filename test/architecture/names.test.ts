import { expect, it } from "vitest";
import { checkNames } from "./names.js";

it.each([
  "library/src/utils/a.ts",
  "library/src/inbox/types.ts",
  "library/src/inbox/Helpers.ts",
  "test/helper.test.ts",
  "bench/lib/a.ts",
  "scripts/misc.mjs",
  "examples/first/core/a.ts",
])("a name that names nothing is reported: %s", (path) => {
  expect(checkNames([path])).toEqual([expect.stringContaining(`${path}:1: "`)]);
});

it.each(["inbox-service.ts", "eventRepository.ts", "factory.ts", "lane_manager.test.ts", "string-utils.ts"])(
  "a layer in a file name is reported: %s",
  (name) => {
    expect(checkNames([`library/src/inbox/${name}`])).toEqual([expect.stringContaining("ends in")]);
  },
);

it("names of concepts pass, and so does what lies outside the code", () => {
  const paths = [
    "library/src/event.ts",
    "test/services.ts",
    "library/package.json",
    "docs/types.md",
    "test/library.ts",
  ];
  expect(checkNames(paths)).toEqual([]);
});

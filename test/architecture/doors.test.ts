import { describe, expect, it } from "vitest";
import type { LibraryPackage } from "./doors.js";
import { aliasesOf, checkDoors, checkDoorsInDocs, checkExports, doorsOf } from "./doors.js";
import { parseSources } from "./source.js";

const sound: LibraryPackage = {
  exports: {
    ".": { types: "./dist/index.d.ts", default: "./dist/index.js" },
    "./verify": {
      node: { types: "./dist/verify-node.d.ts", default: "./dist/verify-node.js" },
      default: { types: "./dist/verify.d.ts", default: "./dist/verify.js" },
    },
    "./package.json": "./package.json",
  },
  imports: {
    "#crypto": {
      node: "./dist/signature/crypto/crypto-node.js",
      default: "./dist/signature/crypto/crypto-web.js",
    },
    "#faults": { "posthorn-faults": "./dist/faults.js", default: null },
  },
};
const doors = ["library/src/index.ts", "library/src/verify-node.ts", "library/src/verify.ts"];

it("the doors are the source files behind every condition of every export", () => {
  expect([...doorsOf(sound)].toSorted()).toEqual(doors);
  expect(checkExports(sound, doors)).toEqual([]);
});

it("an alias stands for every source file that a condition can choose", () => {
  expect([...aliasesOf(sound)]).toEqual([
    [
      "#crypto",
      ["library/src/signature/crypto/crypto-node.ts", "library/src/signature/crypto/crypto-web.ts"],
    ],
    ["#faults", ["library/src/faults.ts"]],
  ]);
});

describe("an export that promises what is not there is reported", () => {
  it.each([
    ["a wildcard", { "./*": { types: "./dist/index.d.ts", default: "./dist/index.js" } }, "is a wildcard"],
    [
      "a missing file",
      { "./a": { types: "./dist/a.d.ts", default: "./dist/a.js" } },
      "needs library/src/a.ts",
    ],
    ["a file in a folder", { "./s": { types: "./dist/s/a.d.ts", default: "./dist/s/a.js" } }, "directly in"],
    ["no types", { ".": { default: "./dist/index.js" } }, "without its types"],
    ["no conditions", { ".": "./dist/index.js" }, "without its types"],
    [
      "another file's types",
      { ".": { types: "./dist/verify.d.ts", default: "./dist/index.js" } },
      "without its types",
    ],
    ["no types in a branch", { ".": { node: { default: "./dist/index.js" } } }, "without its types"],
  ])("%s", (_what, exports, problem) => {
    expect(checkExports({ exports }, [...doors, "library/src/s/a.ts"])).toEqual([
      expect.stringContaining(problem),
    ]);
  });
});

function judgeDoor(text: string, isDoor: boolean): string[] {
  return checkDoors(parseSources([["library/src/a.ts", text]]), new Set(isDoor ? ["library/src/a.ts"] : []));
}

describe("a door only re-exports", () => {
  it.each([
    "export const a = 1;",
    'import { a } from "./b.js";\nexport { a };',
    'import "./b.js";',
    "const a = 1;\nexport { a };",
  ])("code in a door is reported: %s", (text) => {
    expect(judgeDoor(text, true)).toEqual([
      expect.stringContaining("library/src/a.ts:1: is a door and has code"),
    ]);
  });

  it("re-exports and comments pass", () => {
    const text =
      '// The door.\nexport { a } from "./a.js";\nexport type { B } from "./b.js";\nexport * from "./c.js";';
    expect(judgeDoor(text, true)).toEqual([]);
  });

  it("a file that only re-exports but is not exported is reported", () => {
    expect(judgeDoor('export { a } from "./b.js";', false)).toEqual([
      expect.stringContaining("does not export it"),
    ]);
  });
});

describe("a door can be found in the docs", () => {
  it("a door that no page mentions is reported", () => {
    const pages = new Map([["README.md", "`posthorn` and `posthorn/verify-node`, `posthorn/verify/x`"]]);
    expect(checkDoorsInDocs(sound, pages)).toEqual([expect.stringContaining('"posthorn/verify"')]);
  });

  it("doors mentioned on different pages pass", () => {
    const pages = new Map([
      ["README.md", 'import "posthorn"'],
      ["docs/verify.md", 'import "posthorn/verify"'],
    ]);
    expect(checkDoorsInDocs(sound, pages)).toEqual([]);
  });
});

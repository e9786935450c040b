import { expect, it } from "vitest";
import { ignoredBy, listFiles, repositoryRoot } from "./project-files.js";

it("the listing holds this file, and nothing that is installed or built", () => {
  const files = listFiles(repositoryRoot);
  expect(files).toContain("test/architecture/project-files.test.ts");
  expect(files.filter((path) => /(^|\/)(node_modules|dist|\.git)\//.test(path))).toEqual([]);
});

it("names, folders and endings are ignored as git ignores them", () => {
  const ignored = ignoredBy("# built\ndist/\n*.tgz\n.env\n");
  expect([ignored("dist", true), ignored("a.tgz", false), ignored(".env", false)]).toEqual([
    true,
    true,
    true,
  ]);
  expect([ignored("dist", false), ignored("dist.ts", false), ignored("a.ts", false)]).toEqual([
    false,
    false,
    false,
  ]);
});

it("a pattern that the listing does not understand is refused, not overlooked", () => {
  expect(() => ignoredBy("!kept\n")).toThrow('"!kept"');
});

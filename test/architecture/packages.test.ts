import { expect, it } from "vitest";
import { checkAbsolutePaths, checkDependencies, checkLock, checkOrigin } from "./packages.js";

it("a dependency of the library is reported", () => {
  expect(checkDependencies({ dependencies: { pg: "^8" } })).toEqual([
    expect.stringContaining("depends on pg"),
  ]);
  expect(checkDependencies({})).toEqual([]);
});

it("a package without a homepage, or of another folder, is reported", () => {
  const url = "https://github.com/posthorn/posthorn";
  const right = {
    homepage: `${url}#readme`,
    bugs: { url: `${url}/issues` },
    repository: { url: `git+${url}.git`, directory: "library" },
  };
  expect(checkOrigin("library", right)).toEqual([]);
  expect(checkOrigin("server", { ...right, homepage: "" })).toEqual([
    expect.stringContaining("server/package.json: homepage is ;"),
    expect.stringContaining("server/package.json: repository.directory is library; expected server."),
  ]);
});

it.each(["https://registry.example.com/a/-/a-1.0.0.tgz", "git+ssh://git@example.com/a.git", "file:../a.tgz"])(
  "a lock that names a place is reported: %s",
  (resolved) => {
    const lock = JSON.stringify({ packages: { "node_modules/a": { resolved } } }, null, 2);
    expect(checkLock("package-lock.json", lock)).toEqual([
      expect.stringContaining("package-lock.json:4: resolves to"),
    ]);
  },
);

it("a link to a workspace passes", () => {
  expect(checkLock("package-lock.json", '{ "resolved": "library", "link": true }')).toEqual([]);
});

it("a path of the machine is reported, with its line", () => {
  const places = ["/home/ada/posthorn", "/home/ada"];
  const judge = (text: string): string[] => checkAbsolutePaths([["docs/a.md", text]], places);
  expect(judge("x\nsee /home/ada/notes")).toEqual([
    expect.stringContaining("docs/a.md:2: contains /home/ada;"),
  ]);
  expect(judge('"/home/ada/posthorn/library"')).toHaveLength(2);
  expect(judge("https://example.com/home/ada/ and ./home/ada/x and /home/adam/")).toEqual([]);
});

it("a root of one segment is a word like any other", () => {
  expect(checkAbsolutePaths([["a.md", "COPY . /src/"]], ["/src"])).toEqual([]);
});

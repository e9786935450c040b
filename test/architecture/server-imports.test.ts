import { describe, expect, it } from "vitest";
import { checkServerImports } from "./server-imports.js";
import { parseSources } from "./source.js";

const shape = { doors: new Set(["posthorn", "posthorn/client"]), dependencies: new Set(["fastify", "@a/b"]) };

function problemsOf(text: string): string[] {
  return checkServerImports(parseSources([["server/src/http/server.ts", text]]), shape);
}

describe("a file of the server", () => {
  it("may import its own files, Node, its packages and the library's doors", () => {
    const text = `
      import "../parts.js";
      import "node:fs";
      import "fastify";
      import "@a/b/c";
      import type { Page } from "posthorn/client";`;
    expect(problemsOf(text)).toEqual([]);
  });

  it.each([
    ["../../../library/src/id.js", "not a part of the server"],
    ["posthorn/dist/id.js", "no door"],
    ["undeclared", "does not name"],
  ])("may not import %s", (specifier, problem) => {
    expect(problemsOf(`import "${specifier}";`)).toEqual([expect.stringContaining(problem)]);
  });
});

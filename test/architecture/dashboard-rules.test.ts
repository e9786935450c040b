import { describe, expect, it } from "vitest";
import { checkDashboardImports, checkHtmlSinks } from "./dashboard-rules.js";
import { parseSources } from "./source.js";

const file = (text: string) => parseSources([["dashboard/src/pages/event.tsx", text]]);
const imports = (text: string): string[] =>
  checkDashboardImports(file(text), new Set(["preact", "@preact/signals"]));

describe("a file of the dashboard", () => {
  it("may import its own files, its packages and the client of the API", () => {
    const text = `
      import "../api.ts";
      import "preact/hooks";
      import { signal } from "@preact/signals";
      import type { Lane } from "posthorn/client";`;
    expect(imports(text)).toEqual([]);
  });

  it.each([
    ["../../../library/src/id.js", "not a part of the dashboard"],
    ["../../server/src/parts.js", "not a part of the dashboard"],
    ["posthorn", "knows posthorn/client alone"],
    ["posthorn/operator", "knows posthorn/client alone"],
    ["node:fs", "does not name"],
    ["react", "does not name"],
  ])("may not import %s", (specifier, problem) => {
    expect(imports(`import "${specifier}";`)).toEqual([expect.stringContaining(problem)]);
  });

  it.each([
    "const a = <p dangerouslySetInnerHTML={{ __html: body }} />;",
    "element.innerHTML = body;",
    'element["outerHTML"] = body;',
    "document.write(body);",
    "eval(body);",
    "new Function(body);",
    "const a = <iframe srcdoc={body} />;",
  ])("may not turn a text into a page: %s", (text) => {
    expect(checkHtmlSinks(file(text))).toHaveLength(1);
  });

  it("may show a text", () => {
    expect(checkHtmlSinks(file("const a = <p title={body}>{body}</p>;"))).toEqual([]);
  });
});

import { expect, it } from "vitest";
import { checkDefaultExports, checkTopLevelAwait } from "./module-shape.js";
import { parseSources } from "./source.js";

const parse = (text: string) => parseSources([["library/src/a.ts", text]]);

it.each([
  "export default 1;",
  "const a = 1;\nexport { a as default };",
  'export { default } from "./b.js";',
  "export = 1;",
])("a default export is reported: %s", (text) => {
  expect(checkDefaultExports(parse(text))).toEqual([expect.stringContaining("has a default export")]);
});

it.each(["export const a = 1;", 'export { default as a } from "./b.js";', 'export * from "./b.js";'])(
  "a named export passes: %s",
  (text) => {
    expect(checkDefaultExports(parse(text))).toEqual([]);
  },
);

it.each([
  "await 1;",
  "export const a = { b: [await load()] };",
  "for await (const a of b) a;",
  "await using a = b;",
  "if (a) {\n  await b;\n}",
])("an await at the top level is reported: %s", (text) => {
  expect(checkTopLevelAwait(parse(text))).toEqual([expect.stringContaining("awaits at the top level")]);
});

it("an await in a function, a method or an arrow passes", () => {
  const text =
    "async function a() { await 1; }\nclass B { async c() { await 1; } }\nconst d = async () => await 1;";
  expect(checkTopLevelAwait(parse(text))).toEqual([]);
});

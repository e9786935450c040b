import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { repositoryRoot } from "../test/architecture/project-files.js";
import { parseSources } from "../test/architecture/source.js";
import type { SourceFile } from "../test/architecture/source.js";
import { reference, referenceOf } from "./print-reference.js";
import { readSignals } from "./reference/signals.js";

function filesOf(texts: Readonly<Record<string, string>>): ReadonlyMap<string, SourceFile> {
  return new Map(parseSources(Object.entries(texts)).map((file) => [file.path, file]));
}

describe("the reference", () => {
  const { pages, silent } = reference();

  it("is what the source's doc comments say; `npm run docs` prints it", () => {
    const folder = join(repositoryRoot, "docs/reference");
    const found = readdirSync(folder).map((name) => `docs/reference/${name}`);
    expect([...found, "docs/reference.md", "docs/signals.md"].toSorted()).toEqual(
      [...pages.keys()].toSorted(),
    );
    for (const [path, text] of pages)
      expect(readFileSync(join(repositoryRoot, path), "utf8") === text, `${path} is old: npm run docs`).toBe(
        true,
      );
  });

  it("has a word about everything that a door exports", () => {
    expect(silent).toEqual([]);
  });
});

describe("a door's page", () => {
  const texts = {
    "src/index.ts": [
      "/** `acme`: all of it. */",
      'export { post } from "./post.js";',
      'export type { Letter } from "./post.js";',
      'export * from "./more.js";',
    ].join("\n"),
    "src/more.ts": '/** `acme/more`: the rest. */\nexport { LIMIT, Box, post } from "./post.js";',
    "src/post.ts": [
      "/**",
      " * Sends a {@link Letter}.",
      " *",
      " * @example",
      ' * post({ to: "Ada" });',
      " */",
      "export function post(letter: Letter): void;",
      "export function post(letter: Letter, times: number): void;",
      "export function post(letter: Letter, times = 1): void { console.log(letter, times); }",
      "",
      "/** What is sent. */",
      "export interface Letter {",
      "  /** A name. */",
      "  readonly to: string;",
      "}",
      "",
      "export const LIMIT: number = 5;",
      "",
      "/** Holds letters. */",
      "export class Box {",
      "  readonly #letters: Letter[] = [];",
      "  /** Puts one in. */",
      "  put(letter: Letter): void { this.#letters.push(letter); }",
      "}",
    ].join("\n"),
  };
  const doors = new Map([
    ["acme", "src/index.ts"],
    ["acme/more", "src/more.ts"],
  ]);
  const { pages, silent } = referenceOf(filesOf(texts), doors);

  it("has each export with its comment, its signatures and its example, without bodies", () => {
    const page = pages.get("docs/reference/acme.md") ?? "";
    expect(page).toContain("### post\n\nSends a `Letter`.\n\n```ts\nfunction post(letter: Letter): void;\n");
    expect(page).toContain('times: number): void;\n```\n\n```ts\npost({ to: "Ada" });\n```');
    expect(page).not.toContain("console.log");
    expect(page).toContain("interface Letter {\n  /** A name. */\n  readonly to: string;\n}");
    expect(page).toContain("Also everything of [`acme/more`](acme-more.md).");
  });

  it("shows of a class what others may use", () => {
    const page = pages.get("docs/reference/acme-more.md") ?? "";
    expect(page).toContain("class Box {\n  /** Puts one in. */\n  put(letter: Letter): void;\n}");
  });

  it("describes what two doors export once, and leads there", () => {
    expect(pages.get("docs/reference/acme-more.md")).toContain(
      "### post\n\nDescribed [there](acme.md#post).",
    );
  });

  it("tells what nothing is said about", () => {
    expect(silent).toEqual(["src/post.ts: LIMIT"]);
  });

  it("refuses an export that no file declares", () => {
    const broken = { ...texts, "src/index.ts": 'export { send } from "./post.js";' };
    expect(() => referenceOf(filesOf(broken), doors)).toThrow("src/post.ts exports send");
  });
});

describe("the page of signals", () => {
  const observer = [
    "export type Signal =",
    '  | { /** One came. */ readonly kind: "came"; readonly id: string; readonly ms: number | undefined }',
    '  | { /** One went. */ readonly kind: "went" };',
  ].join("\n");

  it("says of each what it has, and who says it where the code writes it", () => {
    const files = filesOf({
      "library/src/observer.ts": observer,
      "library/src/inbox/a.ts": 'notify({ kind: "came" });',
      "library/src/stores/sqlite/b.ts": 'notify({ kind: "came" }); notify({ kind: "went" });',
    });
    expect(readSignals(files)).toEqual([
      {
        kind: "came",
        says: "One came.",
        fields: ["`id`", "`ms`: number or undefined"],
        heard: ["receiver", "store"],
      },
      { kind: "went", says: "One went.", fields: [], heard: ["store"] },
    ]);
  });

  it("refuses a signal that nothing says, and one whose hearer nobody named", () => {
    expect(() => readSignals(filesOf({ "library/src/observer.ts": observer }))).toThrow("says came");
    const files = filesOf({
      "library/src/observer.ts": observer,
      "library/src/work/a.ts": 'notify({ kind: "came" });',
    });
    expect(() => readSignals(files)).toThrow("work/a.ts writes a signal");
  });
});

import { existsSync } from "node:fs";
import { posix } from "node:path";
import { describe, expect, it } from "vitest";
import { listFiles, readText, repositoryRoot } from "./architecture/project-files.js";

const isPage = (path: string): boolean =>
  /^(ARCHITECTURE|README|CONTRIBUTING|CHANGELOG|SECURITY|test\/README)\.md$/.test(path) ||
  /^(docs|bench|spec)\/.*\.md$/.test(path);

/** A link such as `[text](target)`; blocks and spans of code are no links. */
interface Link {
  readonly page: string;
  readonly line: number;
  readonly target: string;
}

function linksOf(page: string, text: string): Link[] {
  const links: Link[] = [];
  let inBlock = false;
  for (const [index, line] of text.split("\n").entries()) {
    if (/^\s*```/.test(line)) inBlock = !inBlock;
    if (inBlock) continue;
    const prose = line.replaceAll(/`[^`]*`/g, "");
    for (const [, target = ""] of prose.matchAll(/\]\(([^)\s]+)\)/g))
      links.push({ page, line: index + 1, target });
  }
  return links;
}

/** The anchor that GitHub gives to a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number} _-]/gu, "")
    .replaceAll(" ", "-");
}

function hasAnchor(path: string, anchor: string): boolean {
  const headings = readText(path).matchAll(/^#+ (.+)$/gm);
  return [...headings].some(([, heading = ""]) => anchorOf(heading) === anchor);
}

/** What is wrong with a link; undefined where it leads somewhere. */
function faultOf({ page, line, target }: Link): string | undefined {
  if (/^[a-z]+:/.test(target)) return undefined;
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? page : posix.join(posix.dirname(page), path);
  const at = `${page}:${line}: links to ${target}`;
  if (!existsSync(posix.join(repositoryRoot, file)))
    return `${at}, but there is no ${file}; correct the path, or remove the link.`;
  if (anchor !== undefined && !hasAnchor(file, anchor))
    return `${at}, but no heading of ${file} has this anchor.`;
  return undefined;
}

describe("the pages", () => {
  const pages = listFiles(repositoryRoot).filter(isPage);
  const links = pages.flatMap((page) => linksOf(page, readText(page)));

  it("link only to files and headings that exist", () => {
    expect(links.length).toBeGreaterThan(100);
    expect(links.map(faultOf).filter((fault) => fault !== undefined)).toEqual([]);
  });

  it("keep ARCHITECTURE.md at 1,500 words or less, so that people read it to its end", () => {
    expect(readText("ARCHITECTURE.md").split(/\s+/).filter(Boolean).length).toBeLessThanOrEqual(1500);
  });
});

const fault = (target: string): string | undefined => faultOf({ page: "docs/README.md", line: 7, target });

describe("a link", () => {
  it("is found with its line, outside of code", () => {
    const page = ["See [a](a.md).", "`[b](b.md)` and [`c`](c.md#d)", "```", "[e](e.md)", "```"];
    expect(linksOf("docs/x.md", page.join("\n"))).toEqual([
      { page: "docs/x.md", line: 1, target: "a.md" },
      { page: "docs/x.md", line: 2, target: "c.md#d" },
    ]);
  });

  it("to a file or a heading that does not exist is reported with its page, line and target", () => {
    expect(fault("nowhere.md")).toBe(
      "docs/README.md:7: links to nowhere.md, but there is no docs/nowhere.md; correct the path, or remove the link.",
    );
    expect(fault("glossary.md#nothing")).toContain("no heading of docs/glossary.md");
    expect([fault("glossary.md#order"), fault("../README.md"), fault("https://example.com")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

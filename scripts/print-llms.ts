import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

// llms.txt lists the pages for programs that read documentation, and llms-full.txt holds them whole. Both follow
// docs/README.md, so that a page is listed once and cannot be forgotten here; test/llms.test.ts keeps them equal.

const root = fileURLToPath(new URL("../", import.meta.url));

/** Both files. */
export interface LlmsFiles {
  readonly "llms.txt": string;
  readonly "llms-full.txt": string;
}

interface Page {
  /** From the root of the repository. */
  readonly path: string;
  readonly says: string;
}

interface Section {
  readonly title: string;
  readonly pages: readonly Page[];
}

/** Makes both from the pages. */
export function llmsFiles(read: (path: string) => string): LlmsFiles {
  const sections = sectionsOf(read("docs/README.md"));
  const introduction = introductionOf(read("README.md"));
  const list = sections.flatMap(({ title, pages }) => ["", `## ${title}`, "", ...pages.map(line)]);
  const paths = new Set(["README.md", ...sections.flatMap(({ pages }) => pages.map(({ path }) => path))]);
  const whole = [...paths].map((path) => `<!-- ${path} -->\n\n${read(path).trim()}\n`);
  return {
    "llms.txt": [introduction, "", "- [README](README.md): the first receiver and sender", ...list, ""].join(
      "\n",
    ),
    "llms-full.txt": [`${introduction}\n`, ...whole].join("\n"),
  };
}

/** The name, and the first paragraph of the README as a quotation, as llms.txt wants them. */
function introductionOf(readme: string): string {
  const [title = "", ...rest] = readme.split(/\n{2,}/);
  const says = rest.find((text) => /^[A-Z*]/.test(text)) ?? "";
  return `${title}\n\n> ${says.replaceAll("*", "").replaceAll("\n", " ")}`;
}

/** The tables of docs/README.md: each row has links to pages, and what they answer. */
function sectionsOf(readme: string): readonly Section[] {
  const seen = new Set<string>();
  return readme
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const [title = "", ...rows] = part.split("\n");
      return { title, pages: rows.flatMap(pagesOf).filter(({ path }) => !seen.has(path) && seen.add(path)) };
    })
    .filter(({ pages }) => pages.length > 0);
}

function pagesOf(row: string): readonly Page[] {
  const cells = row.startsWith("|") ? row.split(" | ") : [];
  const links = [...row.matchAll(/\]\(([^)#]+\.md)(?:#[^)]*)?\)/g)].map(([, target = ""]) => target);
  // Of the tables that start with what happened, that is what the page answers.
  const [first = "", second = ""] = cells.map((cell) => cell.replaceAll("|", "").trim());
  const says = first.includes("](") ? second : first;
  return links.map((target) => ({ path: normalize(join("docs", target)), says: plain(says) }));
}

function plain(text: string): string {
  return text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
}

function line({ path, says }: Page): string {
  return `- [${path}](${path}): ${says}`;
}

/** Reads a page; its links are written from the root, where both files stand. */
export function readPage(path: string): string {
  const folder = dirname(path);
  return readFileSync(join(root, path), "utf8").replaceAll(
    /\]\((?!https?:|#|mailto:)([^)\s]+)\)/g,
    (whole, target: string) =>
      folder === "." || path === "docs/README.md" ? whole : `](${normalize(join(folder, target))})`,
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, text] of Object.entries(llmsFiles(readPage)))
    writeFileSync(join(root, name), text as string);
}

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { listFiles, readText, repositoryRoot } from "../test/architecture/project-files.js";
import { parseSources } from "../test/architecture/source.js";
import type { SourceFile } from "../test/architecture/source.js";
import { readDoors } from "./reference/doors.js";
import type { Door, Exported } from "./reference/doors.js";
import { signalsPage } from "./reference/signals.js";

// docs/reference.md, docs/reference/ and docs/signals.md are printed from the doc comments of the source;
// print-reference.test.ts keeps them equal.

const ROOT = "library/src/";

/** The pages by their paths, and what is exported without a word about it. */
export interface Reference {
  readonly pages: ReadonlyMap<string, string>;
  readonly silent: readonly string[];
}

/** The reference of a package: `doors` are the doors' files by their names. */
export function referenceOf(
  files: ReadonlyMap<string, SourceFile>,
  doors: ReadonlyMap<string, string>,
): Reference {
  const read = readDoors(files, doors);
  const pages = new Map([["docs/reference.md", indexPage(read)]]);
  const printed = new Map<string, string>();
  for (const door of read) pages.set(`docs/reference/${fileOf(door.name)}`, doorPage(door, printed));
  const all = read.flatMap(({ exported }) => exported);
  const silent = all.filter(({ doc }) => doc === undefined || doc.prose === "");
  return { pages, silent: [...new Set(silent.map(({ path, name }) => `${path}: ${name}`))] };
}

function fileOf(door: string): string {
  return `${door.replaceAll("/", "-")}.md`;
}

function indexPage(doors: readonly Door[]): string {
  const rows = doors.flatMap(({ name, says, exported, includes }) => {
    const page = `reference/${fileOf(name)}`;
    const names = sorted(exported).map((each) => `[\`${each.name}\`](${page}#${each.name.toLowerCase()})`);
    const others = includes.map((other) => `everything of [\`${other}\`](reference/${fileOf(other)})`);
    return [`## [\`${name}\`](${page})`, "", sentence(says), "", [...names, ...others].join(" · "), ""];
  });
  return [
    "# Reference",
    "",
    "Every exported function, value and type, by the door that exports it. The text is that of the source's doc comments.",
    "[receiving.md](receiving.md) and [sending.md](sending.md) lead through the library in the order in which you need it;",
    "[errors.md](errors.md) lists the error codes, and [signals.md](signals.md) what an `observer` hears.",
    "",
    ...rows,
  ].join("\n");
}

/** `printed` says on which page a declaration stands already: it is described once. */
function doorPage({ name, says, exported, includes }: Door, printed: Map<string, string>): string {
  const others = includes.flatMap((other) => [`Also everything of [\`${other}\`](${fileOf(other)}).`, ""]);
  const part = (title: string, kind: Exported["kind"]): readonly string[] => {
    const entries = sorted(exported.filter((each) => each.kind === kind));
    return entries.length === 0
      ? []
      : [`## ${title}`, "", ...entries.flatMap((each) => entryOf(each, fileOf(name), printed))];
  };
  return [
    `# \`${name}\``,
    "",
    sentence(says),
    "",
    ...others,
    ...part("Functions and values", "value"),
    ...part("Types", "type"),
  ].join("\n");
}

function entryOf(entry: Exported, page: string, printed: Map<string, string>): readonly string[] {
  const { name, path, code, doc } = entry;
  const elsewhere = printed.get(`${path} ${name}`);
  if (elsewhere !== undefined)
    return [`### ${name}`, "", `Described [there](${elsewhere}#${name.toLowerCase()}).`, ""];
  printed.set(`${path} ${name}`, page);
  const examples = (doc?.examples ?? []).flatMap((each) => ["", "```ts", each, "```"]);
  return [`### ${name}`, "", doc?.prose ?? "", "", "```ts", code, "```", ...examples, ""];
}

function sorted(exported: readonly Exported[]): readonly Exported[] {
  // One heading after the other where names differ in case only: their anchors are the same.
  return exported.toSorted((one, other) => (one.name.toLowerCase() < other.name.toLowerCase() ? -1 : 1));
}

/** Without the name of the door, which is the heading. */
function sentence(says: string): string {
  const rest = says.replace(/^`[^`]*`: /, "");
  return rest.slice(0, 1).toUpperCase() + rest.slice(1);
}

/** The pages of this repository. */
export function reference(): Reference {
  const paths = listFiles(repositoryRoot).filter(
    (path) => path.startsWith(ROOT) && path.endsWith(".ts") && !path.endsWith(".test.ts"),
  );
  const files = new Map(
    parseSources(paths.map((path) => [path, readText(path)] as const)).map((file) => [file.path, file]),
  );
  const manifest = JSON.parse(readFileSync(join(repositoryRoot, "library/package.json"), "utf8")) as {
    readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
  };
  const doors = Object.entries(manifest.exports).flatMap(([name, target]) =>
    typeof target === "string"
      ? []
      : [
          [
            `posthorn${name.slice(1)}`,
            ROOT + target.default.slice("./dist/".length).replace(/\.js$/, ".ts"),
          ] as const,
        ],
  );
  const { pages, silent } = referenceOf(files, new Map(doors));
  return { pages: new Map([...pages, ["docs/signals.md", signalsPage(files)]]), silent };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = join(repositoryRoot, "docs/reference");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [path, text] of reference().pages) writeFileSync(join(repositoryRoot, path), text);
}

import { existsSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { llmsFiles, readPage } from "../scripts/print-llms.js";

// Not a unit test: whoever changes a page reprints both files with `npm run docs`, and a commit need not.
const root = new URL("../", import.meta.url);
const files = llmsFiles(readPage);

it.each(["llms.txt", "llms-full.txt"] as const)(
  "%s is what the pages print; `npx tsx scripts/print-llms.ts` mends it",
  (name) => {
    expect(readFileSync(new URL(name, root), "utf8")).toBe(files[name]);
  },
);

it("llms.txt has a title, a summary, and each page once, in sections", () => {
  const lines = files["llms.txt"].split("\n");
  expect(lines[0]).toMatch(/^# Posthorn/);
  expect(lines[2]).toMatch(/^> [A-Z]/);
  const targets = lines.flatMap((line) => /^- \[[^\]]*\]\(([^)]*)\): \S/.exec(line)?.[1] ?? []);
  expect(targets.length).toBeGreaterThan(20);
  expect(new Set(targets).size).toBe(targets.length);
  expect(targets.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
  for (const page of ["docs/receiving.md", "docs/repair.md", "spec/outbox.md", "docs/providers.md"])
    expect(targets).toContain(page);
});

it("llms-full.txt holds every page that llms.txt lists, whole, with links from the root", () => {
  const listed = [...files["llms.txt"].matchAll(/^- \[[^\]]*\]\(([^)]*)\)/gm)].map(([, path = ""]) => path);
  for (const path of listed)
    expect(files["llms-full.txt"]).toContain(`<!-- ${path} -->\n\n${readPage(path).trim()}\n`);
  expect(files["llms-full.txt"]).toContain("](spec/wire-format.md)");
});

it("a page that is added to docs/README.md is in both", () => {
  const pages: Readonly<Record<string, string>> = {
    "README.md": "# Posthorn\n\nWebhooks.\n",
    "docs/README.md":
      "# Docs\n\n## I send\n\n| page | answers |\n|---|---|\n| [new.md](new.md) | what is new |\n",
    "docs/new.md": "# New\n\nIt is new.\n",
  };
  const made = llmsFiles((path) => pages[path] ?? "");
  expect(made["llms.txt"]).toContain("- [docs/new.md](docs/new.md): what is new");
  expect(made["llms-full.txt"]).toContain("It is new.");
});

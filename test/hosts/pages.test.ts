import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { FRAMEWORK_ERRORS } from "../../library/src/frameworks/framework-errors.js";
import { blocksOf, fileOf, sourceOf } from "../doc-snippets/blocks.js";
import type { Block } from "../doc-snippets/blocks.js";

const lane = fileURLToPath(new URL("./", import.meta.url));
const root = join(lane, "../..");
const pages = readdirSync(join(root, "docs/frameworks")).map((name) => `docs/frameworks/${name}`);
const textOf = (page: string): string => readFileSync(join(root, page), "utf8");
const blocks = pages.flatMap((page) => blocksOf(page, textOf(page)));

// Inside of the lane, so that its frameworks are found.
const folder = mkdtempSync(join(lane, "node_modules/.pages-"));
afterAll(() => rmSync(folder, { recursive: true }));

const RECEIVER = `import { createReceiver } from "posthorn";
import { memoryStore } from "posthorn/memory";
import { stripe } from "posthorn/providers";
export const receiver = createReceiver({
  store: memoryStore(),
  sources: { stripe: stripe({ secrets: process.env["SECRET"] }) },
  handlers: { "*": () => undefined },
});
`;

function put(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

/** Where a host finds a module by another name than this lane does. */
const IMPORTS: Readonly<Record<string, (source: string) => string>> = {
  // Turbopack finds no receiver.ts by receiver.js; here the compiler wants an ending.
  "docs/frameworks/next.md": (source) => source.replaceAll(/(from "\.[^"]+)"/g, '$1.js"'),
  // Nuxt 4 has h3 1 under the name that h3 2 has here.
  "docs/frameworks/nuxt.md": (source) =>
    source.replace(/(import \{ fromNodeMiddleware \} from "h3)"/, '$1-1"'),
};

function asCompiled(block: Block): string {
  const source = sourceOf(block);
  return IMPORTS[block.page]?.(source) ?? source;
}

function compile(): Promise<string> {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  return new Promise((resolve) => {
    execFile(process.execPath, [tsc, "-p", folder], { cwd: folder }, (_, stdout) => resolve(stdout));
  });
}

const { compilerOptions } = JSON.parse(
  readFileSync(join(lane, "tsconfig.json"), "utf8").replaceAll(/^\s*\/\/.*$/gm, ""),
) as { readonly compilerOptions: { readonly paths: Readonly<Record<string, readonly string[]>> } };
const absolute = (path: string): string => join(lane, path);

it(
  "the code of docs/frameworks, and the adapters, compile against the frameworks' own types",
  { timeout: 300_000 },
  async () => {
    const paths = Object.fromEntries(
      Object.entries(compilerOptions.paths).map(([name, places]) => [name, places.map(absolute)]),
    );
    const options = { ...compilerOptions, paths, noPropertyAccessFromIndexSignature: false };
    put("package.json", '{ "type": "module" }');
    put(
      "tsconfig.json",
      JSON.stringify({
        extends: join(lane, "tsconfig.json"),
        compilerOptions: options,
        include: ["**/*.ts", join(lane, "*.ts"), join(lane, "built/*.ts")],
      }),
    );
    for (const page of new Set(blocks.map(({ page: name }) => name)))
      put(`${page.replaceAll("/", "-")}/receiver.ts`, RECEIVER);
    for (const block of blocks) put(fileOf(block), asCompiled(block));
    put("wrong.ts", 'import { webhooks } from "posthorn/express";\nwebhooks("no receiver");\n');
    const messages = (await compile()).split("\n").filter((line) => /^\S/.test(line));
    expect(messages).toEqual([expect.stringMatching(/^wrong\.ts\(2,10\): error TS2345: /)]);
  },
);

it("every code of the frameworks stands on the page of failing signatures or is a failure of the host", () => {
  const page = textOf("docs/frameworks/why-does-my-signature-fail.md") + textOf("docs/frameworks/nest.md");
  const missing = Object.keys(FRAMEWORK_ERRORS).filter((code) => !page.includes(`\`${code}\``));
  expect(missing).toEqual(["host_failed"]);
});

it("every block of code on a page of a framework is compiled", () => {
  const languages = pages.flatMap((page) =>
    [...textOf(page).matchAll(/^```(\w+)/gm)].map(([, name]) => `${page}: ${name}`),
  );
  expect(languages.filter((each) => /: (js|javascript|typescript|tsx|jsx|mjs|mts)$/.test(each))).toEqual([]);
  expect(new Set(blocks.map(fileOf)).size).toBe(blocks.length);
});

it("every page of a framework stands in the table of frameworks", () => {
  const table = textOf("docs/frameworks/README.md");
  const names = pages
    .map((page) => page.slice("docs/frameworks/".length))
    .filter((name) => name !== "README.md");
  expect(names.filter((name) => !table.includes(`(${name})`))).toEqual([]);
});

const TESTS: Readonly<Record<string, string>> = {
  "Next.js": "test/hosts/built/next.test.ts",
  SvelteKit: "test/hosts/built/sveltekit.test.ts",
  NestJS: "test/hosts/nest.test.ts",
  Cloudflare: "test/hosts/workers.test.ts",
  // What a preset hands over, and what happens on the way, is the same in every framework.
  Nuxt: "library/src/signature/forensics/forensics.test.ts",
  any: "library/src/inbox/receiver.test.ts library/src/signature/forensics/forensics.test.ts",
};

it("every row with a code on the page of failing signatures is met by the tests of its framework", () => {
  const rows = textOf("docs/frameworks/why-does-my-signature-fail.md")
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .slice(1)
    .map((line) => line.split(" | "));
  const unmet = rows.filter(([framework = "", , column = ""]) => {
    // By the words of its diagnosis where the row has them: signature_mismatch stands for many causes.
    const [, code, words] = /^`(\w+)`(?:: "(.+)")?/.exec(column) ?? [];
    const name = /[\w.]+/.exec(framework)?.[0] ?? "";
    const files = (TESTS[name] ?? `test/hosts/${name.toLowerCase()}.test.ts`).split(" ");
    return code !== undefined && !files.some((file) => textOf(file).includes(words ?? `"${code}"`));
  });
  expect(unmet).toEqual([]);
  expect(rows.length).toBeGreaterThan(30);
});

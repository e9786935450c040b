import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { blocksOf, fileOf, sourceOf } from "./doc-snippets/blocks.js";
import type { Block } from "./doc-snippets/blocks.js";

const root = fileURLToPath(new URL("..", import.meta.url));
// The programs of orms.md need packages of test/orms, where they are compiled and run.
const docs = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md") && name !== "orms.md");
const pages = ["README.md", ...docs.map((name) => `docs/${name}`)];
const blocks = pages.flatMap((page) => blocksOf(page, readFileSync(join(root, page), "utf8")));

// As strict as a careful reader's, but for one option: `process.env.SECRET` is what people write.
const CONFIG = {
  extends: "../../tsconfig.json",
  compilerOptions: { noPropertyAccessFromIndexSignature: false },
  include: ["**/*.ts"],
  exclude: [],
};

// Express is no dependency of ours, not even for tests: this is what of it the pages use.
const EXPRESS = `declare module "express" {
  import type { RequestListener, Server } from "node:http";
  interface Application {
    post(path: string, listener: RequestListener): void;
    use(middleware: unknown): void;
    use(path: string, middleware: unknown): void;
    listen(port: number): Server;
  }
  function express(): Application;
  namespace express {
    function json(): unknown;
  }
  export default express;
}
`;

// The same for Stripe's package: the union of its events, as far as the pages use it.
const STRIPE = `declare module "stripe" {
  namespace Stripe {
    type Event =
      | { readonly type: "invoice.paid"; readonly data: { readonly object: { readonly id: string } } }
      | { readonly type: "charge.refunded"; readonly data: { readonly object: { readonly amount: number } } };
  }
  export default Stripe;
}
`;

const WRONG: Block = {
  page: "docs/wrong.md",
  line: 7,
  code: 'import { verify } from "posthorn";\nverify("a text");',
  fragment: false,
};

let folder = "";
beforeAll(() => {
  // Inside of the repository, so that packages are found; ignored by git and by every tool.
  mkdirSync(join(root, ".cache"), { recursive: true });
  folder = mkdtempSync(join(root, ".cache/doc-snippets-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function put(path: string, text: string): void {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function compile(): Promise<string> {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  return new Promise((resolve) => {
    execFile(process.execPath, [tsc, "-p", folder], { cwd: folder }, (_, stdout) => resolve(stdout));
  });
}

describe("the code on the pages", () => {
  it(
    "compiles against the library's source, and a mistake in it would be found",
    { timeout: 300_000 },
    async () => {
      put("package.json", '{ "type": "module" }');
      put("tsconfig.json", JSON.stringify(CONFIG));
      put("express.d.ts", EXPRESS);
      put("stripe.d.ts", STRIPE);
      const standing = blocks.filter(({ fragment }) => !fragment);
      for (const block of [...standing, WRONG]) put(fileOf(block), sourceOf(block));
      const messages = (await compile()).split("\n").filter((line) => /^\S/.test(line));
      expect(messages).toEqual([expect.stringMatching(/^docs-wrong\.md\/line-7\.ts\(8,1\): error TS2554: /)]);
    },
  );

  it("stands alone, but for a rare fragment", () => {
    const fragments = blocks.filter(({ fragment }) => fragment);
    expect(blocks.length).toBeGreaterThan(10);
    expect(fragments.length).toBeLessThan(blocks.length / 10);
  });

  it("names each of its files once", () => {
    const files = blocks.map(fileOf);
    expect(files.filter((file, index) => files.indexOf(file) !== index)).toEqual([]);
  });
});

describe("a block", () => {
  const page = [
    "text",
    "```ts",
    "// a.ts",
    "one;",
    "```",
    "```sh",
    "ls",
    "```",
    "```ts fragment",
    "two;",
    "```",
  ];

  it("is found with its line, and those of other languages are not", () => {
    expect(blocksOf("docs/x.md", page.join("\n"))).toEqual([
      { page: "docs/x.md", line: 3, code: "// a.ts\none;", fragment: false },
      { page: "docs/x.md", line: 10, code: "two;", fragment: true },
    ]);
  });

  it("is compiled on the lines of its page, in the file that it names", () => {
    const [named, unnamed] = blocksOf("docs/x.md", page.join("\n")) as [Block, Block];
    expect(sourceOf(named).split("\n")[2]).toBe("// a.ts");
    expect([fileOf(named), fileOf(unnamed)]).toEqual(["docs-x.md/a.ts", "docs-x.md/line-10.ts"]);
  });
});

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { root } from "../packed/checkout.js";
import { runProgram } from "../packed/run-program.js";
import { blocksOf, fileOf } from "./blocks.js";
import type { Block } from "./blocks.js";

/** Programs of a page, and what is done with them. */
export interface PageRun {
  /** `docs/inbound-order.md` */
  readonly page: string;
  /** Names blocks that name no file, each by a text that no other block of the page has. */
  readonly named?: Readonly<Record<string, string>>;
  /** What a reader of the page has beside its blocks, or in place of one of them. */
  readonly files?: Readonly<Record<string, string>>;
  /** What a test has to change of a block, its types taken away. */
  readonly edits?: Readonly<Record<string, (code: string) => string>>;
  /** Is run: it imports the blocks by their names, and `post.js`. */
  readonly main: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

// Shorter than the time limit of any test that runs a page: what the program has printed by then says more.
const PATIENCE_MS = 28_000;

/** The secret of whatever `post` has signed, as Standard Webhooks. */
export const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/** What a `main` posts with: a receiver's own verification sees a request as a provider makes it. */
const POST = `
  import { createReceiver, createSigner, signSync, standardWebhooks } from "posthorn";
  const signer = createSigner({ secrets: "${SECRET}" });
  export async function post(receiver, id, event, { source = "shop", stamp } = {}) {
    const body = new TextEncoder().encode(JSON.stringify(event));
    const headers = signSync(signer, { id, body, ...(stamp && { stamp }) });
    return (await receiver.receive(source, { headers, body })).verdict;
  }
  /** A receiver for a page that has a worker alone. */
  export function storingFirst(store, key) {
    const verifier = standardWebhooks({ secrets: "${SECRET}" });
    return createReceiver({ mode: "store_first", store, sources: { shop: key ? { verifier, key } : verifier } });
  }
`;

/** Runs `main` in a process and a folder of its own, beside the blocks of the page; says what was printed, errors last. */
export async function runPage(run: PageRun): Promise<string> {
  // Inside of the repository, so that packages are found; ignored by git and by every tool.
  mkdirSync(join(root, ".cache"), { recursive: true });
  const folder = mkdtempSync(join(root, ".cache/documented-"));
  try {
    for (const [name, code] of modulesOf(run)) writeFileSync(join(folder, name), code);
    const args = ["main.js", ...(run.args ?? [])];
    const options = { cwd: folder, env: run.env ?? {}, timeoutMs: PATIENCE_MS };
    const { out, err } = await runProgram(process.execPath, args, options);
    return out + err;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function modulesOf({ page, named = {}, files = {}, edits = {}, main }: PageRun): ReadonlyMap<string, string> {
  const blocks = blocksOf(page, readFileSync(join(root, page), "utf8"));
  const modules = new Map([
    ["package.json", '{ "type": "module" }'],
    ["post.js", POST],
  ]);
  for (const block of blocks) modules.set(nameOf(block), withoutTypes(block.code));
  for (const [name, text] of Object.entries(named)) modules.set(name, withoutTypes(theOneWith(blocks, text)));
  for (const [name, code] of Object.entries(files)) modules.set(name, code);
  for (const [name, edit] of Object.entries(edits)) modules.set(name, edit(modules.get(name) ?? ""));
  return modules.set("main.js", main);
}

function nameOf(block: Block): string {
  return fileOf(block).replace(/^.*\//, "").replace(/\.ts$/, ".js");
}

function theOneWith(blocks: readonly Block[], text: string): string {
  const [found, ...others] = blocks.filter(({ code }) => code.includes(text));
  if (found === undefined || others.length > 0)
    throw new Error(`${others.length + (found ? 1 : 0)} blocks have this text, not one: ${text}`);
  return found.code;
}

/** Imports of types go with the types; others stay, as a reader's compiler leaves them. */
function withoutTypes(code: string): string {
  const tsconfigRaw = { compilerOptions: { verbatimModuleSyntax: true } };
  return transformSync(code, { loader: "ts", format: "esm", target: "node20", tsconfigRaw }).code;
}

/** By which a page's `new Pool()` finds a database. */
export function postgresEnvironment(url: string): Readonly<Record<string, string>> {
  const { hostname, port, username, password, pathname } = new URL(url);
  return {
    PGHOST: hostname,
    PGPORT: port,
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: pathname.slice(1),
  };
}

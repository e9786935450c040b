import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { blocksOf } from "../../doc-snippets/blocks.js";
import { mustRun } from "../../packed/run-program.js";
import type { Stage } from "../stage.js";

// Frameworks that build an application: the routes are those of their pages, and the receiver is that of the test, in the
// process that serves the build.

const root = fileURLToPath(new URL("../../../", import.meta.url));
/** Where Next.js and SvelteKit 2 are installed. */
export const home = fileURLToPath(new URL("./", import.meta.url));

/** Why the tests on a folder's packages are skipped. */
export function notInstalled(folder: string): string | undefined {
  if (existsSync(join(folder, "node_modules/.package-lock.json"))) return undefined;
  return "Next.js and SvelteKit take 950 MB: `npm run test:hosts` installs them";
}

/** A module `receiver.ts` that stands for the receiver of the test. */
export const RECEIVER = `import type { Receiver } from "posthorn";
type Verbs = Record<string | symbol, (...args: unknown[]) => unknown>;
const now = () => (globalThis as unknown as { receiverUnderTest: Verbs }).receiverUnderTest;
export const receiver = new Proxy({} as Receiver, { get: (_, name) => (...args: unknown[]) => now()[name]?.(...args) });
`;

export function underTest(receiver: Stage["receiver"]): void {
  Object.assign(globalThis, { receiverUnderTest: receiver });
}

/** The first block of a framework's page. */
export function routeOf(page: string): string {
  return blocksOf(page, readFileSync(join(root, "docs/frameworks", page), "utf8"))[0]?.code ?? "";
}

/** A folder below the packages, where the framework's compiler finds them, with a copy of the library's build. */
export function applicationIn(folder: string): string {
  mkdirSync(join(folder, ".cache"), { recursive: true });
  const application = mkdtempSync(join(folder, ".cache/app-"));
  for (const part of ["package.json", "dist"])
    cpSync(join(root, "library", part), join(application, "node_modules/posthorn", part), {
      recursive: true,
    });
  return application;
}

export function putFiles(folder: string, files: Readonly<Record<string, string>>): void {
  const manifest = '{ "name": "shop", "private": true, "type": "module" }';
  for (const [path, text] of Object.entries({ "package.json": manifest, ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** Runs the framework's command `build`. */
export async function build(application: string, program: string): Promise<void> {
  const env = { NEXT_TELEMETRY_DISABLED: "1", NODE_ENV: "production" };
  await mustRun(process.execPath, [program, "build"], { cwd: application, env });
}

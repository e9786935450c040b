import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { blocksOf } from "../doc-snippets/blocks.js";
import { runProgram } from "../packed/run-program.js";
import { skipFor } from "../skip-reason.js";
import { promiseExactBytes } from "./exact-bytes.js";
import type { Host } from "./exact-bytes.js";
import { serve } from "./serve.js";
import type { Stage } from "./stage.js";

// Frameworks that build an application: the routes are those of their pages, and the receiver is that of the test, in the
// process that serves the build.

const lane = fileURLToPath(new URL("./", import.meta.url));
const home = join(lane, "built");
const packages = join(home, "node_modules");
const missing = existsSync(join(packages, ".package-lock.json"))
  ? undefined
  : "Next.js and SvelteKit take 400 MB: `npm run test:hosts` installs them";

const RECEIVER = `const now = () => globalThis.receiverUnderTest;
export const receiver = new Proxy({}, { get: (_, name) => (...args) => now()[name](...args) });
`;

function underTest(receiver: Stage["receiver"]): void {
  Object.assign(globalThis, { receiverUnderTest: receiver });
}

/** The first block of a framework's page. */
function routeOf(page: string): string {
  const text = readFileSync(join(lane, "../../docs/frameworks", page), "utf8");
  return blocksOf(page, text)[0]?.code ?? "";
}

/** A project beside the packages, where the framework's compiler finds them; the library is a copy of its build. */
function project(files: Readonly<Record<string, string>>): string {
  const library = join(packages, "posthorn");
  rmSync(library, { recursive: true, force: true });
  for (const part of ["package.json", "dist"])
    cpSync(join(lane, "../../library", part), join(library, part), { recursive: true });
  const folder = mkdtempSync(join(home, "app-"));
  const manifest = '{ "name": "shop", "private": true, "type": "module" }';
  for (const [path, text] of Object.entries({ "package.json": manifest, ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

async function build(folder: string, program: string): Promise<void> {
  const options = { cwd: folder, env: { NEXT_TELEMETRY_DISABLED: "1", NODE_ENV: "production" } };
  const { code, out, err } = await runProgram(process.execPath, [join(packages, program), "build"], options);
  expect(code, `${out}\n${err}`).toBe(0);
}

/** What Next has for servers of one's own. */
interface NextServer {
  prepare(): Promise<void>;
  getRequestHandler(): RequestListener;
  close(): Promise<void>;
}

describe("Next.js", skipFor(missing), () => {
  let folder = "";
  let server: NextServer | undefined;

  beforeAll(async () => {
    folder = project({
      "app/layout.js": "export default ({ children }) => children;\n",
      "app/webhooks/[source]/route.js": routeOf("next.md"),
      "receiver.js": RECEIVER,
      "next.config.js": `export default { turbopack: { root: ${JSON.stringify(home)} } };\n`,
    });
    await build(folder, "next/dist/bin/next");
    const next = createRequire(join(home, "package.json"))("next") as (options: object) => NextServer;
    server = next({ dev: false, dir: folder });
    await server.prepare();
  }, 240_000);
  afterAll(async () => {
    await server?.close();
    if (folder !== "") rmSync(folder, { recursive: true });
  });

  promiseExactBytes("a route of the App Router", (receiver) => {
    underTest(receiver);
    const handle = server?.getRequestHandler() as RequestListener;
    return serve((request, response) => handle(request, response));
  });
});

describe("SvelteKit", skipFor(missing), () => {
  let folder = "";
  let listener: RequestListener | undefined;

  beforeAll(async () => {
    const config = `import adapter from "@sveltejs/adapter-node";
export default { kit: { adapter: adapter(), csrf: { trustedOrigins: ["*"] } } };
`;
    folder = project({
      "src/app.html": "<!doctype html>%sveltekit.head%%sveltekit.body%\n",
      "src/routes/webhooks/[source]/+server.ts": routeOf("sveltekit.md"),
      "receiver.js": RECEIVER,
      "svelte.config.js": config,
      "vite.config.js": `import { sveltekit } from "@sveltejs/kit/vite";\nexport default { plugins: [sveltekit()] };\n`,
    });
    await build(folder, "vite/bin/vite.js");
    process.env["BODY_SIZE_LIMIT"] = "25M";
    const built = (await import(pathToFileURL(join(folder, "build/handler.js")).href)) as {
      readonly handler: RequestListener;
    };
    listener = built.handler;
  }, 240_000);
  afterAll(() => {
    delete process.env["BODY_SIZE_LIMIT"];
    if (folder !== "") rmSync(folder, { recursive: true });
  });

  const open = (receiver: Stage["receiver"]): Promise<Host> => {
    underTest(receiver);
    return serve(listener as RequestListener);
  };
  promiseExactBytes("a route on adapter-node", open, { hangsUp: true });
});

import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { generatePrisma } from "../../orms/generate-prisma.js";
import { mustRun } from "../../packed/run-program.js";
import { startPostgres } from "../../services/postgres-server.js";
import type { PostgresServer } from "../../services/postgres-server.js";
import { skipFor } from "../../skip-reason.js";
import { promiseExactBytes } from "../exact-bytes.js";
import type { Host } from "../exact-bytes.js";
import { serve } from "../serve.js";
import { setStage, signed, SPACED } from "../stage.js";
import type { Stage } from "../stage.js";
import {
  applicationIn,
  build,
  home,
  notInstalled,
  putFiles,
  RECEIVER,
  routeOf,
  underTest,
} from "./application.js";

const packages = join(home, "node_modules");
const NEXT = join(packages, "next/dist/bin/next");
const missing = notInstalled(home);

// In a project of its own, Next.js finds its packages by itself. The limit is that of bodies which proxy.ts makes it clone.
const CONFIG = `export default {
  turbopack: { root: ${JSON.stringify(home)} },
  experimental: { proxyClientMaxBodySize: "10kb" },
};
`;

const PROXY = `export const config = { matcher: "/cloned/:source" };
export const proxy = () => undefined;
`;

/** Routes of the Pages Router. */
const pagesRoute = (config: string): string => `import { nodeListener } from "posthorn/node";
import { receiver } from "../../receiver";
${config}
export default nodeListener(receiver, { source: "acme" });
`;

/** What Next has for servers of one's own. */
interface NextServer {
  prepare(): Promise<void>;
  getRequestHandler(): RequestListener;
  close(): Promise<void>;
}

describe("Next.js", skipFor(missing), () => {
  let application = "";
  let server: NextServer | undefined;

  beforeAll(async () => {
    application = applicationIn(home);
    putFiles(application, {
      "app/webhooks/[source]/route.ts": routeOf("next.md"),
      "app/cloned/[source]/route.ts": routeOf("next.md"),
      "proxy.ts": PROXY,
      "pages/api/parsed.ts": pagesRoute(""),
      "pages/api/raw.ts": pagesRoute("export const config = { api: { bodyParser: false } };"),
      "receiver.ts": RECEIVER,
      "next.config.js": CONFIG,
    });
    await build(application, NEXT);
    const next = createRequire(join(home, "package.json"))("next") as (options: object) => NextServer;
    server = next({ dev: false, dir: application });
    await server.prepare();
  }, 240_000);
  afterAll(async () => {
    await server?.close();
    if (application !== "") rmSync(application, { recursive: true });
  });

  const open = (receiver: Stage["receiver"]): Promise<Host> => {
    underTest(receiver);
    const handle = server?.getRequestHandler() as RequestListener;
    return serve((request, response) => handle(request, response));
  };
  promiseExactBytes("a route of the App Router", open);

  it.each<[string, string, string, (string | number)[]]>([
    ["a body that proxy.ts cut off is named", "/cloned/acme", " ".repeat(20_000), [500, "body_truncated"]],
    ["a shorter one passes", "/cloned/acme", SPACED, [204]],
    ["a body that the Pages Router parsed is named", "/api/parsed", SPACED, [500, "body_parsed"]],
    ["without its parser, it passes", "/api/raw", SPACED, [204]],
  ])("%s", async (_, path, body, expected) => {
    const stage = setStage();
    const host = await open(stage.receiver);
    try {
      const { status } = await host.post(await signed(body, { path }));
      expect([status, ...stage.refusals.map(({ code }) => code)]).toEqual(expected);
    } finally {
      await host.close?.();
    }
  });
});

describe("Next.js with Prisma", skipFor(missing), () => {
  const example = fileURLToPath(new URL("../../../examples/next-prisma/", import.meta.url));
  let application = "";
  let postgres: PostgresServer | undefined;

  beforeAll(async () => {
    application = applicationIn(home);
    cpSync(example, application, { recursive: true });
    writeFileSync(join(application, "next.config.js"), CONFIG);
    // As `npm run build` of the example does; Next.js compiles its code strictly, with the client that Prisma wrote.
    await generatePrisma(packages, join(application, "prisma/schema.prisma"));
    await build(application, NEXT);
    postgres = await startPostgres({ durable: false });
  }, 240_000);
  afterAll(async () => {
    await postgres?.stop();
    if (application !== "") rmSync(application, { recursive: true });
  }, 60_000);

  it("the example next-prisma prints what its output.txt says", async () => {
    const env = { DATABASE_URL: postgres?.urlOf("postgres") ?? "" };
    const { out } = await mustRun(process.execPath, ["main.mjs"], { cwd: application, env });
    // Next.js tells how long its configuration took, which only the test needs.
    const lines = out.split("\n").filter((line) => !line.includes("next.config.js"));
    expect(lines.join("\n")).toBe(readFileSync(join(example, "output.txt"), "utf8"));
  });
});

import { rmSync } from "node:fs";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { skipFor } from "../../skip-reason.js";
import { promiseExactBytes } from "../exact-bytes.js";
import type { Host } from "../exact-bytes.js";
import { serve } from "../serve.js";
import { setStage, signed } from "../stage.js";
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

/** Where a major version is installed, and where its configuration stands. */
interface Major {
  readonly name: string;
  readonly folder: string;
  readonly missing: string | undefined;
  readonly configuration: (options: string) => Readonly<Record<string, string>>;
}

const newest = join(home, "sveltekit-3");
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const tooOld =
  major < 22 || (major === 22 && minor < 17)
    ? "SvelteKit 3 needs Node 22.17: `npm run test:hosts` runs it on the Node from npm"
    : undefined;

const ADAPTER = `import adapter from "@sveltejs/adapter-node";\n`;
const PLUGIN = `import { sveltekit } from "@sveltejs/kit/vite";\n`;

const majors: readonly Major[] = [
  {
    name: "SvelteKit 2",
    folder: home,
    missing: notInstalled(home),
    configuration: (options) => ({
      "svelte.config.js": `${ADAPTER}export default { kit: { adapter: adapter(), ${options} } };\n`,
      "vite.config.js": `${PLUGIN}export default { plugins: [sveltekit()] };\n`,
    }),
  },
  {
    name: "SvelteKit 3",
    folder: newest,
    missing: notInstalled(newest) ?? tooOld,
    configuration: (options) => ({
      "vite.config.js": `${ADAPTER}${PLUGIN}export default { plugins: [sveltekit({ adapter: adapter(), ${options} })] };\n`,
    }),
  },
];

/** Builds an application around the route of the page, and gives what serves it. */
async function listenerOf(
  application: string,
  { folder, configuration }: Major,
  options: string,
): Promise<RequestListener> {
  putFiles(application, {
    "src/app.html": "<!doctype html>%sveltekit.head%%sveltekit.body%\n",
    "src/routes/webhooks/[source]/+server.ts": routeOf("sveltekit.md"),
    "receiver.ts": RECEIVER,
    ...configuration(options),
  });
  await build(application, join(folder, "node_modules/vite/bin/vite.js"));
  const url = pathToFileURL(join(application, "build/handler.js")).href;
  return ((await import(url)) as { readonly handler: RequestListener }).handler;
}

describe.each(majors)("$name, configured as its page says,", (kit) => {
  describe("on adapter-node", skipFor(kit.missing), () => {
    let application = "";
    let listener: RequestListener | undefined;

    beforeAll(async () => {
      application = applicationIn(kit.folder);
      process.env["BODY_SIZE_LIMIT"] = "25M";
      listener = await listenerOf(application, kit, `csrf: { trustedOrigins: ["*"] }`);
    }, 240_000);
    afterAll(() => {
      delete process.env["BODY_SIZE_LIMIT"];
      if (application !== "") rmSync(application, { recursive: true });
    });

    const open = (receiver: Stage["receiver"]): Promise<Host> => {
      underTest(receiver);
      return serve(listener as RequestListener);
    };
    promiseExactBytes("a route", open, { hangsUp: true });
  });
});

describe.each(majors)("$name as it comes", (kit) => {
  describe("on adapter-node", skipFor(kit.missing), () => {
    let application = "";
    let listener: RequestListener | undefined;

    beforeAll(async () => {
      application = applicationIn(kit.folder);
      listener = await listenerOf(application, kit, "");
    }, 240_000);
    afterAll(() => {
      if (application !== "") rmSync(application, { recursive: true });
    });

    async function post(
      body: string,
      type: string,
    ): Promise<{ readonly status: number; readonly stage: Stage }> {
      const stage = setStage();
      underTest(stage.receiver);
      const host = await serve(listener as RequestListener);
      try {
        const { status } = await host.post(await signed(body, { type }));
        return { status, stage };
      } finally {
        await host.close?.();
      }
    }

    it("refuses a form of another site with 403, and the observer hears nothing of it", async () => {
      const { status, stage } = await post("a=1", "application/x-www-form-urlencoded");
      expect([status, stage.signals]).toEqual([403, []]);
    });

    it("breaks off a body of more than 512 kB, which the observer is told", async () => {
      const { status, stage } = await post(" ".repeat(600_000), "application/json");
      expect([status, stage.refusals.map(({ code }) => code)]).toEqual([400, ["body_broken"]]);
    });
  });
});

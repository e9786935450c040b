import { deepStrictEqual } from "node:assert/strict";
import { basename } from "node:path";
import type { Case } from "../case.js";
import { readFinding } from "../case.js";
import { mustRun } from "../child.js";
import type { Consumer } from "../consumer.js";
import { bundleForWeb } from "../consumer.js";
import type { Report } from "../expected-report.js";
import { checkReport, FETCH_DOOR } from "../expected-report.js";
import type { Runtime } from "../runtimes.js";
import { runtimes, whyMissing } from "../runtimes.js";

/** What every runtime that starts files must do with the packed library. */
export const runCases: readonly Case[] = runtimes.flatMap((runtime) => {
  const promise = (column: string, name: string, run: Case["run"]): Case => ({
    topic: runtime.name,
    name,
    column,
    skip: whyMissing(runtime.name, runtime.binary),
    run,
  });
  return [
    promise("vectors", "signs, verifies and refuses, and judges every vector", async (consumer) => {
      const report = (await start(runtime, consumer, "main.mjs")) as Report;
      return checkReport(report, consumer.vectors, "works");
    }),
    promise("web build", "judges every vector alike in the build for the web", async (consumer) => {
      const bundle = await bundleForWeb(consumer, "main.mjs", "main.web.mjs");
      const report = (await start(runtime, consumer, `bundles/${basename(bundle)}`)) as Report;
      return checkReport(report, consumer.vectors, "sync_unavailable");
    }),
    promise(
      "receiver",
      "hands over exact bytes by posthorn/fetch, and handles each event once",
      async (consumer) => {
        deepStrictEqual(await start(runtime, consumer, "fetch-door-main.mjs"), FETCH_DOOR);
        return undefined;
      },
    ),
    promise("doors", "imports every door", async (consumer) => {
      const found = (await start(runtime, consumer, "every-door-main.mjs")) as Record<string, number>;
      deepStrictEqual(Object.keys(found).toSorted(), consumer.packed.doors.toSorted());
      return Object.entries(found)
        .map(([door, count]) => `${door} ${count}`)
        .join(", ");
    }),
    promise(
      "require",
      "requires the package from CommonJS, and finds one instance of it",
      async (consumer) => {
        const found = await start(runtime, consumer, "commonjs.cjs");
        deepStrictEqual(found, { verified: ["secret 1", "secret 1"], oneInstance: true });
        return undefined;
      },
    ),
    promise("two copies", "recognises an error of a second copy of the package", async (consumer) => {
      deepStrictEqual(await start(runtime, consumer, "two-copies.mjs"), {
        separate: true,
        instance: false,
        recognised: "secret_missing",
        recognisedByThem: true,
        stranger: false,
      });
      return undefined;
    }),
  ];
});

/** node:sqlite came with Node 22: there, its handles must keep every promise that the stores make. */
export const sqliteCases: readonly Case[] = runtimes
  .filter(({ name }) => /^node 2[246]$/.test(name))
  .map((runtime) => ({
    topic: runtime.name,
    name: "keeps every promise of the stores on handles of node:sqlite",
    column: "node:sqlite",
    skip: whyMissing(runtime.name, runtime.binary),
    run: async (consumer: Consumer) => {
      const { kept, broken } = (await start(runtime, consumer, "node-sqlite.mjs")) as Record<string, number>;
      deepStrictEqual(broken, 0);
      return `${kept} promises`;
    },
  }));

async function start(runtime: Runtime, consumer: Consumer, program: string): Promise<unknown> {
  const { stdout } = await mustRun(runtime.binary ?? "", [...runtime.args, program], {
    cwd: consumer.folder,
    // Caches of its own: neither what is on this machine nor what a run before left may help.
    env: { DENO_DIR: `${consumer.folder}/deno-cache`, BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" },
  });
  return readFinding(stdout);
}

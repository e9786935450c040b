import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TEST_SECRETS } from "posthorn/testing";
import { planInit } from "../../server/src/commands/init/plan.js";
import { readProject } from "../../server/src/commands/init/project.js";
import { NOTHING_AROUND } from "../../server/src/commands/init/surroundings.js";
import { expectToCompile, initAndTest, openWorkshop } from "../packed/generated-project.js";
import type { Workshop } from "../packed/generated-project.js";
import { runProgram } from "../packed/run-program.js";
import { startPostgres } from "../services/postgres-server.js";
import type { PostgresServer } from "../services/postgres-server.js";

// On each framework; test/orms/init.test.ts does the same on the ORMs that are installed there.

let workshop: Workshop;
let postgres: PostgresServer;

beforeAll(async () => {
  workshop = await openWorkshop(fileURLToPath(new URL("./", import.meta.url)));
  postgres = await startPostgres({ durable: false });
}, 300_000);

afterAll(async () => {
  await postgres.stop();
  workshop.close();
}, 60_000);

const TYPED = { typescript: "^7.0.2", "@types/node": "*" };

const cases: readonly (readonly [string, object, compilerOptions?: object])[] = [
  ["Express and pg, in JavaScript", { dependencies: { express: "^5.3.0", pg: "^8.23.1" } }],
  [
    "Hono and SQLite, in TypeScript",
    {
      type: "module",
      dependencies: { hono: "^4.13.18", "better-sqlite3": "^12.11.1" },
      devDependencies: { typescript: "^7.0.2", "@types/better-sqlite3": "*", "@types/node": "*" },
    },
  ],
  [
    "Fastify and Drizzle, in TypeScript",
    {
      type: "module",
      dependencies: { fastify: "^5.12.8", "drizzle-orm": "^0.45.4", pg: "^8.23.1" },
      devDependencies: { typescript: "^7.0.2", "@types/pg": "*", "@types/node": "*" },
    },
  ],
  [
    "Nest and TypeORM",
    {
      type: "module",
      dependencies: {
        "@nestjs/common": "^12.5.0",
        "@nestjs/core": "^12.5.0",
        "@nestjs/platform-express": "^12.5.0",
        "reflect-metadata": "^0.2.2",
        rxjs: "^7.8.2",
        typeorm: "^1.1.1",
        pg: "^8.23.1",
      },
      devDependencies: TYPED,
    },
  ],
  [
    "Nest on Fastify and TypeORM, in CommonJS",
    {
      dependencies: {
        "@nestjs/common": "^12.5.0",
        "@nestjs/core": "^12.5.0",
        "@nestjs/platform-fastify": "^12.5.0",
        "reflect-metadata": "^0.2.2",
        rxjs: "^7.8.2",
        typeorm: "^1.1.1",
        pg: "^8.23.1",
      },
      devDependencies: TYPED,
    },
    { module: "commonjs" },
  ],
  [
    "Express and pg beside Jest, in CommonJS",
    {
      scripts: { test: "jest" },
      dependencies: { express: "^5.3.0", pg: "^8.23.1" },
      devDependencies: { ...TYPED, "@types/express": "*", "@types/pg": "*" },
    },
    { module: "commonjs", declaration: true },
  ],
  [
    "Hono, SQLite and Vitest, for a bundler",
    {
      dependencies: { hono: "^4.13.18", "better-sqlite3": "^12.11.1" },
      devDependencies: { ...TYPED, "@types/better-sqlite3": "*", vitest: "^4.1.11" },
    },
    { module: "esnext", moduleResolution: "bundler", noEmit: true },
  ],
];

describe("posthorn init, from the packed tarballs,", () => {
  it.for(cases)(
    "in a project with %s: its test passes, and its code compiles and runs",
    { timeout: 180_000 },
    async ([name, manifest, compilerOptions = {}]) => {
      const project = workshop.open(name, manifest, compilerOptions);
      const env = { DATABASE_URL: postgres.urlOf("postgres"), DATABASE_FILE: "app.db" };
      const run = { cwd: project, env };
      const { files } = await initAndTest(workshop, run);
      const migrated = await runProgram("npm", ["run", "posthorn:migrate"], run);
      expect(migrated.out).toContain("The tables are there.");
      if (!existsSync(join(project, "node_modules/typescript"))) return;
      await expectToCompile(run);
      if ("noEmit" in compilerOptions) return;
      const migration = files.find((file) => file.includes("/migrate.")) ?? "";
      const emitted = join("dist", migration.replace(/ts$/, "js"));
      expect(await runProgram(process.execPath, [emitted], run)).toMatchObject({
        out: expect.stringContaining("The tables are there.") as string,
      });
    },
  );

  it("for every provider the test passes", { timeout: 300_000 }, async () => {
    const manifest = { type: "module", dependencies: { hono: "^4.13.18", "better-sqlite3": "^12.11.1" } };
    const project = workshop.open("every provider", manifest);
    const providers = Object.keys(TEST_SECRETS).filter((name) => name !== "paypal");
    const tests = providers.map((provider) => {
      const plan = planInit(
        readProject(manifest, {}, { ...NOTHING_AROUND, folder: provider }),
        { provider, type: "*" },
        { manifest, around: NOTHING_AROUND, version: "0.0.0" },
      );
      for (const { path, text } of plan.files) {
        mkdirSync(join(project, dirname(path)), { recursive: true });
        writeFileSync(join(project, path), text);
      }
      return join(provider, "webhooks.test.mjs");
    });
    const tested = await runProgram("node", ["--test", ...tests], { cwd: project, env: {} });
    expect(tested, `${tested.out}\n${tested.err}`).toMatchObject({
      code: 0,
      out: expect.stringMatching(new RegExp(`pass ${providers.length}\\b`)) as string,
    });
  });
});

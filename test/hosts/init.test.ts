import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TEST_SECRETS } from "posthorn/testing";
import { planInit } from "../../server/src/commands/init/plan.js";
import { readProject } from "../../server/src/commands/init/project.js";
import { NOTHING_AROUND } from "../../server/src/commands/init/surroundings.js";
import { packBoth } from "../packed/pack.js";
import { mustRun, runProgram } from "../packed/run-program.js";
import { startPostgres } from "../services/postgres-server.js";
import type { PostgresServer } from "../services/postgres-server.js";

// `posthorn init` from the packed tarballs, in projects as people have them; then `npm test` of each, untouched. Other
// packages are linked from this lane and from the workspace, as in test/packed: installing them again would take minutes.

const lane = fileURLToPath(new URL("./", import.meta.url));
const root = join(lane, "../..");
const home = mkdtempSync(join(tmpdir(), "posthorn-init-"));
const tools = join(home, "tools");
let postgres: PostgresServer;

beforeAll(async () => {
  const { library, server } = await packBoth();
  for (const [name, tarball] of [
    ["posthorn", library],
    ["posthorn-server", server],
  ] as const) {
    mkdirSync(join(tools, name), { recursive: true });
    await mustRun("tar", ["-xzf", tarball, "-C", join(tools, name), "--strip-components", "1"], {
      cwd: tools,
    });
  }
  postgres = await startPostgres({ durable: false });
}, 300_000);

afterAll(async () => {
  await postgres.stop();
  rmSync(home, { recursive: true, force: true });
}, 60_000);

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** What `init --json` prints. */
interface Wrote {
  readonly testScript: string;
  readonly files: readonly string[];
}

/** What `npm install` would do. */
function install(project: string): void {
  const modules = join(project, "node_modules");
  for (const name of ["posthorn", "posthorn-server"]) {
    if (!existsSync(join(modules, name))) cpSync(join(tools, name), join(modules, name), { recursive: true });
  }
  const read = (path: string): Manifest => JSON.parse(readFileSync(path, "utf8")) as Manifest;
  const own = read(join(project, "package.json"));
  const server = read(join(modules, "posthorn-server/package.json"));
  for (const name of Object.keys({ ...own.dependencies, ...own.devDependencies, ...server.dependencies }))
    link(modules, name);
}

function link(modules: string, name: string): void {
  const path = join(modules, name);
  if (existsSync(path)) return;
  const from = [lane, root]
    .map((place) => join(place, "node_modules", name))
    .find((place) => existsSync(place));
  if (from === undefined) throw new Error(`${name} is neither in the lane nor in the workspace.`);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(from, path);
}

const COMPILER = {
  target: "es2022",
  module: "nodenext",
  strict: true,
  experimentalDecorators: true,
  skipLibCheck: true,
  types: ["node"],
  outDir: "dist",
  rootDir: ".",
};

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
      const project = join(home, name.replaceAll(/[^a-z]+/gi, "-").toLowerCase());
      mkdirSync(project);
      const write = (file: string, content: object): void =>
        writeFileSync(join(project, file), JSON.stringify(content));
      write("package.json", { name: "shop", private: true, ...manifest });
      write("tsconfig.json", { compilerOptions: { ...COMPILER, ...compilerOptions } });
      install(project);
      const program = join(project, "node_modules/posthorn/bin/posthorn.mjs");
      const env = { DATABASE_URL: postgres.urlOf("postgres"), DATABASE_FILE: "app.db" };
      const run = { cwd: project, env };
      const { out } = await mustRun(process.execPath, [program, "init", "--yes", "--json"], run);
      const { testScript, files } = JSON.parse(out) as Wrote;
      install(project);
      const tested = await runProgram("npm", ["run", testScript], run);
      expect(tested, `${tested.out}\n${tested.err}`).toMatchObject({
        code: 0,
        out: expect.stringMatching(/pass 1\b|1 passed/) as string,
      });
      const migrated = await runProgram("npm", ["run", "posthorn:migrate"], run);
      expect(migrated.out).toContain("The tables are there.");
      if (!existsSync(join(project, "node_modules/typescript"))) return;
      const tsc = join(root, "node_modules/typescript/bin/tsc");
      const compiled = await runProgram(process.execPath, [tsc], run);
      expect(compiled).toMatchObject({ code: 0, out: "" });
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
    const project = join(home, "every-provider");
    mkdirSync(project);
    writeFileSync(join(project, "package.json"), JSON.stringify(manifest));
    install(project);
    const providers = Object.keys(TEST_SECRETS).filter((name) => name !== "paypal");
    const tests = providers.map((provider) => {
      const plan = planInit(
        readProject(manifest, {}, NOTHING_AROUND),
        { provider, type: "*" },
        { manifest, around: NOTHING_AROUND, version: "0.0.0", folder: provider },
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

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import * as library from "posthorn";
import * as providers from "posthorn/providers";
import { TEST_SECRETS } from "posthorn/testing";
import { afterAll, describe, expect, it } from "vitest";
import { runCommand } from "../../../../test/cli/run-command.js";
import type { RunResult } from "../../../../test/cli/run-command.js";
import { readProject } from "./project.js";
import { builderOf } from "./receiver-files.js";
import { NOTHING_AROUND } from "./surroundings.js";

const home = mkdtempSync(join(tmpdir(), "posthorn-init-"));
afterAll(() => rmSync(home, { recursive: true }));
let projects = 0;

/** A project with this package.json, and with other files beside it. */
function project(manifest: object | string, beside: Readonly<Record<string, string>> = {}): string {
  const dir = join(home, String(++projects));
  mkdirSync(dir);
  const text = typeof manifest === "string" ? manifest : JSON.stringify(manifest);
  for (const [path, content] of Object.entries({ "package.json": text, ...beside })) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
  }
  return dir;
}

const EXPRESS_PG = { dependencies: { express: "^5.0.0", pg: "^8.0.0" } };
const textOf = (dir: string, path: string): string => readFileSync(join(dir, path), "utf8");

const init = (dir: string): Promise<RunResult> => runCommand(["init", "--dir", dir, "--yes"]);
const manifestOf = (dir: string): unknown => JSON.parse(textOf(dir, "package.json"));

describe("posthorn init", () => {
  it("asks two questions, and writes receiver, migration and test for what package.json names", async () => {
    const dir = project(EXPRESS_PG);
    const { code, terminal, out } = await runCommand(["init", "--dir", dir], {
      columns: 100,
      answers: ["github", ""],
    });
    expect([code, terminal.questions]).toEqual([
      0,
      ["Who sends the webhooks? [stripe] ", "Which type of event comes first? [push] "],
    ]);
    for (const file of ["database.mjs", "receiver.mjs", "migrate.mjs", "webhooks.test.mjs"])
      expect(existsSync(join(dir, "webhooks", file))).toBe(true);
    expect(textOf(dir, "webhooks/receiver.mjs")).toContain('"github:push": async (event, { tx })');
    expect(out).toContain("GITHUB_WEBHOOK_SECRET");
    expect(JSON.parse(textOf(dir, "package.json"))).toMatchObject({
      scripts: {
        test: "node --test webhooks/webhooks.test.mjs",
        "posthorn:migrate": "node webhooks/migrate.mjs",
      },
      dependencies: { ...EXPRESS_PG.dependencies, posthorn: expect.stringMatching(/^\^\d/) as string },
    });
  });

  it("asks nothing where flags answer, and with --yes takes the defaults", async () => {
    const flags = await runCommand([
      "init",
      "--dir",
      project(EXPRESS_PG),
      "--provider",
      "shopify",
      "--type",
      "*",
      "--json",
    ]);
    expect([flags.code, JSON.parse(flags.out)]).toMatchObject([0, { provider: "shopify", type: "*" }]);
    const yes = await runCommand(["init", "--dir", project(EXPRESS_PG), "-y", "--json"]);
    expect(JSON.parse(yes.out)).toMatchObject({ provider: "stripe", type: "invoice.paid" });
  });

  it("in a pipe without flags it writes nothing and says which", async () => {
    const dir = project(EXPRESS_PG);
    const { code, err } = await runCommand(["init", "--dir", dir]);
    expect([code, existsSync(join(dir, "webhooks"))]).toEqual([2, false]);
    expect(err).toContain("--provider and --type");
  });

  it("overwrites nothing, and writes nothing else where one file is there", async () => {
    const dir = project(EXPRESS_PG);
    mkdirSync(join(dir, "webhooks"));
    writeFileSync(join(dir, "webhooks/receiver.mjs"), "mine");
    const { code, err } = await runCommand(["init", "--dir", dir, "--yes"]);
    expect([
      code,
      textOf(dir, "webhooks/receiver.mjs"),
      existsSync(join(dir, "webhooks/database.mjs")),
    ]).toEqual([1, "mine", false]);
    expect(err).toContain("webhooks/receiver.mjs");
    expect(JSON.parse(textOf(dir, "package.json"))).toEqual(EXPRESS_PG);
  });

  it("keeps the host's own test script, and takes the place of npm's empty one", async () => {
    const own = project({ ...EXPRESS_PG, scripts: { test: "mocha" } });
    await runCommand(["init", "--dir", own, "--yes"]);
    expect(JSON.parse(textOf(own, "package.json"))).toMatchObject({
      scripts: { test: "mocha", "test:webhooks": expect.stringContaining("--test") as string },
    });
    const empty = project({ ...EXPRESS_PG, scripts: { test: 'echo "Error: no test specified" && exit 1' } });
    await runCommand(["init", "--dir", empty, "--yes"]);
    expect(JSON.parse(textOf(empty, "package.json"))).toMatchObject({
      scripts: { test: expect.stringContaining("--test") as string },
    });
  });

  it.each([
    [{ dependencies: { pg: "8" } }, "--framework nest|fastify|hono|express"],
    [
      { dependencies: { hono: "4" } },
      "--database drizzle|typeorm|kysely|knex|sequelize|prisma|pg|postgres|sqlite",
    ],
  ])("says what it looked for where %j does not name it", async (manifest, cure) => {
    const { code, err } = await runCommand(["init", "--dir", project(manifest), "--yes"]);
    expect([code, err]).toEqual([2, expect.stringContaining(cure)]);
  });

  it.each([
    [{ "@mikro-orm/core": "7", pg: "8" }, "docs/orms.md#mikroorm"],
    [{ kysely: "0.28", "drizzle-orm": "0.45", pg: "8" }, "--database drizzle|kysely"],
    [{ knex: "3", "@mikro-orm/core": "7", pg: "8" }, "--database knex"],
    [{ "drizzle-orm": "0.45", "better-sqlite3": "12" }, "--database sqlite"],
    [{ typeorm: "1", mysql2: "3" }, "--database typeorm"],
    [{ kysely: "0.28", postgres: "3" }, "--database kysely"],
    [{ sequelize: "6", mariadb: "3" }, "--database sequelize"],
    [{}, "docs/sqlite.md"],
  ])("writes no handler past an ORM, nor for a driver that is not there: %j", async (dependencies, told) => {
    const dir = project({ dependencies: { express: "5", ...dependencies } });
    const { code, err } = await runCommand(["init", "--dir", dir, "--yes"]);
    expect([code, err, existsSync(join(dir, "webhooks"))]).toEqual([2, expect.stringContaining(told), false]);
  });

  it("writes for the database that a person names, and adds what the files import", async () => {
    const dir = project({ dependencies: { kysely: "0.28" }, devDependencies: { typescript: "7" } });
    const flags = ["--framework", "hono", "--database", "pg"];
    expect((await runCommand(["init", "--dir", dir, "--yes", ...flags])).code).toBe(0);
    expect(JSON.parse(textOf(dir, "package.json"))).toMatchObject({
      dependencies: { kysely: "0.28", hono: expect.anything() as string, pg: expect.anything() as string },
      devDependencies: { "@types/pg": expect.anything() as string, tsx: expect.anything() as string },
    });
  });

  it("survives a connection that breaks while it is idle", async () => {
    const dir = project(EXPRESS_PG);
    await runCommand(["init", "--dir", dir, "--yes"]);
    expect(textOf(dir, "webhooks/database.mjs")).toContain('pool.on("error"');
  });

  it("says how a file of CommonJS takes the receiver in, and what removes old rows", async () => {
    const { out } = await runCommand(["init", "--dir", project(EXPRESS_PG), "--yes"]);
    expect(out).toContain('const { createWebhooks } = require("./webhooks/receiver.mjs");');
    expect(out).toContain("keepPurged");
    const modules = project({ ...EXPRESS_PG, type: "module" });
    expect((await runCommand(["init", "--dir", modules, "--yes"])).out).toContain(
      "import { createWebhooks }",
    );
  });

  it("cannot write PayPal's verifier, and says where it stands", async () => {
    const { code, err } = await runCommand([
      "init",
      "--dir",
      project(EXPRESS_PG),
      "--provider",
      "paypal",
      "-y",
    ]);
    expect([code, err]).toEqual([2, expect.stringContaining("docs/providers.md")]);
  });

  it.each([EXPRESS_PG, { dependencies: { "@nestjs/core": "^11.0.0", pg: "8" } }])(
    "has the receiver's own URL said where all receivers share one public key: %j",
    async (manifest) => {
      const dir = project({ ...manifest, devDependencies: { typescript: "5.9" }, type: "module" });
      const { out } = await runCommand(["init", "--dir", dir, "--provider", "http_signature", "-y"]);
      expect(out).toContain("WEBHOOKS_PUBLIC_URL (https://<your host>)");
      const written = readdirSync(join(dir, "webhooks"))
        .map((name) => textOf(dir, `webhooks/${name}`))
        .join("");
      expect(written).toContain('publicUrl = process.env["WEBHOOKS_PUBLIC_URL"] ?? ""');
      expect(written).toContain("httpSignature({ secrets, publicUrl })");
      expect(written).toContain("{ url: `${publicUrl}/webhooks/http_signature` }");
    },
  );

  it("refuses a type that would leave its string in the code", async () => {
    const dir = project(EXPRESS_PG);
    const { code } = await runCommand([
      "init",
      "--dir",
      dir,
      "--provider",
      "stripe",
      "--type",
      'a": evil(), "b',
    ]);
    expect([code, existsSync(join(dir, "webhooks"))]).toEqual([2, false]);
  });

  it("without a package.json it says so", async () => {
    const { code, err } = await runCommand(["init", "--dir", join(home, "nowhere"), "--yes"]);
    expect([code, err]).toEqual([2, expect.stringContaining("npm init")]);
  });
});

describe("posthorn init, in a project that has its own ways,", () => {
  it.each([{ test: "mocha", "test:webhooks": "my own" }, { "posthorn:migrate": "my own" }])(
    "replaces no script, and says which is in the way: %j",
    async (scripts) => {
      const dir = project({ ...EXPRESS_PG, scripts });
      const { code, err } = await init(dir);
      expect([code, manifestOf(dir), existsSync(join(dir, "webhooks"))]).toEqual([
        1,
        { ...EXPRESS_PG, scripts },
        false,
      ]);
      expect(err).toContain(`"${Object.keys(scripts).at(-1) ?? ""}" of package.json`);
      expect(err).toContain("Rename these scripts first.");
    },
  );

  it("goes on where its own scripts are left from before", async () => {
    const scripts = { "posthorn:migrate": "node webhooks/migrate.mjs" };
    expect((await init(project({ ...EXPRESS_PG, scripts }))).code).toBe(0);
  });

  it.each([
    ["^10.4.0", "^10.0.0"],
    ["^11.0.1", "^11.0.0"],
    ["^12.0.0", "^12.5.0"],
    ["latest", "^12.5.0"],
  ])("adds the packages of Nest %s in its own major", async (version, added) => {
    const dir = project({ dependencies: { "@nestjs/core": version, pg: "8" } });
    expect((await init(dir)).code).toBe(0);
    expect(manifestOf(dir)).toMatchObject({
      dependencies: { "@nestjs/common": added, "@nestjs/platform-express": added },
    });
  });

  it("counts the version that is installed, where package.json names none", async () => {
    const dir = project(
      { dependencies: { "@nestjs/core": "catalog:", pg: "8" } },
      { "node_modules/@nestjs/core/package.json": '{ "version": "11.2.10" }' },
    );
    await init(dir);
    expect(manifestOf(dir)).toMatchObject({ dependencies: { "@nestjs/platform-express": "^11.0.0" } });
  });

  it("tests Nest on Fastify where that is there, and adds no Express", async () => {
    const nest = {
      "@nestjs/core": "^11.0.0",
      "@nestjs/common": "^11.0.0",
      "@nestjs/platform-fastify": "^11.0.0",
    };
    const dir = project({ dependencies: { ...nest, pg: "8" } });
    await init(dir);
    expect(textOf(dir, "package.json")).not.toContain("platform-express");
    expect(textOf(dir, "webhooks/webhooks.test.mts")).toContain("new FastifyAdapter(");
  });

  it.each([
    ["^4.21.0", "^4.0.0"],
    ["^5.1.0", "^5.0.6"],
  ])("adds the types of Express %s", async (express, types) => {
    const dir = project({ dependencies: { express, pg: "8" }, devDependencies: { typescript: "7" } });
    await init(dir);
    expect(manifestOf(dir)).toMatchObject({ devDependencies: { "@types/express": types } });
  });

  it.each([
    { scripts: { test: "jest" }, devDependencies: { jest: "30" } },
    { devDependencies: { jest: "30" } },
    { scripts: { test: "react-scripts test" } },
    { scripts: { test: "bun test" } },
  ])("leaves its test to node, under a name that no other runner takes: %j", async (manifest) => {
    const dir = project({ ...EXPRESS_PG, ...manifest });
    const { out } = await init(dir);
    expect([
      existsSync(join(dir, "webhooks/webhooks-test.mjs")),
      existsSync(join(dir, "webhooks/webhooks.test.mjs")),
    ]).toEqual([true, false]);
    expect(manifestOf(dir)).toMatchObject({
      scripts: { ...manifest.scripts, "test:webhooks": "node --test webhooks/webhooks-test.mjs" },
    });
    expect(out).toContain("npm run test:webhooks");
    expect(out).not.toContain("npm test");
  });

  it("starts its own test where another script starts vitest", async () => {
    const dir = project({
      ...EXPRESS_PG,
      scripts: { test: "turbo run unit" },
      devDependencies: { vitest: "4" },
    });
    const { out } = await init(dir);
    expect(manifestOf(dir)).toMatchObject({
      scripts: { "test:webhooks": "vitest run webhooks/webhooks.test.mjs" },
    });
    expect(out).toContain("npm run test:webhooks");
  });

  it.each([
    [{ packageManager: "pnpm@10.4.1" }, {}, ["pnpm install", "pnpm test", "pnpm run posthorn:migrate"]],
    [{}, { "pnpm-lock.yaml": "" }, ["pnpm install", "pnpm test"]],
    [{}, { "yarn.lock": "" }, ["yarn install", "yarn test", "yarn run posthorn:migrate"]],
    // `bun test` would start Bun's own runner.
    [{}, { "bun.lock": "" }, ["bun install", "bun run test"]],
    [{ packageManager: "npm@11.0.0" }, { "yarn.lock": "" }, ["npm install", "npm test"]],
  ])("names the project's own package manager: %j %j", async (manifest, beside, lines) => {
    const { out } = await init(project({ ...EXPRESS_PG, ...manifest }, beside));
    for (const line of lines) expect(out).toMatch(new RegExp(`(^| )${line}`, "m"));
  });

  it("finds the lock file of a workspace above it, and none outside the repository", async () => {
    const workspace = { "apps/shop/package.json": JSON.stringify(EXPRESS_PG), "pnpm-lock.yaml": "" };
    const dir = project({}, workspace);
    expect((await init(join(dir, "apps/shop"))).out).toContain("pnpm install");
    const other = project({}, { ...workspace, "apps/shop/.git/HEAD": "" });
    expect((await init(join(other, "apps/shop"))).out).toContain("npm test");
  });

  it.each([
    ["tabs", '{\n\t"dependencies": {\n\t\t"express": "5",\n\t\t"pg": "8"\n\t}\n}\n'],
    [
      "four spaces and no last newline",
      '{\n    "dependencies": {\n        "express": "5",\n        "pg": "8"\n    }\n}',
    ],
    ["lines of Windows", '{\r\n  "dependencies": {\r\n    "express": "5",\r\n    "pg": "8"\r\n  }\r\n}\r\n'],
    ["a byte order mark", '\uFEFF{\n  "dependencies": {\n    "express": "5",\n    "pg": "8"\n  }\n}\n'],
  ])("keeps the layout of package.json: %s", async (_, text) => {
    const dir = project(text);
    expect((await init(dir)).code).toBe(0);
    const written = textOf(dir, "package.json");
    const first = text.slice(0, text.indexOf("}"));
    expect(written).toContain(first.slice(first.indexOf('"express"'), first.indexOf('"8"')));
    expect([written[0], written.slice(-3), written.includes("\r\n")]).toEqual([
      text[0],
      text.slice(-3),
      text.includes("\r\n"),
    ]);
  });

  it.each(["null", "[]", '"text"', '{ "dependencies": null }', '{ "scripts": [] }'])(
    "says that a package.json of %s cannot be read",
    async (text) => {
      const { code, err } = await init(project(text));
      expect([code, err]).toEqual([2, expect.stringContaining("no JSON object")]);
    },
  );

  it.each([
    ["commonjs under TypeScript 6", "~6.0.2", { module: "commonjs" }, "ts"],
    ["nodenext that requires modules", "^5.8.0", { module: "NodeNext" }, "ts"],
    ["nodenext that does not", "~5.7.2", { module: "nodenext" }, "mts"],
    ["a bundler's modules", "^5.9.0", { module: "esnext", moduleResolution: "bundler" }, "ts"],
  ])("writes files that compile as %s", async (_, typescript, compilerOptions, ending) => {
    const manifest = { ...EXPRESS_PG, devDependencies: { typescript } };
    const dir = project(manifest, {
      // Comments and last commas, as in the file that tsc --init writes.
      "tsconfig.json":
        '{ /* both */ "extends": "./base", // a relative file\n "compilerOptions": { "strict": true, }, }',
      "base.json": JSON.stringify({ compilerOptions }),
    });
    const { out } = await init(dir);
    expect(textOf(dir, `webhooks/migrate.${ending}`)).not.toMatch(/^(const .*)?await/m);
    const reference = ending === "ts" ? "" : ".mjs";
    expect(textOf(dir, `webhooks/receiver.${ending}`)).toContain(`from "./database${reference}";`);
    expect(out).toContain(
      ending === "ts" ? 'from "./webhooks/receiver";' : 'await import("./webhooks/receiver.mjs")',
    );
  });

  it.each([
    ["^5.9.0", { module: "commonjs" }],
    ["^5.9.0", { strict: true }],
    ["~6.0.0", { module: "commonjs", moduleResolution: "node" }],
  ])(
    "refuses a tsconfig.json under which no door is found: TypeScript %s, %j",
    async (typescript, compilerOptions) => {
      const dir = project(
        { ...EXPRESS_PG, devDependencies: { typescript } },
        { "tsconfig.json": JSON.stringify({ compilerOptions }) },
      );
      const { code, err } = await init(dir);
      expect([code, existsSync(join(dir, "webhooks"))]).toEqual([2, false]);
      expect(err).toContain('"module": "nodenext"');
    },
  );
});

describe("a project", () => {
  const dependencies = { fastify: "5", "drizzle-orm": "1", pg: "8" };

  it("with an ORM and its driver has the ORM; with Nest and Express, Nest", () => {
    expect(readProject({ dependencies }, {}, NOTHING_AROUND)).toMatchObject({
      framework: "fastify",
      database: "drizzle",
    });
    const nest = { dependencies: { "@nestjs/core": "12", express: "5", typeorm: "1", pg: "8" } };
    expect(readProject(nest, {}, NOTHING_AROUND)).toMatchObject({
      framework: "nest",
      database: "typeorm",
      typescript: true,
    });
  });

  it("in TypeScript has files of its kind of modules; tests run with the runner that is there", () => {
    const devDependencies = { typescript: "5", vitest: "4" };
    const wanted = { dependencies, devDependencies };
    expect(readProject({ ...wanted, type: "module" }, {}, NOTHING_AROUND)).toMatchObject({
      extension: "ts",
      reference: ".js",
      runner: "vitest",
    });
    expect(readProject(wanted, {}, NOTHING_AROUND)).toMatchObject({ extension: "mts", reference: ".mjs" });
    expect(readProject({ dependencies }, {}, NOTHING_AROUND)).toMatchObject({
      extension: "mjs",
      reference: ".mjs",
      runner: "node",
    });
  });

  it("may have any provider: each builder exists", () => {
    const known: Readonly<Record<string, unknown>> = { ...library, ...providers };
    const missing = Object.keys(TEST_SECRETS).filter((name) => typeof known[builderOf(name)] !== "function");
    expect(missing).toEqual([]);
  });
});

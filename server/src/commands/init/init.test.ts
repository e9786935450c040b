import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as library from "posthorn";
import * as providers from "posthorn/providers";
import { TEST_SECRETS } from "posthorn/testing";
import { afterAll, describe, expect, it } from "vitest";
import { runCommand } from "../../../../test/cli/run-command.js";
import { readProject } from "./project.js";
import { builderOf } from "./receiver-files.js";

const home = mkdtempSync(join(tmpdir(), "posthorn-init-"));
afterAll(() => rmSync(home, { recursive: true }));
let projects = 0;

/** A project with this package.json. */
function project(manifest: object): string {
  const dir = join(home, String(++projects));
  mkdirSync(dir);
  writeFileSync(join(dir, "package.json"), JSON.stringify(manifest));
  return dir;
}

const EXPRESS_PG = { dependencies: { express: "^5.0.0", pg: "^8.0.0" } };
const textOf = (dir: string, path: string): string => readFileSync(join(dir, path), "utf8");

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
    [{ dependencies: { hono: "4" } }, "--database drizzle|typeorm|pg|sqlite"],
  ])("says what it looked for where %j does not name it", async (manifest, cure) => {
    const { code, err } = await runCommand(["init", "--dir", project(manifest), "--yes"]);
    expect([code, err]).toEqual([2, expect.stringContaining(cure)]);
  });

  it.each([
    [{ "@prisma/client": "7", pg: "8" }, "Prisma"],
    [{ kysely: "0.28", pg: "8" }, "Kysely"],
    [{ "drizzle-orm": "0.45", "better-sqlite3": "12" }, "--database sqlite"],
    [{ typeorm: "1", mysql2: "3" }, "--database typeorm"],
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

describe("a project", () => {
  const dependencies = { fastify: "5", "drizzle-orm": "1", pg: "8" };

  it("with an ORM and its driver has the ORM; with Nest and Express, Nest", () => {
    expect(readProject({ dependencies }, {})).toMatchObject({ framework: "fastify", database: "drizzle" });
    const nest = { dependencies: { "@nestjs/core": "12", express: "5", typeorm: "1", pg: "8" } };
    expect(readProject(nest, {})).toMatchObject({ framework: "nest", database: "typeorm", typescript: true });
  });

  it("in TypeScript has files of its kind of modules; tests run with the runner that is there", () => {
    const devDependencies = { typescript: "5", vitest: "4" };
    const wanted = { dependencies, devDependencies };
    expect(readProject({ ...wanted, type: "module" }, {})).toMatchObject({
      extension: "ts",
      reference: "js",
      runner: "vitest",
    });
    expect(readProject(wanted, {})).toMatchObject({ extension: "mts", reference: "mjs" });
    expect(readProject({ dependencies }, {})).toMatchObject({
      extension: "mjs",
      reference: "mjs",
      runner: "node",
    });
  });

  it("may have any provider: each builder exists", () => {
    const known: Readonly<Record<string, unknown>> = { ...library, ...providers };
    const missing = Object.keys(TEST_SECRETS).filter((name) => typeof known[builderOf(name)] !== "function");
    expect(missing).toEqual([]);
  });
});

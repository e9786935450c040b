import { parseSync } from "oxc-parser";
import { describe, expect, it } from "vitest";
import { planInit } from "./plan.js";
import type { PlannedFile } from "./plan.js";
import { DATABASES, FRAMEWORKS, readProject } from "./project.js";
import type { Database, Framework } from "./project.js";
import { NOTHING_AROUND } from "./surroundings.js";

const frameworks = Object.keys(FRAMEWORKS) as readonly Framework[];
const databases = Object.keys(DATABASES) as readonly Database[];
const onPostgres = databases.filter((name) => name !== "sqlite");

const SCHEMA = `generator client {
  provider = "prisma-client"
  output   = "../generated"
}
datasource db {
  provider = "postgresql"
}`;

interface Wish {
  readonly framework: Framework;
  readonly database: Database;
  readonly typescript: boolean;
}

/** What is written for a project that has nothing of what its files import. */
function filesFor({ framework, database, typescript }: Wish): readonly PlannedFile[] {
  const manifest = { type: "module", ...(typescript ? { devDependencies: { typescript: "7" } } : {}) };
  // What Prisma generates for JavaScript.
  const text = typescript ? SCHEMA : SCHEMA.replace("prisma-client", "prisma-client-js");
  const around = { ...NOTHING_AROUND, prismaSchema: [{ path: "prisma/schema.prisma", text }] };
  const project = readProject(manifest, { framework, database }, around);
  return planInit(project, { provider: "stripe", type: "*" }, { manifest, around, version: "1.0.0" }).files;
}

function textOf(database: Database, name: "database" | "receiver"): string {
  const files = filesFor({ framework: "hono", database, typescript: true });
  return files.find(({ path }) => path.includes(`/${name}.`))?.text ?? "";
}

const combinations = frameworks.flatMap((framework) =>
  databases.flatMap((database) => [true, false].map((typescript) => ({ framework, database, typescript }))),
);

/** Names that files take from each other, and that the other does not export. */
function missingNames(files: readonly PlannedFile[]): readonly string[] {
  const parsed = files.map(({ path, text }) => ({ path, module: parseSync(path, text).module }));
  const exported = new Set(
    parsed.flatMap(({ module }) =>
      module.staticExports.flatMap(({ entries }) => entries.map((entry) => entry.exportName.name)),
    ),
  );
  return parsed.flatMap(({ path, module }) =>
    module.staticImports
      .filter(({ moduleRequest }) => moduleRequest.value.startsWith("./"))
      .flatMap(({ entries }) => entries.map((entry) => entry.importName.name))
      .filter((name) => !exported.has(name ?? ""))
      .map((name) => `${path}: ${name ?? "*"}`),
  );
}

describe("what posthorn init writes", () => {
  it("is code for every framework on every database, in both languages, and its files find each other's names", () => {
    const wrong = combinations.flatMap((wish) => {
      const files = filesFor(wish);
      const errors = files.flatMap(({ path, text }) =>
        parseSync(path, text).errors.map(({ message }) => `${path}: ${message}`),
      );
      return [...errors, ...missingNames(files)].map((problem) => `${JSON.stringify(wish)} ${problem}`);
    });
    expect(wrong).toEqual([]);
    expect(combinations).toHaveLength(72);
  });

  it.each(onPostgres)("opens no other database where DATABASE_URL is not set, on %s", (database) => {
    const text = textOf(database, "database");
    const check = text.indexOf('if (!url) throw new Error("DATABASE_URL is not set.");');
    expect(check).toBeGreaterThan(0);
    // The only address that is in the file, and it is checked before anything is opened.
    expect(text.slice(0, check).match(/process\.env\["\w+"\]/g)).toEqual(['process.env["DATABASE_URL"]']);
    expect(text.slice(check)).not.toMatch(/process\.env|postgres:\/\//);
  });

  it.each([
    ["pg", "await tx.query("],
    ["postgres", "await tx`insert"],
    ["drizzle", "await tx.insert(received)"],
    ["typeorm", "await tx.insert(Received,"],
    ["kysely", 'await tx.insertInto("received_event")'],
    ["knex", 'await tx("received_event").insert('],
    ["sequelize", "{ transaction: tx });"],
    ["prisma", "await tx.$executeRaw`insert"],
    ["sqlite", "tx.prepare("],
  ] as const)("has a handler that writes in its transaction, on %s", (database, code) => {
    expect(textOf(database, "receiver")).toContain(code);
  });

  it.each(["drizzle", "kysely"] as const)(
    "survives a connection that breaks in a handler, on %s",
    (database) => {
      const text = textOf(database, "database");
      expect(text).toContain('pool.on("connect", (connection) => connection.on("error"');
      expect(text).toContain('pool.on("error"');
    },
  );
});

/** The dependencies of a project on Hono that has these besides. */
function dependenciesOf(database: Database, besides: Record<string, string>): unknown {
  const manifest = { dependencies: { hono: "4", ...besides } };
  const text = SCHEMA.replace("prisma-client", "prisma-client-js");
  const around = { ...NOTHING_AROUND, prismaSchema: [{ path: "prisma/schema.prisma", text }] };
  const project = readProject(manifest, {}, around);
  expect(project.database).toBe(database);
  const answers = { provider: "stripe", type: "*" };
  return planInit(project, answers, { manifest, around, version: "1.0.0" }).manifest.dependencies;
}

describe("the packages that posthorn init adds", () => {
  it.each(["kysely", "knex", "sequelize"] as const)(
    "are pg, where %s is there without a driver",
    (database) => {
      expect(dependenciesOf(database, { [database]: "*" })).toMatchObject({ pg: "^8.23.1" });
    },
  );

  it.each([
    ["7.2.0", "7.2.0"],
    ["^7.4.1", "^7.4.1"],
    ["latest", "^7.10.0"],
  ])("are the adapter of Prisma's own version: %s", (client, adapter) => {
    expect(dependenciesOf("prisma", { "@prisma/client": client })).toMatchObject({
      "@prisma/client": client,
      "@prisma/adapter-pg": adapter,
    });
  });

  it("are none of pg, where the driver is postgres", () => {
    expect(dependenciesOf("postgres", { postgres: "3" })).toEqual({
      hono: "4",
      postgres: "3",
      posthorn: "^1.0.0",
    });
  });
});

import { CommandFailure } from "../../terminal/failure.js";
import { fileKindOf } from "./file-kind.js";
import type { FileKind } from "./file-kind.js";
import type { Manifest } from "./package-json.js";
import { prismaClientOf } from "./prisma-schema.js";
import type { Manager, Surroundings } from "./surroundings.js";

/** Frameworks that a receiver can be written for, by the package that tells each. */
export const FRAMEWORKS = {
  nest: "@nestjs/core",
  fastify: "fastify",
  hono: "hono",
  express: "express",
} as const;
export type Framework = keyof typeof FRAMEWORKS;
export type Platform = Exclude<Framework, "nest">;

/** Databases and ORMs, by the package that tells each: an ORM before the driver that it uses. */
export const DATABASES = {
  drizzle: "drizzle-orm",
  typeorm: "typeorm",
  kysely: "kysely",
  knex: "knex",
  sequelize: "sequelize",
  prisma: "@prisma/client",
  pg: "pg",
  postgres: "postgres",
  sqlite: "better-sqlite3",
} as const;
export type Database = keyof typeof DATABASES;

/** The ORMs among them. */
const ORMS = ["drizzle", "typeorm", "kysely", "knex", "sequelize", "prisma"] as const;

/** ORMs for which nothing is written, by the package that tells each. */
const OTHERS = { MikroORM: "@mikro-orm/core" } as const;

/** Drivers on which an ORM needs other code than on pg. Prisma's schema says its database itself. */
const OTHER_DRIVERS = [
  "postgres",
  "better-sqlite3",
  "sqlite3",
  "mysql2",
  "mysql",
  "mariadb",
  "tedious",
  "oracledb",
  "@neondatabase/serverless",
  "@libsql/client",
];

/** What a project is made of. */
export interface Project extends FileKind {
  readonly framework: Framework;
  readonly database: Database;
  readonly typescript: boolean;
  readonly runner: "vitest" | "node";
  /** The test's file, without its ending. */
  readonly test: "webhooks.test" | "webhooks-test";
  /** What Nest runs on; the framework itself elsewhere. */
  readonly platform: Platform;
  readonly manager: Manager;
  /** Where to write. */
  readonly folder: string;
  /** The module of Prisma's generated client, as a file of that folder imports it; empty without Prisma. */
  readonly prismaClient: string;
}

export interface ProjectWishes {
  readonly framework?: Framework | undefined;
  readonly database?: Database | undefined;
}

/** Looks at package.json and at what is around it. What a person names counts more than what is found. */
export function readProject(manifest: Manifest, wishes: ProjectWishes, around: Surroundings): Project {
  const has = (name: string): boolean =>
    Object.hasOwn({ ...manifest.dependencies, ...manifest.devDependencies }, name);
  const framework = wishes.framework ?? found(FRAMEWORKS, has);
  if (framework === undefined) throw missing("framework", FRAMEWORKS);
  // Whoever names a database means it.
  const database = wishes.database ?? databaseOf(has);
  // Nest's decorators need a compiler.
  const typescript = framework === "nest" || has("typescript") || has("tsx");
  const { compiler, manager, folder, prismaSchema: schema } = around;
  const isModule = manifest.type === "module";
  const version = has("typescript") ? versionOf("typescript", manifest, around) : undefined;
  const kind = fileKindOf({ typescript, isModule, compiler, version });
  const prisma = versionOf(DATABASES.prisma, manifest, around);
  return {
    framework,
    database,
    typescript,
    ...testing(manifest, has),
    ...kind,
    platform: framework === "nest" ? (has("@nestjs/platform-fastify") ? "fastify" : "express") : framework,
    manager,
    folder,
    prismaClient:
      database === "prisma" ? prismaClientOf({ ...kind, typescript, folder, schema, version: prisma }) : "",
  };
}

/** The version that is installed, or else the range that package.json names. */
export function versionOf(name: string, manifest: Manifest, { installed }: Surroundings): string | undefined {
  return installed(name) ?? { ...manifest.dependencies, ...manifest.devDependencies }[name];
}

/** Who runs the written test. */
function testing(manifest: Manifest, has: (name: string) => boolean): Pick<Project, "runner" | "test"> {
  const script = ownTest(manifest) ?? "";
  const jest = has("jest") || /\bjest\b/.test(script);
  if (has("vitest") && !(jest && !/\bvitest\b/.test(script)))
    return { runner: "vitest", test: "webhooks.test" };
  // A runner of another kind takes webhooks.test.mjs for its own, and ends red: Jest cannot load a module.
  const other = jest || (script !== "" && !/--test\b/.test(script));
  return { runner: "node", test: other ? "webhooks-test" : "webhooks.test" };
}

/** What npm writes for a project without tests. */
const NO_TEST = /no test specified/;

/** The project's own script `test`, unless it is npm's empty one. */
export function ownTest({ scripts }: Manifest): string | undefined {
  const script = scripts?.["test"];
  return script === undefined || NO_TEST.test(script) ? undefined : script;
}

/** The database that the project has: its ORM, or else its driver. */
function databaseOf(has: (name: string) => boolean): Database {
  const orms = ORMS.filter((name) => has(DATABASES[name]));
  const others = Object.values(OTHERS).filter(has);
  if (orms.length + others.length > 1) {
    const names = [...orms.map((name) => DATABASES[name]), ...others];
    throw unknownDatabase(
      `This project has ${names.join(" and ")}: init does not know which of them its handlers use.`,
      `Say --database ${orms.join("|")}.`,
    );
  }
  refuseOthers(has);
  const [orm] = orms;
  if (orm !== undefined && orm !== "prisma") refuseDriver(orm, has);
  const database = orm ?? found(DATABASES, has);
  if (database === undefined) throw missing("database", DATABASES);
  return database;
}

/** The handler would be written past the project's ORM. */
function refuseOthers(has: (name: string) => boolean): void {
  const other = (Object.keys(OTHERS) as (keyof typeof OTHERS)[]).find((name) => has(OTHERS[name]));
  if (other === undefined) return;
  throw unknownDatabase(
    `This project has ${other}, for which init writes nothing.`,
    `docs/orms.md#${other.toLowerCase()} shows a receiver in the transactions of ${other}. For handlers on the driver itself, say --database pg or --database sqlite.`,
  );
}

/** The ORM would be written for a driver that is not there. */
function refuseDriver(orm: (typeof ORMS)[number], has: (name: string) => boolean): void {
  const driver = OTHER_DRIVERS.find(has);
  if (has("pg") || driver === undefined) return;
  throw unknownDatabase(
    `This project has ${DATABASES[orm]} on ${driver}; init writes it for pg alone.`,
    `Say --database ${driver === "better-sqlite3" ? "sqlite, for handlers on better-sqlite3 itself" : `${orm}, and pg is added`}; docs/orms.md shows other drivers.`,
  );
}

function unknownDatabase(message: string, cure: string): CommandFailure {
  return new CommandFailure("usage", message, { cure, code: "database_unknown" });
}

function found<Name extends string>(
  packages: Readonly<Record<Name, string>>,
  has: (name: string) => boolean,
): Name | undefined {
  return (Object.keys(packages) as Name[]).find((name) => has(packages[name]));
}

function missing(what: "framework" | "database", known: Readonly<Record<string, string>>): CommandFailure {
  const nodes = what === "database" ? " For node:sqlite, docs/sqlite.md shows a receiver." : "";
  return new CommandFailure("usage", `package.json names no ${what} that is known here.`, {
    cure: `Install one of ${Object.values(known).join(", ")}, or say --${what} ${Object.keys(known).join("|")}.${nodes}`,
    code: `${what}_unknown`,
  });
}

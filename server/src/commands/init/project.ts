import { CommandFailure } from "../../terminal/failure.js";

/** Frameworks that a receiver can be written for, by the package that tells each. */
export const FRAMEWORKS = {
  nest: "@nestjs/core",
  fastify: "fastify",
  hono: "hono",
  express: "express",
} as const;
export type Framework = keyof typeof FRAMEWORKS;

/** Databases and ORMs, by the package that tells each: an ORM before the driver that it uses. */
export const DATABASES = {
  drizzle: "drizzle-orm",
  typeorm: "typeorm",
  pg: "pg",
  sqlite: "better-sqlite3",
} as const;
export type Database = keyof typeof DATABASES;

/** What the written files import beside Posthorn, as npm names its versions; `types` only in TypeScript. */
interface Imported {
  readonly packages: Readonly<Record<string, string>>;
  readonly types: Readonly<Record<string, string>>;
}

const PG = { pg: "^8.23.1" };
const PG_TYPES = { "@types/pg": "^8.23.1" };

export const IMPORTED: Readonly<Record<Framework | Database, Imported>> = {
  express: { packages: { express: "^5.3.0" }, types: { "@types/express": "^5.0.6" } },
  fastify: { packages: { fastify: "^5.12.8" }, types: {} },
  hono: { packages: { hono: "^4.13.18" }, types: {} },
  nest: {
    packages: {
      "@nestjs/common": "^12.5.0",
      "@nestjs/core": "^12.5.0",
      "@nestjs/platform-express": "^12.5.0",
      "reflect-metadata": "^0.2.2",
      rxjs: "^7.8.2",
    },
    types: {},
  },
  drizzle: { packages: { "drizzle-orm": "^0.45.4", ...PG }, types: PG_TYPES },
  typeorm: { packages: { typeorm: "^1.1.1", ...PG }, types: {} },
  pg: { packages: PG, types: PG_TYPES },
  sqlite: { packages: { "better-sqlite3": "^12.11.1" }, types: { "@types/better-sqlite3": "^9.6.0" } },
};

/** ORMs for which nothing is written, by the package that tells each. */
const OTHERS = {
  Prisma: "@prisma/client",
  Kysely: "kysely",
  Knex: "knex",
  MikroORM: "@mikro-orm/core",
  Sequelize: "sequelize",
} as const;

/** Drivers on which Drizzle and TypeORM need other code than on pg. */
const OTHER_DRIVERS = [
  "postgres",
  "better-sqlite3",
  "mysql2",
  "mysql",
  "@neondatabase/serverless",
  "@libsql/client",
];

/** The fields of package.json that count here. */
export interface Manifest {
  readonly type?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** What a project is made of. */
export interface Project {
  readonly framework: Framework;
  readonly database: Database;
  readonly typescript: boolean;
  readonly runner: "vitest" | "node";
  /** Of the files that are written: they are modules, whatever package.json says. */
  readonly extension: "ts" | "mts" | "mjs";
  /** How they name each other. */
  readonly reference: "js" | "mjs";
}

export interface ProjectWishes {
  readonly framework?: Framework | undefined;
  readonly database?: Database | undefined;
}

/** Looks at package.json. What a person names counts more than what is found. */
export function readProject(manifest: Manifest, wishes: ProjectWishes): Project {
  const has = (name: string): boolean =>
    Object.hasOwn({ ...manifest.dependencies, ...manifest.devDependencies }, name);
  const framework = wishes.framework ?? found(FRAMEWORKS, has);
  const database = wishes.database ?? found(DATABASES, has);
  if (framework === undefined) throw missing("framework", FRAMEWORKS);
  // Whoever names a database means it.
  if (wishes.database === undefined) refuseOthers(database, has);
  if (database === undefined) throw missing("database", DATABASES);
  // Nest's decorators need a compiler.
  const isModule = manifest.type === "module";
  const typescript = framework === "nest" || has("typescript") || has("tsx");
  return {
    framework,
    database,
    typescript,
    runner: has("vitest") ? "vitest" : "node",
    extension: typescript ? (isModule ? "ts" : "mts") : "mjs",
    reference: typescript && isModule ? "js" : "mjs",
  };
}

/** The handler would be written past the project's ORM, or for a driver that is not there. */
function refuseOthers(database: Database | undefined, has: (name: string) => boolean): void {
  const isOrm = database === "drizzle" || database === "typeorm";
  const other = (Object.keys(OTHERS) as (keyof typeof OTHERS)[]).find((name) => has(OTHERS[name]));
  if (!isOrm && other !== undefined) {
    throw new CommandFailure("usage", `This project has ${other}, for which init writes nothing.`, {
      cure: `docs/orms.md shows a receiver in the transactions of ${other}. For handlers on the driver itself, say --database pg or --database sqlite.`,
      code: "database_unknown",
    });
  }
  const driver = OTHER_DRIVERS.find(has);
  if (isOrm && !has("pg") && driver !== undefined) {
    throw new CommandFailure(
      "usage",
      `This project has ${DATABASES[database]} on ${driver}; init writes it for pg alone.`,
      {
        cure: `Say --database ${driver === "better-sqlite3" ? "sqlite, for handlers on better-sqlite3 itself" : `${database}, and pg is added`}; docs/orms.md shows other drivers.`,
        code: "database_unknown",
      },
    );
  }
}

function found<Name extends string>(
  packages: Readonly<Record<Name, string>>,
  has: (name: string) => boolean,
): Name | undefined {
  return (Object.keys(packages) as Name[]).find((name) => has(packages[name]));
}

function missing(what: "framework" | "database", known: Readonly<Record<string, string>>): CommandFailure {
  return new CommandFailure("usage", `package.json names no ${what} that is known here.`, {
    cure: `Install one of ${Object.values(known).join(", ")}, or say --${what} ${Object.keys(known).join("|")}.`,
    code: `${what}_unknown`,
  });
}

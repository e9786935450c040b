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

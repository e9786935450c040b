import type { Manifest } from "./package-json.js";
import type { Database, Framework, Project } from "./project.js";
import { sameMajor } from "./version-range.js";

type Packages = Readonly<Record<string, string>>;

/** What the written files import beside Posthorn, as npm names its versions; `types` only in TypeScript. */
interface Imported {
  readonly packages: Packages;
  readonly types: Packages;
}

/** Says which version of a package the project has, as far as it is known. */
export type VersionOf = (name: string) => string | undefined;

const PG = { pg: "^8.23.1" };
const PG_TYPES = { "@types/pg": "^8.23.1" };
const NEST = "^12.5.0";
const PRISMA = "^7.10.0";
const EXPRESS_TYPES = "^5.0.6";
// Node before 23.6 runs no TypeScript, and no Node runs decorators.
const TOOLS = { tsx: "^4.20.0", "@types/node": "^20.19.43" };

const DATABASE_PACKAGES: Readonly<Record<Database, (versionOf: VersionOf) => Imported>> = {
  drizzle: () => ({ packages: { "drizzle-orm": "^0.45.4", ...PG }, types: PG_TYPES }),
  typeorm: () => ({ packages: { typeorm: "^1.1.1", ...PG }, types: {} }),
  kysely: () => ({ packages: { kysely: "^0.28.18", ...PG }, types: PG_TYPES }),
  knex: () => ({ packages: { knex: "^3.3.0", ...PG }, types: {} }),
  sequelize: () => ({ packages: { sequelize: "^6.37.8", ...PG }, types: {} }),
  prisma: (versionOf) => {
    // Prisma's packages come out together, and know only those of their own version.
    const own = versionOf("@prisma/client") ?? "";
    const version = /^[\^~]?\d/.test(own) ? own : PRISMA;
    return { packages: { "@prisma/client": version, "@prisma/adapter-pg": version }, types: {} };
  },
  pg: () => ({ packages: PG, types: PG_TYPES }),
  postgres: () => ({ packages: { postgres: "^3.4.9" }, types: {} }),
  sqlite: () => ({
    packages: { "better-sqlite3": "^12.11.1" },
    types: { "@types/better-sqlite3": "^9.6.0" },
  }),
};

const FRAMEWORK_PACKAGES: Readonly<Record<Framework, (versionOf: VersionOf) => Imported>> = {
  // Types of another major describe functions that are not there.
  express: (versionOf) => ({
    packages: { express: "^5.3.0" },
    types: { "@types/express": sameMajor(versionOf("express"), EXPRESS_TYPES) },
  }),
  fastify: () => ({ packages: { fastify: "^5.12.8" }, types: {} }),
  hono: () => ({ packages: { hono: "^4.13.18" }, types: {} }),
  // Packages of Nest take only their own major beside them: npm ends with ERESOLVE.
  nest: (versionOf) => {
    const version = sameMajor(versionOf("@nestjs/core"), NEST);
    return {
      packages: {
        "@nestjs/common": version,
        "@nestjs/core": version,
        "@nestjs/platform-express": version,
        "reflect-metadata": "^0.2.2",
        rxjs: "^7.8.2",
      },
      types: {},
    };
  },
};

/** What package.json lacks. */
export interface Added {
  readonly dependencies: Packages;
  readonly devDependencies: Packages;
}

/** Finds what the written files import and package.json does not name. */
export function missingPackages(
  { typescript, framework, database, platform }: Project,
  manifest: Manifest,
  { version, versionOf }: { readonly version: string; readonly versionOf: VersionOf },
): Added {
  const known = { ...manifest.dependencies, ...manifest.devDependencies };
  const unlessKnown = (wanted: Packages): Packages =>
    Object.fromEntries(
      Object.entries(wanted).filter(
        ([name]) =>
          !Object.hasOwn(known, name) && !(platform === "fastify" && name === "@nestjs/platform-express"),
      ),
    );
  const [framed, stored] = [FRAMEWORK_PACKAGES[framework](versionOf), DATABASE_PACKAGES[database](versionOf)];
  return {
    dependencies: unlessKnown({ posthorn: `^${version}`, ...framed.packages, ...stored.packages }),
    devDependencies: typescript ? unlessKnown({ ...TOOLS, ...framed.types, ...stored.types }) : {},
  };
}

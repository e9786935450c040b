import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readCompiler } from "./compiler.js";
import type { Compiler } from "./compiler.js";
import type { Manifest } from "./package-json.js";
import { readPrismaSchema } from "./prisma-schema.js";
import type { SchemaFile } from "./prisma-schema.js";

const MANAGERS = ["npm", "pnpm", "yarn", "bun"] as const;
export type Manager = (typeof MANAGERS)[number];

/** What stands beside package.json and decides what is written. */
export interface Surroundings {
  readonly manager: Manager;
  /** Where to write. */
  readonly folder: string;
  /** What tsconfig.json says; undefined where there is none. */
  readonly compiler: Compiler | undefined;
  /** Versions of packages in node_modules: package.json may say `latest` or `catalog:`. */
  readonly installed: (name: string) => string | undefined;
  /** The files of Prisma's schema; none where it is not found. */
  readonly prismaSchema: readonly SchemaFile[];
}

/** Looks around in the project's folder, and above it: a workspace may have one lock file and one node_modules. */
export function readSurroundings(dir: string, manifest: Manifest): Surroundings {
  const folders = upwards(resolve(dir));
  return {
    manager: managerNamedBy(manifest) ?? firstOf(folders, managerIn) ?? "npm",
    folder: existsSync(join(dir, "src")) ? "src/webhooks" : "webhooks",
    compiler: readCompiler(join(dir, "tsconfig.json")),
    prismaSchema: readPrismaSchema(dir),
    installed: (name) =>
      firstOf(folders, (folder) => fieldOf(join(folder, "node_modules", name, "package.json"), "version")),
  };
}

/** A project with nothing beside package.json. */
export const NOTHING_AROUND: Surroundings = {
  manager: "npm",
  folder: "webhooks",
  compiler: undefined,
  installed: () => undefined,
  prismaSchema: [],
};

const LOCKS: readonly (readonly [string, Manager])[] = [
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
  ["package-lock.json", "npm"],
];

function managerIn(folder: string): Manager | undefined {
  return (
    LOCKS.find(([lock]) => existsSync(join(folder, lock)))?.[1] ??
    managerNamedBy({ packageManager: fieldOf(join(folder, "package.json"), "packageManager") ?? "" })
  );
}

/** `pnpm@10.4.1+sha512…` */
function managerNamedBy({ packageManager }: Manifest): Manager | undefined {
  return MANAGERS.find((name) => packageManager === name || packageManager?.startsWith(`${name}@`) === true);
}

function fieldOf(path: string, field: string): string | undefined {
  try {
    const value = (JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown> | null)?.[field];
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The folder and those above it, up to the repository's: a lock file in somebody's home is of no project. */
function upwards(folder: string): readonly string[] {
  const above = dirname(folder);
  return above === folder || existsSync(join(folder, ".git")) ? [folder] : [folder, ...upwards(above)];
}

function firstOf<Found>(
  folders: readonly string[],
  look: (folder: string) => Found | undefined,
): Found | undefined {
  for (const folder of folders) {
    const found = look(folder);
    if (found !== undefined) return found;
  }
  return undefined;
}

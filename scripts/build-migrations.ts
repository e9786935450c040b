import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

// Neither the library nor the server reads files for it, so each store's migrations/*.sql stand in its migrations.ts
// too, written by this script. scripts/build-migrations.test.ts keeps the two equal.

/** Whose migrations they are, and under which name their migrations.ts exports them. */
export interface MigrationSet {
  readonly set: "library" | "server";
  /** Holds a folder for each database. */
  readonly stores: string;
  /** Where in that folder `migrations/` and migrations.ts are. */
  readonly schema: string;
  readonly exportedAs: string;
}

export const migrationSets: readonly MigrationSet[] = [
  { set: "library", stores: folderOf("../library/src/stores"), schema: "schema", exportedAs: "MIGRATIONS" },
  { set: "server", stores: folderOf("../server/src/store"), schema: "", exportedAs: "SERVER_MIGRATIONS" },
];

function folderOf(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}

/** The stores of a set that have migrations. */
export function migratedStores({ stores, schema }: MigrationSet): string[] {
  return readdirSync(stores).filter((store) => existsSync(join(stores, store, schema, "migrations")));
}

/** The text that a store's migrations.ts must have. */
export function migrationsModule({ stores, schema, exportedAs }: MigrationSet, store: string): string {
  const folder = join(stores, store, schema, "migrations");
  const files = readdirSync(folder).toSorted();
  const entries = files.map((file, index) => migrationEntry(file, index + 1, join(folder, file)));
  const made = "// Written by scripts/build-migrations.ts from migrations/*.sql: change those, and run it.";
  const says =
    "/** The migrations of these tables, in order, for those who run them by tools of their own. */";
  return `${made}\n\n${says}\nexport const ${exportedAs} = [\n${entries.join("")}] as const;\n`;
}

function migrationEntry(file: string, version: number, path: string): string {
  if (!/^\d{4}_[a-z0-9_]+\.sql$/.test(file)) {
    throw new Error(`${path}: expected a name like 0001_what_it_does.sql.`);
  }
  // A gap would be a migration that some databases have and others will never get.
  if (Number(file.slice(0, 4)) !== version) {
    throw new Error(`${path}: expected number ${version}, as they count from 1 without gaps.`);
  }
  const sql = readFileSync(path, "utf8").replaceAll(/[\\`]|\$\{/g, String.raw`\$&`);
  return `  {\n    version: ${version},\n    name: "${file.slice(0, -4)}",\n    sql: \`${sql}\`,\n  },\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const set of migrationSets) {
    for (const store of migratedStores(set)) {
      writeFileSync(join(set.stores, store, set.schema, "migrations.ts"), migrationsModule(set, store));
    }
  }
}

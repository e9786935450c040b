import type { SchemaAge } from "../parts.js";
import { CommandFailure } from "../terminal/failure.js";

/** Compares versions of tables with those that this version of Posthorn knows. One that is newer decides. */
export function ageOf(...sets: readonly (readonly [found: number, known: number])[]): SchemaAge {
  if (sets.some(([found, known]) => found > known)) return "newer";
  return sets.every(([found, known]) => found === known) ? "current" : "older";
}

export const NEWER_TABLES = {
  found: "a newer version of Posthorn has changed the tables",
  cure: "Run that version or a later one: tables are never changed back. To return to this version, restore a backup of before.",
} as const;

/** The failure of a start, or of a migration, on tables that are not those of this version. */
export function tablesFailure(age: Exclude<SchemaAge, "current">): CommandFailure {
  if (age === "newer") {
    return new CommandFailure("failed", `This version cannot use the database: ${NEWER_TABLES.found}.`, {
      code: "store_newer",
      cure: NEWER_TABLES.cure,
    });
  }
  return new CommandFailure("failed", "The tables of the database are older than this version.", {
    code: "store_not_migrated",
    cure: "Run `posthorn migrate` with the same settings (--config, --database), under a role that may change them, or start without --no-migrate.",
  });
}

/** The failure of a start beside an application: its tables are not changed unasked. */
export function applicationsTables(schema: string): CommandFailure {
  return new CommandFailure(
    "failed",
    `The tables in the schema ${schema} are missing, or older than this version. A node that has the role api alone changes none unasked: they may be an application's.`,
    {
      code: "store_not_migrated",
      cure: "Run `posthorn migrate` with the same settings (--config, --database, --schema), when the application may meet the new tables.",
    },
  );
}

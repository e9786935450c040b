import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { migratedStores, migrationsModule, storesFolder } from "./build-migrations.js";

describe.each(migratedStores())("the migrations of %s", (store) => {
  it("are in migrations.ts as they are in the SQL files; `npx tsx scripts/build-migrations.ts` writes it", () => {
    expect(readFileSync(join(storesFolder, store, "migrations.ts"), "utf8")).toBe(migrationsModule(store));
  });

  it("come back from migrations.ts as the very text of the files", async () => {
    const { MIGRATIONS } = (await import(join(storesFolder, store, "migrations.ts"))) as {
      MIGRATIONS: readonly { name: string; sql: string }[];
    };
    const folder = join(storesFolder, store, "migrations");
    const files = readdirSync(folder).map((file) => readFileSync(join(folder, file), "utf8"));
    expect(MIGRATIONS.map(({ sql }) => sql)).toEqual(files);
  });
});

it("every store has the same migrations by number and name", () => {
  const names = migratedStores().map((store) => readdirSync(join(storesFolder, store, "migrations")));
  for (const each of names) expect(each).toEqual(names[0]);
});

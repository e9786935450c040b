import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { migratedStores, migrationSets, migrationsModule } from "./build-migrations.js";

const all = migrationSets.flatMap((of) => migratedStores(of).map((store) => ({ of, store })));

describe.each(all)("the migrations of the $of.set for $store", ({ of: set, store }) => {
  it("are in migrations.ts as they are in the SQL files; `npx tsx scripts/build-migrations.ts` writes it", () => {
    const written = readFileSync(join(set.stores, store, set.schema, "migrations.ts"), "utf8");
    expect(written).toBe(migrationsModule(set, store));
  });

  it("come back from migrations.ts as the very text of the files", async () => {
    const exported = (await import(join(set.stores, store, set.schema, "migrations.ts"))) as Record<
      string,
      readonly { name: string; sql: string }[]
    >;
    const folder = join(set.stores, store, set.schema, "migrations");
    const files = readdirSync(folder).map((file) => readFileSync(join(folder, file), "utf8"));
    expect(exported[set.exportedAs]?.map(({ sql }) => sql)).toEqual(files);
  });
});

it.each(migrationSets)("every store has the same migrations of the $set by number and name", (set) => {
  const names = migratedStores(set).map((store) =>
    readdirSync(join(set.stores, store, set.schema, "migrations")),
  );
  expect(names.length).toBeGreaterThan(1);
  for (const each of names) expect(each).toEqual(names[0]);
});

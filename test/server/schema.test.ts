import { fileURLToPath } from "node:url";
import { migrate as migratePostgres } from "posthorn/postgres";
import { migrate as migrateSqlite } from "posthorn/sqlite";
import { expect, it } from "vitest";
import { SERVER_MIGRATIONS as POSTGRES_MIGRATIONS } from "../../server/src/store/postgres/migrations.js";
import { SERVER_MIGRATIONS as SQLITE_MIGRATIONS } from "../../server/src/store/sqlite/migrations.js";
import { printSchema as printPostgres } from "../postgres/catalog.js";
import { drivers } from "../postgres/drivers.js";
import { freshDatabase } from "../services.js";
import { printSchema as printSqlite } from "../sqlite/catalog.js";
import { createDatabaseFile } from "../sqlite/database-file.js";

const committed = (store: string): string =>
  fileURLToPath(new URL(`../../server/src/store/${store}/schema.sql`, import.meta.url));

it.each(drivers)(
  "the server's tables on Postgres by $name are those of the committed schema.sql",
  async (driver) => {
    const pool = driver.open(await freshDatabase({ migrated: false }));
    await migratePostgres(pool.client, { set: { name: "server", migrations: POSTGRES_MIGRATIONS } });
    await expect(await printPostgres(pool, "posthorn")).toMatchFileSnapshot(committed("postgres"));
  },
);

it("the server's tables on SQLite are those of the committed schema.sql", async () => {
  const file = createDatabaseFile();
  const db = file.open();
  await migrateSqlite(db, { set: { name: "server", migrations: SQLITE_MIGRATIONS } });
  await expect(printSqlite(db)).toMatchFileSnapshot(committed("sqlite"));
  file.remove();
});

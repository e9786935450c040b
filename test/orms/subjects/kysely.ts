import { CamelCasePlugin, CompiledQuery, Kysely, PostgresDialect, sql } from "kysely";
import { fromKysely } from "posthorn/orm";
import { driverOf, opened, pgPool } from "./subject.js";

interface Tables {
  readonly effect: { readonly mark: string };
}

export const kysely = driverOf({ name: "kysely", commit: "commit" }, (options) => {
  // Gives columns other names, as many hosts do.
  const plugins = [new CamelCasePlugin()];
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: pgPool(options) }), plugins });
  return opened(fromKysely(db, CompiledQuery), {
    inside: (tx, text) => sql.raw(text).execute(tx),
    end: () => db.destroy(),
  });
});

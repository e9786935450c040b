import makeKnex from "knex";
import { fromKnex } from "posthorn/orm";
import { driverOf, opened } from "./subject.js";

export const knex = driverOf({ name: "knex", commit: "COMMIT" }, ({ url, max }) => {
  const instance = makeKnex({ client: "pg", connection: url, pool: { min: 0, max } });
  return opened(fromKnex(instance), {
    inside: (tx, text) => tx.raw(text),
    end: () => instance.destroy(),
  });
});

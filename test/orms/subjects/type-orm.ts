import { DataSource } from "typeorm";
import type { OrmClient } from "posthorn/orm";
import { fromTypeOrm } from "posthorn/orm";
import { driverOf, opened } from "./subject.js";

export const typeOrm = driverOf({ name: "typeorm", commit: "COMMIT" }, ({ url, max }) => {
  const source = new DataSource({ type: "postgres", url, poolSize: max });
  const ready = source.initialize();
  return opened(afterwards(fromTypeOrm(source), ready), {
    inside: (tx, text) => tx.query(text),
    end: () => ready.then(() => source.destroy()),
  });
});

/** The tests open their pools without waiting. */
function afterwards<Tx>(client: OrmClient<Tx>, ready: Promise<unknown>): OrmClient<Tx> {
  return {
    ...client,
    begin: (work, limits) => ready.then(() => client.begin(work, limits)),
    run: (query, tx) => ready.then(() => client.run(query, tx)),
  };
}

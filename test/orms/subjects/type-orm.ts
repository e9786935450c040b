import { DataSource } from "typeorm";
import { fromTypeOrm } from "posthorn/orm";
import { afterwards, driverOf, opened } from "./subject.js";

export const typeOrm = driverOf({ name: "typeorm", commit: "COMMIT" }, ({ url, max }) => {
  const source = new DataSource({ type: "postgres", url, poolSize: max });
  const ready = source.initialize();
  return opened(afterwards(fromTypeOrm(source), ready), {
    inside: (tx, text) => tx.query(text),
    end: () => ready.then(() => source.destroy()),
  });
});

import { EntitySchema, MikroORM } from "@mikro-orm/postgresql";
import { fromMikroOrm } from "posthorn/orm";
import { driverOf, opened } from "./subject.js";

export const Effect = new EntitySchema<{ id: number; mark: string }>({
  name: "EffectEntity",
  tableName: "effect_entity",
  properties: { id: { type: "integer", primary: true, autoincrement: true }, mark: { type: "string" } },
});

export const mikroOrm = driverOf({ name: "mikro-orm", commit: "COMMIT" }, ({ url, max }) => {
  const orm = MikroORM.initSync({ clientUrl: url, pool: { min: 0, max }, entities: [Effect] });
  return opened(fromMikroOrm(orm.em), {
    inside: (em, text) => em.execute(text),
    end: () => orm.close(true),
  });
});

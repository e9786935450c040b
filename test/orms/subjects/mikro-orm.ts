import { EntitySchema, MikroORM } from "@mikro-orm/postgresql";
import { fromMikroOrm } from "posthorn/orm";
import { driverOf, opened } from "./subject.js";

export const Effect = new EntitySchema<{ id: number; mark: string }>({
  name: "EffectEntity",
  tableName: "effect_entity",
  properties: { id: { type: "integer", primary: true, autoincrement: true }, mark: { type: "string" } },
});

// 7 has a constructor in place of initSync, and writes its statements by Kysely.
export const is6: boolean = "initSync" in MikroORM;
type MikroOrm7 = new (options: object) => MikroORM;

export const mikroOrm = driverOf({ name: "mikro-orm", commit: is6 ? "COMMIT" : "commit" }, ({ url, max }) => {
  const options = { clientUrl: url, pool: { min: 0, max }, entities: [Effect] };
  const orm = is6 ? MikroORM.initSync(options) : new (MikroORM as unknown as MikroOrm7)(options);
  return opened(fromMikroOrm(orm.em), {
    inside: (em, text) => em.execute(text),
    end: () => orm.close(true),
  });
});

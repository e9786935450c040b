import type { Driver } from "../../postgres/drivers.js";
import { drizzle, drizzleOnPostgres } from "./drizzle.js";
import { knex } from "./knex.js";
import { kysely } from "./kysely.js";
import { mikroOrm } from "./mikro-orm.js";
import { pglite } from "./pglite.js";
import { prisma } from "./prisma.js";
import { sequelize } from "./sequelize.js";
import { typeOrm } from "./type-orm.js";

const all: readonly Driver[] = [
  drizzle,
  drizzleOnPostgres,
  kysely,
  knex,
  prisma,
  typeOrm,
  mikroOrm,
  sequelize,
  pglite,
];

// `npm run test:newest-orms` has newer versions of some.
const chosen = process.env["ORMS"]?.split(",");

export function isChosen(name: string): boolean {
  return chosen?.includes(name) ?? true;
}

export const orms: readonly Driver[] = all.filter(({ name }) => isChosen(name));

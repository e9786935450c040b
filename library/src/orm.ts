/**
 * `posthorn/orm`: an ORM's own client as the client of `postgresStore`, `postgresDedup` and `migrate`. Nothing here imports
 * an ORM.
 *
 * @module
 */
export { fromDrizzle } from "./stores/postgres/client/orms/drizzle.js";
export type { DrizzleDatabase, DrizzleSql } from "./stores/postgres/client/orms/drizzle.js";
export { fromKnex } from "./stores/postgres/client/orms/knex.js";
export type { KnexInstance, KnexRaw } from "./stores/postgres/client/orms/knex.js";
export { fromKysely } from "./stores/postgres/client/orms/kysely.js";
export type { KyselyCompiledQuery, KyselyDatabase } from "./stores/postgres/client/orms/kysely.js";
export { fromMikroOrm } from "./stores/postgres/client/orms/mikro-orm.js";
export type { MikroOrmManager } from "./stores/postgres/client/orms/mikro-orm.js";
export { fromPglite } from "./stores/postgres/client/orms/pglite.js";
export type { PgliteDatabase, PgliteTransaction } from "./stores/postgres/client/orms/pglite.js";
export { fromPrisma } from "./stores/postgres/client/orms/prisma.js";
export type { PrismaDatabase, PrismaRaw } from "./stores/postgres/client/orms/prisma.js";
export { fromSequelize } from "./stores/postgres/client/orms/sequelize.js";
export type { SequelizeInstance } from "./stores/postgres/client/orms/sequelize.js";
export { fromTypeOrm } from "./stores/postgres/client/orms/type-orm.js";
export type { TypeOrmDataSource, TypeOrmManager } from "./stores/postgres/client/orms/type-orm.js";
export type { Judge, OrmClient, OrmQuery } from "./stores/postgres/client/orms/orm-client.js";

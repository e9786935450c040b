import { INSERT, NOTE, TABLE } from "./database-part.js";
import type { Typed } from "./database-part.js";
import type { PostgresClient } from "./postgres-file.js";
import type { Database, Project } from "./project.js";

const SEARCH_PATH = "`-c search_path=${schema}`";
const OPTIONS = `{ options: ${SEARCH_PATH} }`;
const POOL = "const pool = new Pool({ connectionString: url, max: 20, ...options });";
const IDLE = `// Without a listener, a connection that breaks while it is idle would end the process.
  pool.on("error", (error) => console.error("An idle connection broke:", error.message));`;
/** Of an ORM: Posthorn listens to the connections that it takes out of a pool, and ORMs do not. */
const BROKEN = `// Without these listeners, a connection that breaks would end the process: an idle one, or one that a handler has.
  pool.on("error", () => {});
  pool.on("connect", (connection) => connection.on("error", (error) => console.error("A connection broke:", error.message)));`;
const ROW = "{ id: event.id, type: event.type, data: JSON.stringify(event.data) }";
const TAGGED = `\`${INSERT} (\${event.id}, \${event.type}, \${JSON.stringify(event.data)})\``;
const COUNT = `select count(*)::int as n from ${TABLE}`;
const DROP = "`drop schema ${schema} cascade`";

/** By whom tables are made decides who runs the statement. */
const moveInto = (tool: string): string =>
  `// If ${tool} migrations make your tables, move this statement into one.`;

/** Every client on Postgres that is written for. */
export const POSTGRES_CLIENTS: Readonly<
  Record<Exclude<Database, "sqlite">, (typed: Typed, project: Project) => PostgresClient>
> = {
  pg: () => ({
    imports: ['import { Pool } from "pg";'],
    typeImports: ['import type { PoolClient } from "pg";'],
    types: { database: "Pool", transaction: "PoolClient" },
    inSchema: OPTIONS,
    open: `${POOL}\n  ${IDLE}\n  return pool;`,
    client: "db",
    note: NOTE,
    run: (statement) => `await db.query("${statement}");`,
    count: `const { rows } = await db.query("${COUNT}");\n  return rows[0].n;`,
    drop: `await db.query(${DROP});`,
    close: "await db.end();",
    write: `await tx.query("${INSERT} ($1, $2, $3)", [event.id, event.type, JSON.stringify(event.data)]);`,
  }),
  postgres: (typed) => ({
    imports: ['import postgres from "postgres";'],
    typeImports: ['import type { Sql, TransactionSql } from "postgres";'],
    types: { database: "Sql", transaction: "TransactionSql" },
    inSchema: "{ connection: { search_path: schema } }",
    open: `// Without it, notices are printed, as that a table is there already.
  return postgres(url, { max: 20, onnotice: () => {}, ...options });`,
    client: "db",
    note: NOTE,
    run: (statement) => `await db\`${statement}\`;`,
    count: `const [row] = await db${typed("<{ n: number }[]>")}\`${COUNT}\`;\n  return row?.n ?? 0;`,
    drop: "await db`drop schema ${db(schema)} cascade`;",
    close: "await db.end();",
    write: `await tx${TAGGED};`,
  }),
  drizzle: () => ({
    imports: [
      'import { sql } from "drizzle-orm";',
      'import { drizzle } from "drizzle-orm/node-postgres";',
      'import { pgTable, text } from "drizzle-orm/pg-core";',
      'import { Pool } from "pg";',
      'import { fromDrizzle } from "posthorn/orm";',
    ],
    typeImports: ['import type { NodePgDatabase } from "drizzle-orm/node-postgres";'],
    table: `export const received = pgTable("${TABLE}", {
  id: text().primaryKey(),
  type: text().notNull(),
  data: text().notNull(),
});`,
    types: {
      database: "NodePgDatabase & { $client: Pool }",
      transaction: 'Parameters<Parameters<Database["transaction"]>[0]>[0]',
    },
    inSchema: OPTIONS,
    open: `${POOL}\n  ${BROKEN}\n  return drizzle({ client: pool });`,
    client: "fromDrizzle(db, sql)",
    note: "// If drizzle-kit makes your tables, generate a migration for `received` and delete this line.",
    run: (statement) => `await db.execute(sql\`${statement}\`);`,
    count: "return db.$count(received);",
    drop: `await db.execute(sql.raw(${DROP}));`,
    close: "await db.$client.end();",
    write: `await tx.insert(received).values(${ROW});`,
    shared: ["received"],
  }),
  typeorm: (typed) => ({
    imports: [
      'import { fromTypeOrm } from "posthorn/orm";',
      'import { DataSource, EntitySchema } from "typeorm";',
    ],
    typeImports: ['import type { EntityManager } from "typeorm";'],
    table: `export const Received = new EntitySchema${typed("<{ id: string; type: string; data: string }>")}({
  name: "ReceivedEvent",
  tableName: "${TABLE}",
  columns: {
    id: { type: "text", primary: true },
    type: { type: "text" },
    data: { type: "text" },
  },
});`,
    types: { database: "DataSource", transaction: "EntityManager" },
    inSchema: `{ extra: ${OPTIONS} }`,
    open: 'return new DataSource({ type: "postgres", url, entities: [Received], ...options }).initialize();',
    client: "fromTypeOrm(db)",
    note: moveInto("TypeORM's"),
    run: (statement) => `await db.query("${statement}");`,
    count: "return db.manager.count(Received);",
    drop: `await db.query(${DROP});`,
    close: "await db.destroy();",
    write: `await tx.insert(Received, ${ROW});`,
    shared: ["Received"],
  }),
  kysely: (typed) => ({
    imports: [
      'import { CompiledQuery, Kysely, PostgresDialect, sql } from "kysely";',
      'import { Pool } from "pg";',
      'import { fromKysely } from "posthorn/orm";',
    ],
    typeImports: ['import type { Transaction as KyselyTransaction } from "kysely";'],
    table: typed(`interface Tables {
  ${TABLE}: { id: string; type: string; data: string };
}`),
    types: { database: "Kysely<Tables>", transaction: "KyselyTransaction<Tables>" },
    inSchema: OPTIONS,
    open: `${POOL}\n  ${BROKEN}\n  return new Kysely${typed("<Tables>")}({ dialect: new PostgresDialect({ pool }) });`,
    client: "fromKysely(db, CompiledQuery)",
    note: moveInto("Kysely's"),
    run: (statement) => `await sql\`${statement}\`.execute(db);`,
    count: `const query = db.selectFrom("${TABLE}").select((of) => of.fn.countAll().as("n"));
  const { n } = await query.executeTakeFirstOrThrow();
  return Number(n);`,
    drop: "await sql`drop schema ${sql.id(schema)} cascade`.execute(db);",
    close: "await db.destroy();",
    write: `await tx.insertInto("${TABLE}").values(${ROW}).execute();`,
  }),
  knex: () => ({
    imports: ['import knex from "knex";', 'import { fromKnex } from "posthorn/orm";'],
    typeImports: ['import type { Knex } from "knex";'],
    types: { database: "Knex", transaction: "Knex.Transaction" },
    inSchema: "{ searchPath: [schema] }",
    open: 'return knex({ client: "pg", connection: url, pool: { min: 0, max: 20 }, ...options });',
    client: "fromKnex(db)",
    note: `${NOTE}\n  ${moveInto("Knex'")}`,
    run: (statement) => `await db.raw("${statement}");`,
    count: `const row = await db("${TABLE}").count({ n: "*" }).first();\n  return Number(row?.["n"] ?? 0);`,
    drop: 'await db.raw("drop schema ?? cascade", [schema]);',
    close: "await db.destroy();",
    write: `await tx("${TABLE}").insert(${ROW});`,
  }),
  sequelize: (typed) => ({
    imports: [
      'import { fromSequelize } from "posthorn/orm";',
      'import { DataTypes, Model, Sequelize } from "sequelize";',
    ],
    typeImports: ['import type { Transaction as SequelizeTransaction } from "sequelize";'],
    table: `export class Received extends Model${typed("<{ id: string; type: string; data: string }>")} {}
const columns = {
  id: { type: DataTypes.TEXT, primaryKey: true },
  type: { type: DataTypes.TEXT, allowNull: false },
  data: { type: DataTypes.TEXT, allowNull: false },
};`,
    types: { database: "Sequelize", transaction: "SequelizeTransaction" },
    inSchema: `{ dialectOptions: ${OPTIONS} }`,
    open: `const db = new Sequelize(url, { logging: false, pool: { max: 20 }, ...options });
  Received.init(columns, { sequelize: db, tableName: "${TABLE}", timestamps: false });
  return db;`,
    client: "fromSequelize(db)",
    note: moveInto("Sequelize's"),
    run: (statement) => `await db.query("${statement}");`,
    count: "return Received.count();",
    drop: `await db.query(${DROP});`,
    close: "await db.close();",
    write: `await Received.create(${ROW}, { transaction: tx });`,
    shared: ["Received"],
  }),
  prisma: (typed, { prismaClient }) => ({
    imports: [
      'import { PrismaPg } from "@prisma/adapter-pg";',
      'import { fromPrisma } from "posthorn/orm";',
      `import { PrismaClient } from "${prismaClient}";`,
    ],
    typeImports: [`import type { Prisma } from "${prismaClient}";`],
    types: { database: "PrismaClient", transaction: "Prisma.TransactionClient" },
    inSchema: OPTIONS,
    open: `// Prisma names the schema of its models in every statement; a test's must not be those of "public".
  const adapter = new PrismaPg({ connectionString: url, max: 20, ...options }, { schema: schema ?? "public" });
  return new PrismaClient({ adapter });`,
    client: "fromPrisma(db)",
    note: `// The handler's own table: write to your models instead (tx.invoice.create), and delete this statement.
  // To Prisma Migrate, a table that schema.prisma does not name is a drift.`,
    run: (statement) => `await db.$executeRaw\`${statement}\`;`,
    count: `const [row] = await db.$queryRaw${typed("<{ n: number }[]>")}\`${COUNT}\`;\n  return row?.n ?? 0;`,
    drop: `await db.$executeRawUnsafe(${DROP});`,
    close: "await db.$disconnect();",
    write: `await tx.$executeRaw${TAGGED};`,
  }),
};

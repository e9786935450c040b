import type { Database, Project } from "./project.js";

/** How a template speaks to a database. */
export interface DatabasePart {
  /** The file that opens, migrates and closes it. */
  readonly file: string;
  /** The body of a handler's write; `tx` is the open transaction. */
  readonly write: string;
  /** SQLite's transactions are synchronous: its handlers have two steps. */
  readonly twoSteps: boolean;
}

/** The file `database` and the handler's write, for the project's database. */
export function databasePart(project: Project): DatabasePart {
  const typed = (text: string): string => (project.typescript ? text : "");
  return PARTS[project.database](typed);
}

type Typed = (text: string) => string;

const TABLE = "received_event";
const COLUMNS = "id text primary key, type text not null, data text not null";
const NOTE = "// The handler's own table: replace it by yours.";
const LISTEN = `// Without a listener, a connection that breaks while it is idle would end the process.
  pool.on("error", (error) => console.error("An idle connection broke:", error.message));`;
const INSERT = `insert into ${TABLE} (id, type, data) values`;

const PARTS: Readonly<Record<Database, (typed: Typed) => DatabasePart>> = {
  pg: (typed) => ({
    twoSteps: false,
    write: `await tx.query("${INSERT} ($1, $2, $3)", [event.id, event.type, JSON.stringify(event.data)]);`,
    file: `import { Pool } from "pg";
${typed('import type { PoolClient } from "pg";\n')}import { migrate, postgresStore } from "posthorn/postgres";

${typed("export type Database = Pool;\nexport type Transaction = PoolClient;\n\n")}/** Opens the database of DATABASE_URL; tests give a schema of their own. */
export async function openDatabase(schema${typed("?: string")})${typed(": Promise<Database>")} {
  const options = schema === undefined ? {} : { options: \`-c search_path=\${schema}\` };
  const pool = new Pool({ connectionString: process.env["DATABASE_URL"], max: 20, ...options });
  ${LISTEN}
  return pool;
}

/** Makes Posthorn's tables, in the schema "posthorn" or in that of a test, and the handler's. */
export async function migrateDatabase(db${typed(": Database")}, schema = "posthorn")${typed(": Promise<void>")} {
  await migrate(db, { schema });
  ${NOTE}
  await db.query("create table if not exists ${TABLE} (${COLUMNS})");
}

export function storeOf(db${typed(": Database")}, schema = "posthorn") {
  return postgresStore({ client: db, schema });
}

/** How many rows the handler has written. */
export async function countReceived(db${typed(": Database")})${typed(": Promise<number>")} {
  const { rows } = await db.query("select count(*)::int as n from ${TABLE}");
  return rows[0].n;
}

export async function dropSchema(db${typed(": Database")}, schema${typed(": string")})${typed(": Promise<void>")} {
  await db.query(\`drop schema \${schema} cascade\`);
}

export async function closeDatabase(db${typed(": Database")})${typed(": Promise<void>")} {
  await db.end();
}
`,
  }),
  drizzle: (typed) => ({
    twoSteps: false,
    write: `await tx.insert(received).values({ id: event.id, type: event.type, data: JSON.stringify(event.data) });`,
    file: `import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { pgTable, text } from "drizzle-orm/pg-core";
import { Pool } from "pg";
import { fromDrizzle } from "posthorn/orm";
import { migrate, postgresStore } from "posthorn/postgres";

${NOTE}
export const received = pgTable("${TABLE}", {
  id: text().primaryKey(),
  type: text().notNull(),
  data: text().notNull(),
});

${typed(`export type Database = ReturnType<typeof connect>;
export type Transaction = Parameters<Parameters<Database["transaction"]>[0]>[0];

`)}function connect(schema${typed("?: string")}) {
  const options = schema === undefined ? {} : { options: \`-c search_path=\${schema}\` };
  const pool = new Pool({ connectionString: process.env["DATABASE_URL"], max: 20, ...options });
  ${LISTEN}
  return drizzle(pool);
}

/** Opens the database of DATABASE_URL; tests give a schema of their own. */
export async function openDatabase(schema${typed("?: string")})${typed(": Promise<Database>")} {
  return connect(schema);
}

/** Makes Posthorn's tables, in the schema "posthorn" or in that of a test, and the handler's. */
export async function migrateDatabase(db${typed(": Database")}, schema = "posthorn")${typed(": Promise<void>")} {
  await migrate(fromDrizzle(db, sql), { schema });
  // If drizzle-kit makes your tables, generate a migration for \`received\` and delete this line.
  await db.execute(sql\`create table if not exists ${TABLE} (${COLUMNS})\`);
}

export function storeOf(db${typed(": Database")}, schema = "posthorn") {
  return postgresStore({ client: fromDrizzle(db, sql), schema });
}

/** How many rows the handler has written. */
export async function countReceived(db${typed(": Database")})${typed(": Promise<number>")} {
  return db.$count(received);
}

export async function dropSchema(db${typed(": Database")}, schema${typed(": string")})${typed(": Promise<void>")} {
  await db.execute(sql.raw(\`drop schema \${schema} cascade\`));
}

export async function closeDatabase(db${typed(": Database")})${typed(": Promise<void>")} {
  await db.$client.end();
}
`,
  }),
  typeorm: (typed) => ({
    twoSteps: false,
    write: `await tx.insert(Received, { id: event.id, type: event.type, data: JSON.stringify(event.data) });`,
    file: `import { fromTypeOrm } from "posthorn/orm";
import { migrate, postgresStore } from "posthorn/postgres";
import { DataSource, EntitySchema } from "typeorm";
${typed('import type { EntityManager } from "typeorm";\n')}
${NOTE}
export const Received = new EntitySchema${typed("<{ id: string; type: string; data: string }>")}({
  name: "ReceivedEvent",
  tableName: "${TABLE}",
  columns: {
    id: { type: "text", primary: true },
    type: { type: "text" },
    data: { type: "text" },
  },
});

${typed("export type Database = DataSource;\nexport type Transaction = EntityManager;\n\n")}/** Opens the database of DATABASE_URL; tests give a schema of their own. */
export async function openDatabase(schema${typed("?: string")})${typed(": Promise<Database>")} {
  const options = schema === undefined ? {} : { extra: { options: \`-c search_path=\${schema}\` } };
  const url = process.env["DATABASE_URL"] ?? "";
  return new DataSource({ type: "postgres", url, entities: [Received], ...options }).initialize();
}

/** Makes Posthorn's tables, in the schema "posthorn" or in that of a test, and the handler's. */
export async function migrateDatabase(db${typed(": Database")}, schema = "posthorn")${typed(": Promise<void>")} {
  await migrate(fromTypeOrm(db), { schema });
  // If TypeORM's migrations make your tables, move this statement into one.
  await db.query("create table if not exists ${TABLE} (${COLUMNS})");
}

export function storeOf(db${typed(": Database")}, schema = "posthorn") {
  return postgresStore({ client: fromTypeOrm(db), schema });
}

/** How many rows the handler has written. */
export async function countReceived(db${typed(": Database")})${typed(": Promise<number>")} {
  return db.manager.count(Received);
}

export async function dropSchema(db${typed(": Database")}, schema${typed(": string")})${typed(": Promise<void>")} {
  await db.query(\`drop schema \${schema} cascade\`);
}

export async function closeDatabase(db${typed(": Database")})${typed(": Promise<void>")} {
  await db.destroy();
}
`,
  }),
  sqlite: (typed) => ({
    twoSteps: true,
    write: `tx.prepare("${INSERT} (?, ?, ?)").run(event.id, event.type, JSON.stringify(event.data));`,
    file: `import SQLite from "better-sqlite3";
import { migrate, sqliteStore } from "posthorn/sqlite";

${typed("export type Database = SQLite.Database;\nexport type Transaction = SQLite.Database;\n\n")}/** Opens the file of DATABASE_FILE; tests open one in memory. */
export async function openDatabase(file = process.env["DATABASE_FILE"] ?? "app.db")${typed(": Promise<Database>")} {
  return new SQLite(file);
}

/** Makes Posthorn's tables and the handler's. */
export async function migrateDatabase(db${typed(": Database")})${typed(": Promise<void>")} {
  await migrate(db);
  ${NOTE}
  db.exec("create table if not exists ${TABLE} (${COLUMNS})");
}

export function storeOf(db${typed(": Database")}) {
  return sqliteStore({ db, durability: db.memory ? "as_is" : "set" });
}

/** How many rows the handler has written. */
export async function countReceived(db${typed(": Database")})${typed(": Promise<number>")} {
  return db.prepare${typed("<[], { n: number }>")}("select count(*) as n from ${TABLE}").get()${typed("?")}.n${typed(" ?? 0")};
}

export async function closeDatabase(db${typed(": Database")})${typed(": Promise<void>")} {
  db.close();
}
`,
  }),
};

import { COLUMNS, NOTE, TABLE } from "./database-part.js";
import type { DatabasePart, Typed } from "./database-part.js";

/** How a driver or an ORM speaks to Postgres, as code of the written files. `db` is its open client, `tx` its transaction. */
export interface PostgresClient {
  /** What the file imports beside Posthorn's migrate and store, one statement each. */
  readonly imports: readonly string[];
  /** The same for types. */
  readonly typeImports: readonly string[];
  /** The handler's table in the words of the ORM. */
  readonly table?: string;
  /** The types of `db` and of `tx`. */
  readonly types: { readonly database: string; readonly transaction: string };
  /** The options that put a connection into `schema`; `open` spreads them as `options`. */
  readonly inSchema: string;
  /** Statements that return `db`, made of `url` and `options`. */
  readonly open: string;
  /** The client of Posthorn's store, made of `db`. */
  readonly client: string;
  /** What becomes of the statement that makes the handler's table. */
  readonly note: string;
  /** Runs a fixed statement on `db`. */
  readonly run: (statement: string) => string;
  /** Statements that return how many rows the handler's table has. */
  readonly count: string;
  /** Drops `schema`. */
  readonly drop: string;
  readonly close: string;
  /** The body of a handler's write. */
  readonly write: string;
  /** What `write` takes from the file, beside the store. */
  readonly shared?: readonly string[];
}

/** The file `database` of every client on Postgres. */
export function postgresPart(client: PostgresClient, typed: Typed): DatabasePart {
  const { write, shared = [] } = client;
  return { twoSteps: false, write, shared, file: postgresFile(client, typed) };
}

const STORE = 'import { migrate, postgresStore } from "posthorn/postgres";';

function postgresFile(client: PostgresClient, typed: Typed): string {
  const { database, transaction } = client.types;
  const named = typed(`export type Database = ${database};\nexport type Transaction = ${transaction};\n\n`);
  const { table = "" } = client;
  const declared = table === "" ? "" : `${NOTE}\n${table}\n\n`;
  const done = typed(": Promise<void>");
  const [db, schema] = [`db${typed(": Database")}`, `schema${typed(": string")}`];
  const types = client.typeImports.map(typed).filter((line) => line !== "");
  return `${[...client.imports, ...types, STORE].toSorted(byModule).join("\n")}

${declared}${named}/** Opens the database of DATABASE_URL; tests give a schema of their own. */
export async function openDatabase(schema${typed("?: string")})${typed(": Promise<Database>")} {
  const url = process.env["DATABASE_URL"];
  // Some drivers would take a database of this machine instead.
  if (!url) throw new Error("DATABASE_URL is not set.");
  const options = schema === undefined ? {} : ${client.inSchema};
  ${client.open}
}

/** Makes Posthorn's tables, in the schema "posthorn" or in that of a test, and the handler's. */
export async function migrateDatabase(${db}, schema = "posthorn")${done} {
  await migrate(${client.client}, { schema });
  ${client.note}
  ${client.run(`create table if not exists ${TABLE} (${COLUMNS})`)}
}

export function storeOf(${db}, schema = "posthorn") {
  return postgresStore({ client: ${client.client}, schema });
}

/** How many rows the handler has written. */
export async function countReceived(${db})${typed(": Promise<number>")} {
  ${client.count}
}

export async function dropSchema(${db}, ${schema})${done} {
  ${client.drop}
}

export async function closeDatabase(${db})${done} {
  ${client.close}
}
`;
}

/** Packages by their names, then files of the project; what one module exports stays in its order. */
function byModule(one: string, other: string): number {
  const [first, second] = [moduleOf(one), moduleOf(other)];
  const own = Number(first.startsWith(".")) - Number(second.startsWith("."));
  if (own !== 0 || first === second) return own;
  return first < second ? -1 : 1;
}

function moduleOf(statement: string): string {
  return /from "([^"]+)"/.exec(statement)?.[1] ?? "";
}

import { Client } from "pg";
import { migrate } from "posthorn/postgres";
import { startPostgres } from "../services/postgres-server.js";

/** Databases with the tables of `migrate`, each for one process. */
export interface Databases {
  /** Runs `work` with the address of an empty one. */
  with<T>(work: (url: string) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const TEMPLATE = "posthorn_mutants_template";

/** Starts a server of its own, or uses the one of DATABASE_URL. */
export async function openDatabases(): Promise<Databases> {
  const given = process.env["DATABASE_URL"];
  const server = given === undefined ? await startPostgres({ durable: false }) : undefined;
  const url = given ?? server?.urlOf("postgres") ?? "";
  let made = 0;
  const query = (text: string): Promise<void> =>
    asOwner(url, async (owner) => void (await owner.query(text)));
  try {
    await query(`drop database if exists ${TEMPLATE}`);
    await query(`create database ${TEMPLATE} template template0`);
    await asOwner(databaseUrl(url, TEMPLATE), (client) => migrate(client));
  } catch (error) {
    await server?.stop();
    throw error;
  }
  return {
    async with(work) {
      const name = `posthorn_mutant_${process.pid}_${++made}`;
      await query(`create database ${name} template ${TEMPLATE}`);
      try {
        return await work(databaseUrl(url, name));
      } finally {
        await query(`drop database if exists ${name} with (force)`);
      }
    },
    async close() {
      if (server === undefined) await query(`drop database if exists ${TEMPLATE}`);
      await server?.stop();
    },
  };
}

function databaseUrl(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}

async function asOwner(url: string, work: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

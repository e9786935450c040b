import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { migrate } from "posthorn/postgres";
import type { PostgresServer } from "../services/postgres-server.js";

/** Makes a database with Posthorn's tables on a server of the campaign's own, and says where it is. */
export async function createDatabase(server: PostgresServer, name: string, where = ""): Promise<string> {
  await asOwner(server, "postgres", (client) =>
    client.query(`create database ${name} template template0 ${where}`),
  );
  await asOwner(server, name, (client) => migrate(client));
  return server.urlOf(name);
}

export async function asOwner<T>(
  server: PostgresServer,
  database: string,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({ connectionString: server.urlOf(database), application_name: "posthorn-prove" });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The process of the server, told by one of its children. */
export async function postmasterOf(server: PostgresServer): Promise<number> {
  const pid = await asOwner(server, "postgres", async (client) => {
    const { rows } = await client.query<{ pid: number; parent: number }>("select pg_backend_pid() as pid");
    return parentOf(rows[0]?.pid ?? 0);
  });
  if (pid === undefined) throw new Error("/proc does not tell who the server is");
  return pid;
}

/** Ends the server as a machine does that loses its power, but for the disk's own memory: no process of it says a word. */
export async function killServer(server: PostgresServer): Promise<void> {
  const postmaster = await postmasterOf(server);
  const children = childrenOf(postmaster);
  const ended = server.kill("SIGKILL");
  for (const child of children) endNow(child);
  await ended;
  // The next one refuses to start while memory of this one is in use.
  while (children.some((child) => existsSync(`/proc/${child}`))) await sleep(5);
}

/** Ends the sessions of hosts, as many as asked; says how many there were. */
export async function terminateSessions(server: PostgresServer, many: number): Promise<number> {
  return asOwner(server, "postgres", async (client) => {
    const { rowCount } = await client.query(
      `select pg_terminate_backend(pid) from (
         select pid from pg_stat_activity where application_name like 'posthorn-crash%' and application_name not like '%reader'
         order by random() limit $1
       ) as victims`,
      [many],
    );
    return rowCount ?? 0;
  });
}

function endNow(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

function childrenOf(parent: number): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent);
}

/** Undefined where there is no such process. */
function parentOf(pid: number): number | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may hold anything; what follows it are fields.
    return Number(line.slice(line.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return undefined;
  }
}

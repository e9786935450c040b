import { spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import type { TestProject } from "vitest/node";
import { migrate } from "../../library/src/stores/postgres/migrate.js";
import { startPostgres } from "../services/postgres-server.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
const TEMPLATE = "posthorn_crash_template";

/**
 * The global setup of the project "crash": one Postgres that keeps what it has committed, for the whole run. The
 * hosts run on the built library, so it is built first where the source is newer.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  buildWhereStale();
  const server = await startPostgres({ durable: true });
  try {
    const owner = new Client({ connectionString: server.urlOf("postgres") });
    await owner.connect();
    await owner.query(`create database ${TEMPLATE} template template0`);
    await owner.end();
    const client = new Client({ connectionString: server.urlOf(TEMPLATE) });
    await client.connect();
    await migrate(client);
    // Ended before anyone clones it: a database with connections cannot be a template.
    await client.end();
  } catch (error) {
    await server.stop();
    throw error;
  }
  project.provide("postgresUrl", server.urlOf("postgres"));
  project.provide("postgresTemplate", TEMPLATE);
  return () => server.stop();
}

function buildWhereStale(): void {
  const newest = (folder: string, name: RegExp): number =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((path) => name.test(path))
      .reduce((latest, path) => Math.max(latest, statSync(join(root, folder, path)).mtimeMs), 0);
  const built = statSync(join(root, "library/dist/index.js"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (built > newest("library/src", /(?<!\.test)\.ts$/)) return;
  const { status } = spawnSync("npm", ["run", "--silent", "build"], { cwd: root, stdio: "inherit" });
  if (status !== 0) throw new Error("The library does not build, so that there is nothing to kill.");
}

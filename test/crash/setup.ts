import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import type { TestProject } from "vitest/node";
import { migrate } from "../../library/src/stores/postgres/migrate.js";
import { startPostgres } from "../services/postgres-server.js";
import type { PostgresServer } from "../services/postgres-server.js";

declare module "vitest" {
  interface ProvidedContext {
    /** The folder in which the hosts run. */
    crashHome: string;
  }
}

const root = fileURLToPath(new URL("../../", import.meta.url));
const TEMPLATE = "posthorn_crash_template";

/**
 * The global setup of the project "crash": the library, built for this run, and one Postgres that keeps what it has
 * committed.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const home = mkdtempSync(join(tmpdir(), "posthorn-crash-"));
  let server: PostgresServer | undefined;
  const teardown = async (): Promise<void> => {
    await server?.stop();
    rmSync(home, { recursive: true, force: true });
  };
  try {
    installHost(home);
    server = await startPostgres({ durable: true });
    await createTemplate(server);
  } catch (error) {
    await teardown();
    throw error;
  }
  project.provide("crashHome", home);
  project.provide("postgresUrl", server.urlOf("postgres"));
  project.provide("postgresTemplate", TEMPLATE);
  return teardown;
}

/** A workspace of the hosts' own, with the library built in it: a build elsewhere must not meet a host that starts. */
function installHost(home: string): void {
  mkdirSync(join(home, "node_modules"));
  for (const name of ["@types", "better-sqlite3", "pg", "postgres", "undici"])
    symlinkSync(join(root, "node_modules", name), join(home, "node_modules", name));
  symlinkSync(join(home, "library"), join(home, "node_modules/posthorn"));
  for (const path of ["tsconfig.base.json", "library/package.json", "library/tsconfig.json", "library/src"])
    cpSync(join(root, path), join(home, path), { recursive: true });
  cpSync(join(root, "test/crash/host"), join(home, "host"), { recursive: true });
  const build = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", "library"], {
    cwd: home,
    encoding: "utf8",
  });
  if (build.status !== 0)
    throw new Error(`The library does not build, so there is nothing to kill:\n${build.stdout}`);
}

async function createTemplate(server: PostgresServer): Promise<void> {
  const owner = new Client({ connectionString: server.urlOf("postgres") });
  await owner.connect();
  await owner.query(`create database ${TEMPLATE} template template0`);
  await owner.end();
  const client = new Client({ connectionString: server.urlOf(TEMPLATE) });
  await client.connect();
  await migrate(client);
  // Ended before anyone clones it: a database with connections cannot be a template.
  await client.end();
}

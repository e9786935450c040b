import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import type { TestProject } from "vitest/node";
import { migrate } from "../../library/src/stores/postgres/schema/migrate.js";
import { startPostgres } from "../services/postgres-server.js";
import type { PostgresServer } from "../services/postgres-server.js";
import { installHost } from "./install-host.js";

declare module "vitest" {
  interface ProvidedContext {
    /** The folder in which the hosts run. */
    crashHome: string;
  }
}

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

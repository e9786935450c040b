import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startPostgres } from "../services/postgres-server.js";
import type { PostgresServer } from "../services/postgres-server.js";
import { installBoth } from "./install.js";
import { packBoth } from "./pack.js";
import type { Tarballs } from "./pack.js";

declare module "vitest" {
  interface ProvidedContext {
    tarballs: Tarballs;
    /** A project in which both packages are installed. */
    installed: string;
  }
}

/** The global setup of the project "packed": the tarballs, installed once, and a Postgres. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const home = mkdtempSync(join(tmpdir(), "posthorn-packed-"));
  let server: PostgresServer | undefined;
  const teardown = async (): Promise<void> => {
    await server?.stop();
    rmSync(home, { recursive: true, force: true });
  };
  try {
    const tarballs = await packBoth();
    await installBoth(home, tarballs);
    server = await startPostgres({ durable: false });
    project.provide("tarballs", tarballs);
    project.provide("installed", home);
    project.provide("postgresUrl", server.urlOf("postgres"));
  } catch (error) {
    await teardown();
    throw error;
  }
  return teardown;
}

import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { afterAll, inject } from "vitest";
import type { TestProject } from "vitest/node";
import { migrate } from "../library/src/stores/postgres/schema/migrate.js";
import { startPostgres } from "./services/postgres-server.js";
import type { RedisService } from "./services/redis-server.js";
import { noRedis, startRedis } from "./services/redis-server.js";

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
    postgresTemplate: string;
    redis: RedisService;
  }
}

/**
 * The global setup of the project "services": one Postgres and one Redis for the whole run. DATABASE_URL and
 * REDIS_URL are used where they are set; a server of somebody else is neither started nor stopped.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env["DATABASE_URL"];
  // Tests of plans vacuum and analyze on their own: what autovacuum is at meanwhile keeps pages from being all visible.
  const settings = ["autovacuum=off"];
  const server = given === undefined ? await startPostgres({ durable: false, settings }) : undefined;
  const redis = process.env["REDIS_URL"] === undefined ? await startRedis() : undefined;
  const redisUrl = process.env["REDIS_URL"] ?? redis?.url;
  const url = given ?? server?.urlOf("postgres") ?? "";
  const template = `posthorn_template_${randomBytes(4).toString("hex")}`;
  const teardown = async (): Promise<void> => {
    if (!server) await asOwner(url, (owner) => owner.query(`drop database if exists ${template}`));
    await Promise.all([server?.stop(), redis?.stop()]);
  };
  try {
    await createTemplate(url, template);
  } catch (error) {
    await teardown();
    throw error;
  }
  project.provide("postgresUrl", url);
  project.provide("postgresTemplate", template);
  project.provide("redis", redisUrl === undefined ? { reason: noRedis } : { url: redisUrl });
  return teardown;
}

/** Redis for this test file: `describe("…", skipFor(redis.reason), …)` where it has a reason. */
export function redisService(): RedisService {
  return inject("redis");
}

/**
 * A database of this test file's own, with the tables of `migrate` unless told otherwise; dropped, whoever is
 * still connected, when the file ends.
 */
export async function freshDatabase({ migrated = true }: { migrated?: boolean } = {}): Promise<string> {
  const url = inject("postgresUrl");
  const name = `posthorn_test_${randomBytes(6).toString("hex")}`;
  const template = migrated ? inject("postgresTemplate") : "template0";
  await asOwner(url, (owner) => owner.query(`create database ${name} template ${template}`));
  afterAll(() => asOwner(url, (owner) => owner.query(`drop database if exists ${name} with (force)`)));
  return databaseUrl(url, name);
}

async function createTemplate(url: string, name: string): Promise<void> {
  await asOwner(url, (owner) => owner.query(`create database ${name} template template0`));
  // Ended before anyone clones it: a database with connections cannot be a template.
  await asOwner(databaseUrl(url, name), (client) => migrate(client));
}

function databaseUrl(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}

async function asOwner<T>(url: string, work: (client: Client) => Promise<T>): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

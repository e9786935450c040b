// Runs before the library is packed: a build without leftovers of older ones, and the files that npm takes from
// the package's own folder only.
import { execFileSync } from "node:child_process";
import { copyFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = new URL("../", import.meta.url);
const library = fileURLToPath(new URL("library/", root));

rmSync(new URL("library/dist/", root), { recursive: true, force: true });
execFileSync("npm", ["run", "--silent", "build"], { cwd: library, stdio: ["ignore", "ignore", "inherit"] });
for (const name of ["README.md", "LICENSE"])
  copyFileSync(new URL(name, root), new URL(`library/${name}`, root));

// Runs before a package is packed, in its folder: a build, which leaves nothing of older ones, and the files that npm takes
// from the package's own folder only.
import { execFileSync } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = process.cwd();
const root = new URL("../", import.meta.url);

execFileSync("npm", ["run", "--silent", "build"], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
copyFileSync(fileURLToPath(new URL("LICENSE", root)), join(folder, "LICENSE"));
// The pages are not in the package: a link to `docs/` would lead nowhere, in a registry as on the reader's disk.
const pages = "https://github.com/posthorn/posthorn/blob/main/";
const readme = readFileSync(new URL("README.md", root), "utf8");
const linked = readme
  .replaceAll(/(!\[[^\]]*\]\()(?![a-z]+:|#)/g, `$1${pages.replace("/blob/", "/raw/")}`)
  .replaceAll(/((?<!!)\[[^\]]*\]\()(?![a-z]+:|#)/g, `$1${pages}`);
writeFileSync(join(folder, "README.md"), linked);

import { createHash } from "node:crypto";
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the repository. */
export const root: string = fileURLToPath(new URL("../../", import.meta.url));

/** What a build, a pack and `npm start` need. */
const PARTS = [
  "package.json",
  "tsconfig.base.json",
  "README.md",
  "LICENSE",
  "scripts/prepack.mjs",
  ...["package.json", "tsconfig.json", "bin", "src"].map((path) => `library/${path}`),
  ...["package.json", "tsconfig.json", "src"].map((path) => `server/${path}`),
  ...["package.json", "tsconfig.json", "vite.config.ts", "index.html", "src"].map(
    (path) => `dashboard/${path}`,
  ),
];

const isWanted = (path: string): boolean => !path.endsWith(".test.ts");

/**
 * A copy of the repository as `npm ci` leaves it, nothing built, with the packages of the real one: whoever builds there
 * does not take the build away from others.
 */
export function copyCheckout(home: string): void {
  for (const path of PARTS) cpSync(join(root, path), join(home, path), { recursive: true, filter: isWanted });
  const modules = join(home, "node_modules");
  mkdirSync(join(modules, ".bin"), { recursive: true });
  const own = new Set(["posthorn", "posthorn-server", "posthorn-dashboard", ".bin", ".package-lock.json"]);
  for (const name of readdirSync(join(root, "node_modules")))
    if (!own.has(name)) symlinkSync(join(root, "node_modules", name), join(modules, name));
  symlinkSync("../library", join(modules, "posthorn"));
  symlinkSync("../server", join(modules, "posthorn-server"));
  for (const tool of ["tsc", "vite"])
    symlinkSync(join(root, "node_modules/.bin", tool), join(modules, ".bin", tool));
  // The library's: when npm links the commands, the server's is not yet built.
  linkCommand(modules, "posthorn/bin/posthorn.mjs");
}

/** Links a package's command, as npm does. */
export function linkCommand(modules: string, program: string): void {
  mkdirSync(join(modules, ".bin"), { recursive: true });
  chmodSync(join(modules, program), 0o755);
  symlinkSync(join("..", program), join(modules, ".bin/posthorn"));
}

/** Names the content of all that is packed. */
export function contentHash(): string {
  const hash = createHash("sha256");
  for (const path of PARTS.flatMap((part) => filesOf(join(root, part))).toSorted()) {
    const bytes = readFileSync(path);
    hash.update(`${relative(root, path)}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest("hex").slice(0, 16);
}

function filesOf(path: string): string[] {
  if (!statSync(path).isDirectory()) return isWanted(path) ? [path] : [];
  return readdirSync(path).flatMap((name) => filesOf(join(path, name)));
}

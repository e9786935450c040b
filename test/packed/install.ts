import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { linkCommand, root } from "./checkout.js";
import type { Tarballs } from "./pack.js";
import { mustRun } from "./run-program.js";

/** Installs the tarballs into a project, as npm would, but compiles nothing: other packages are those of the repository. */
export async function installBoth(project: string, { library, server }: Tarballs): Promise<void> {
  await installLibrary(project, library);
  const modules = join(project, "node_modules");
  await unpack(server, join(modules, "posthorn-server"));
  const text = readFileSync(join(modules, "posthorn-server/package.json"), "utf8");
  const { dependencies } = JSON.parse(text) as { readonly dependencies: Readonly<Record<string, string>> };
  // Those that it names and no others: one that it forgot to name is then missing here too.
  for (const name of Object.keys(dependencies)) link(modules, name);
  linkCommand(modules, "posthorn-server/dist/main.js");
}

/** The library alone; its command is linked by whoever wants it. */
export async function installLibrary(project: string, tarball: string): Promise<void> {
  mkdirSync(project, { recursive: true });
  writeFileSync(join(project, "package.json"), '{ "name": "shop", "private": true }\n');
  await unpack(tarball, join(project, "node_modules/posthorn"));
}

async function unpack(tarball: string, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await mustRun("tar", ["-xzf", tarball, "-C", folder, "--strip-components", "1"], { cwd: folder });
}

/** Links a package of the repository, compiled already, into a project. */
export function link(modules: string, name: string): void {
  const path = join(modules, name);
  if (existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(join(root, "node_modules", name), path);
}

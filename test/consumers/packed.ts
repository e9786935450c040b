import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { mustRun } from "./child.js";
import { root } from "./places.js";

export type Conditions = string | null | { readonly [condition: string]: Conditions };

/** The fields of the published package.json that consumers and their tools read. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly type?: string;
  readonly main?: string;
  readonly exports: Readonly<Record<string, Conditions>>;
  readonly imports?: Readonly<Record<string, Conditions>>;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** The library as a consumer gets it: the tarball of `npm pack`, and nothing of the workspace around it. */
export interface Packed {
  readonly tarball: string;
  readonly bytes: number;
  readonly manifest: Manifest;
  /** Every file in the tarball, by its path in the package. */
  readonly files: readonly string[];
  /** The names by which the package can be imported: "posthorn", "posthorn/verify" and so on. */
  /** Those that open without a peer. */
  readonly doors: readonly string[];
}

/** Builds the library and packs it into `folder`. */
export async function packLibrary(folder: string): Promise<Packed> {
  await mustRun("npm", ["run", "--silent", "build", "--workspace", "posthorn"], {
    cwd: root,
    timeoutMs: 180_000,
  });
  const { stdout } = await mustRun("npm", ["pack", "--json", "--pack-destination", folder], {
    cwd: join(root, "library"),
  });
  const [pack] = JSON.parse(stdout.slice(stdout.indexOf("["))) as { filename: string; size: number }[];
  if (pack === undefined) throw new Error(`npm pack wrote no tarball: ${stdout}`);
  const tarball = join(folder, pack.filename);
  const opened = join(folder, "opened");
  await extract(tarball, opened);
  const manifest = JSON.parse(await readFile(join(opened, "package.json"), "utf8")) as Manifest;
  return { tarball, bytes: pack.size, manifest, files: await listFiles(opened), doors: doorsOf(manifest) };
}

/** Puts the package where a package manager would. It has no dependencies, so there is nothing to resolve. */
export async function extract(tarball: string, folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await mustRun("tar", ["-xzf", tarball, "-C", folder, "--strip-components", "1"], { cwd: folder });
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
}

function doorsOf({ name, exports }: Manifest): string[] {
  return (
    Object.keys(exports)
      // Without the door of Nest, whose peers the consumer does not have: the lane `hosts` opens it.
      .filter((path) => path !== "./package.json" && path !== "./nest")
      .map((path) => `${name}${path.slice(1)}`)
  );
}

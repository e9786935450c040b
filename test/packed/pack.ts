import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contentHash, copyCheckout, root } from "./checkout.js";
import { mustRun } from "./run-program.js";

/** The tarballs of `npm pack`. */
export interface Tarballs {
  readonly library: string;
  readonly server: string;
}

const KEPT = 3;

/** Packs both packages with their own scripts; what was packed from the same content before is taken as it is. */
export async function packBoth(): Promise<Tarballs> {
  const cache = join(root, ".cache/packed");
  const folder = join(cache, contentHash());
  if (!existsSync(folder)) await packInto(cache, folder);
  return { library: tarballIn(folder, /^posthorn-\d/), server: tarballIn(folder, /^posthorn-server-\d/) };
}

async function packInto(cache: string, folder: string): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "posthorn-pack-"));
  try {
    copyCheckout(home);
    const made = join(home, "made");
    mkdirSync(made);
    // The library first: the server is compiled against its build.
    for (const workspace of ["library", "server"])
      await mustRun("npm", ["pack", "--silent", "--pack-destination", made], { cwd: join(home, workspace) });
    mkdirSync(cache, { recursive: true });
    forgetOld(cache);
    // Under another name until it is whole: another run may look for it just now.
    const whole = mkdtempSync(join(cache, "new-"));
    cpSync(made, whole, { recursive: true });
    if (!existsSync(folder)) renameSync(whole, folder);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function forgetOld(cache: string): void {
  const byAge = readdirSync(cache)
    .map((name) => join(cache, name))
    .toSorted((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs);
  for (const path of byAge.slice(KEPT)) rmSync(path, { recursive: true, force: true });
}

function tarballIn(folder: string, name: RegExp): string {
  const found = readdirSync(folder).find((file) => name.test(file));
  if (found === undefined) throw new Error(`npm pack made no ${name} in ${folder}.`);
  return join(folder, found);
}

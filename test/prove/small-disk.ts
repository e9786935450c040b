import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A file system of a few megabytes. */
export interface SmallDisk {
  readonly folder: string;
  /** Takes all the room but so many bytes. */
  fill(but: number): void;
  /** Gives it back. */
  makeRoom(): void;
  remove(): void;
}

/** Makes one in memory; says why not, where this process may not. */
export function createSmallDisk(megabytes: number): SmallDisk | string {
  const folder = mkdtempSync(join(tmpdir(), "posthorn-disk-"));
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder], {
    encoding: "utf8",
  });
  if (mounted.status !== 0) {
    rmSync(folder, { recursive: true });
    return `a tmpfs could not be mounted (${mounted.error?.message ?? mounted.stderr.trim()})`;
  }
  const filler = join(folder, "filler");
  const remove = (): void => {
    process.off("exit", remove);
    spawnSync("umount", ["-l", folder]);
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", remove);
  return {
    folder,
    fill(but) {
      const { bavail, bsize } = statfsSync(folder);
      writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - but)));
    },
    makeRoom: () => rmSync(filler, { force: true }),
    remove,
  };
}

import { readFile, stat } from "node:fs/promises";
import type { Clock } from "../../clock.js";
import { systemClock } from "../../clock.js";

/** Whether a name stands in the hosts file. */
export type InHostsFile = (name: string) => Promise<boolean>;

const PATH =
  process.platform === "win32"
    ? `${process.env["SystemRoot"] ?? String.raw`C:\Windows`}\\System32\\drivers\\etc\\hosts`
    : "/etc/hosts";
const LOOK_AGAIN_MS = 5000;

/** Reads the hosts file again when it was changed, and looks for that every few seconds. Without a file, no name is in it. */
export function hostsFile(path: string = PATH, clock: Pick<Clock, "monotonic"> = systemClock): InHostsFile {
  let names: ReadonlySet<string> = new Set();
  let changedAt: number | undefined;
  let looked: Promise<void> | undefined;
  let lookedAt = -Infinity;
  const look = async (): Promise<void> => {
    try {
      const { mtimeMs } = await stat(path);
      if (mtimeMs === changedAt) return;
      names = hostsNames(await readFile(path, "utf8"));
      changedAt = mtimeMs;
    } catch {
      names = new Set();
      changedAt = undefined;
    }
  };
  return async (name) => {
    if (looked === undefined || clock.monotonic() - lookedAt >= LOOK_AGAIN_MS) {
      lookedAt = clock.monotonic();
      looked = look();
    }
    await looked;
    return names.has(name);
  };
}

/** The names of a hosts file, in lower case: on each line an address, then names, then a comment. */
export function hostsNames(text: string): ReadonlySet<string> {
  const names = new Set<string>();
  for (const line of text.split(/\r?\n/)) {
    const [, ...listed] = line.replace(/#.*$/, "").trim().split(/\s+/);
    for (const name of listed) names.add(name.toLowerCase().replace(/\.$/, ""));
  }
  return names;
}

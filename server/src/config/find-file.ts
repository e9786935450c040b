import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { CommandFailure } from "../terminal/failure.js";
import type { ConfigFault } from "./config-fault.js";
import { SETTINGS } from "./table.js";

export interface FoundFile {
  /** The path as it was given, for messages. */
  readonly path: string;
  readonly text: string;
}

const USUAL_NAME = "posthorn.yaml";
// A larger file is no configuration, and the parser would hold all of it in memory.
const MOST_BYTES = 262_144;

/** Reads the given file, or posthorn.yaml in the working directory if it exists. */
export function findConfigFile(named: string | undefined, workingDir: string): FoundFile | undefined {
  const path = named ?? USUAL_NAME;
  try {
    const whole = resolve(workingDir, path);
    if (statSync(whole).size > MOST_BYTES) throw tooLarge(path);
    return { path, text: readFileSync(whole, "utf8") };
  } catch (cause) {
    if (cause instanceof CommandFailure) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    if (named === undefined && code === "ENOENT") return undefined;
    throw new CommandFailure(
      "usage",
      `The configuration file ${path} cannot be read (${code ?? "unknown"}).`,
      {
        code: "config_unreadable",
        cure: "Name a file with --config; `posthorn config > posthorn.yaml` makes one.",
        cause,
      },
    );
  }
}

/** Warns of a file with a secret in it that others may read; undefined where all is well or unknown. */
export function looseFile(
  found: FoundFile,
  origins: ReadonlyMap<string, string>,
  workingDir: string,
): ConfigFault | undefined {
  const secret = SETTINGS.find(
    (setting) => setting.secret !== undefined && origins.get(setting.name)?.startsWith(`${found.path}:`),
  );
  if (secret === undefined || process.platform === "win32") return undefined;
  const { mode } = statSync(resolve(workingDir, found.path));
  if ((mode & 0o077) === 0) return undefined;
  return {
    where: origins.get(secret.name) ?? found.path,
    message: `"${secret.key}" is secret, and other users may read the file: chmod 600 ${found.path}`,
  };
}

function tooLarge(path: string): CommandFailure {
  return new CommandFailure("usage", `The configuration file ${path} is larger than ${MOST_BYTES} bytes.`);
}

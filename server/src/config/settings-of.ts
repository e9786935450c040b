import type { Command } from "commander";
import { findConfigFile, looseFile } from "./find-file.js";
import { givenFlags } from "./flags.js";
import type { Loaded } from "./load.js";
import { loadSettings } from "./load.js";

export interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDir: string;
}

/** The settings of a command: from its flags, the environment and the file. */
export function settingsOf(command: Command, { environment, workingDir }: Surroundings): Loaded {
  const { config, values } = givenFlags(command);
  const file = findConfigFile(config ?? (environment["POSTHORN_CONFIG"] || undefined), workingDir);
  const loaded = loadSettings({ flags: values, environment, file, workingDir });
  const loose = file && looseFile(file, loaded.origins, workingDir);
  return loose === undefined ? loaded : { ...loaded, warnings: [...loaded.warnings, loose] };
}

import type { Command } from "commander";
import { findConfigFile, looseFile } from "./find-file.js";
import type { Raw } from "./kinds.js";
import { loadSettings } from "./load.js";
import type { Loaded } from "./load.js";
import type { AnySetting } from "./table.js";
import { flagOf, SETTINGS } from "./table.js";

/** The settings that name the database. */
export const PLACE_KEYS: readonly string[] = ["data_dir", "database", "database_file", "schema"];

/**
 * Gives a command a flag for every setting, or for those of these keys, and one for the file; its own flags stand before them in
 * the help.
 */
export function addSettingFlags(command: Command, keys?: readonly string[]): Command {
  command.helpOption("-h, --help", "Show this.");
  command.optionsGroup("Settings:");
  command.option(
    "--config <file>",
    "Read settings from this file (default: ./posthorn.yaml, where there is one).",
  );
  for (const setting of SETTINGS.filter(({ key }) => keys?.includes(key) ?? true)) {
    const { kind, doc, flagSays = doc[0] } = setting;
    const value = kind.placeholder === undefined ? "" : ` <${kind.placeholder}>`;
    command.option(flagOf(setting) + value, flagSays + defaultText(setting));
  }
  return command;
}

/** Not as commander's own default: a value that a flag has would win over the file. */
function defaultText({ default: byDefault }: AnySetting): string {
  if (byDefault === undefined || typeof byDefault === "boolean") return "";
  const text = Array.isArray(byDefault) ? byDefault.join(",") : String(byDefault);
  return text === "" ? "" : ` (default: ${text})`;
}

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

/**
 * The flags of a command line that name its database, for a line to paste: without them, the pasted command would take another
 * database, or make a new one. A URL may hold a password, and is not repeated.
 */
export function placeFlags(command: Command): string {
  const { config, values } = givenFlags(command);
  const given = PLACE_KEYS.flatMap((key) => {
    const value = values.get(key);
    if (typeof value !== "string") return [];
    return [`--${key.replaceAll("_", "-")} ${key === "database" ? "…" : pasted(value)}`];
  });
  return [...(config === undefined ? [] : [`--config ${pasted(config)}`]), ...given]
    .map((flag) => ` ${flag}`)
    .join("");
}

function pasted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

interface GivenFlags {
  readonly config: string | undefined;
  /** By the setting's key. */
  readonly values: ReadonlyMap<string, Raw>;
}

/** The flags of the command line, without the values that commander fills in itself. */
function givenFlags(command: Command): GivenFlags {
  const options: Readonly<Record<string, unknown>> = command.opts();
  const values = new Map<string, Raw>();
  for (const { key } of SETTINGS) {
    const attribute = key.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    if (command.getOptionValueSource(attribute) !== "cli") continue;
    values.set(key, options[attribute] as Raw);
  }
  return { config: options["config"] as string | undefined, values };
}

import type { Command } from "commander";
import type { Raw } from "./kinds.js";
import { flagOf, SETTINGS } from "./table.js";

/** Gives a command a flag for every setting, and one for the file. */
export function addSettingFlags(command: Command): Command {
  command.option(
    "--config <file>",
    "read settings from this file (default: ./posthorn.yaml, where there is one)",
  );
  for (const setting of SETTINGS) {
    const { kind, doc } = setting;
    const value = kind.placeholder === undefined ? "" : ` <${kind.placeholder}>`;
    command.option(flagOf(setting) + value, doc[0]);
  }
  return command;
}

export interface GivenFlags {
  readonly config: string | undefined;
  /** By the setting's key. */
  readonly values: ReadonlyMap<string, Raw>;
}

/** The flags that were really given: commander also fills in values of its own, as `true` for what has a `--no-`. */
export function givenFlags(command: Command): GivenFlags {
  const options: Readonly<Record<string, unknown>> = command.opts();
  const values = new Map<string, Raw>();
  for (const { key } of SETTINGS) {
    const attribute = key.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    if (command.getOptionValueSource(attribute) !== "cli") continue;
    values.set(key, options[attribute] as Raw);
  }
  return { config: options["config"] as string | undefined, values };
}

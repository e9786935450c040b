import { resolve } from "node:path";
import { nearest } from "../nearest.js";
import { checkTogether, doubts } from "./check-together.js";
import { readKeyFile } from "../secrets/private-file.js";
import { CommandFailure } from "../terminal/failure.js";
import { postgresUrl } from "./kinds.js";
import type { Raw } from "./kinds.js";
import type { ConfigFault } from "./config-fault.js";
import { configRefused } from "./config-fault.js";
import type { FileValue } from "./read-file.js";
import { readConfigFile } from "./read-file.js";
import type { Settings } from "./settings.js";
import type { AnySetting } from "./table.js";
import { flagOf, SETTINGS, variableOf } from "./table.js";

/** Where a node's settings come from. A flag wins over a variable, that over the file, that over the default. */
export interface Given {
  /** By the setting's key. */
  readonly flags?: ReadonlyMap<string, Raw>;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly file?: { readonly path: string; readonly text: string } | undefined;
  /** What relative paths start at. */
  readonly workingDir: string;
}

/** The settings, and where each of them is from: a flag, a variable, a line, or `default`. */
export interface Loaded {
  readonly settings: Settings;
  readonly origins: ReadonlyMap<keyof Settings, string>;
  /** The file that was read. */
  readonly file: string | undefined;
  readonly warnings: readonly ConfigFault[];
}

/** Checks everything that was given and fills in defaults; throws with all mistakes. */
export function loadSettings(given: Given): Loaded {
  const file = given.file && readConfigFile(given.file.path, given.file.text);
  const problems = [...(file?.problems ?? [])];
  const values: Record<string, unknown> = {};
  const origins = new Map<keyof Settings, string>();
  for (const setting of SETTINGS) {
    const offers = offersOf(setting, given, file?.values);
    const read = offers.map(({ raw, where }) => ({ where, value: setting.kind.read(raw), raw }));
    // Values that another overrides are checked, too: they take effect once the other is removed.
    for (const offer of read) if (offer.value === undefined) problems.push(unfit(setting, offer));
    const chosen = read[0];
    values[setting.name] = chosen?.value ?? defaultOf(setting);
    origins.set(setting.name, chosen?.where ?? "default");
  }
  let settings = complete(values, given.workingDir);
  if (problems.length === 0) problems.push(...checkTogether(settings, origins));
  if (problems.length > 0) throw configRefused(problems);
  settings = withDatabaseFile(settings);
  const warnings = [...doubts(settings, origins), ...strangeVariables(given.environment ?? {})];
  return { settings, origins, file: given.file?.path, warnings };
}

/** The URL of the database from its file: everything after this sees one setting. */
function withDatabaseFile(settings: Settings): Settings {
  const { databaseFile, groupMayReadKeys } = settings;
  if (databaseFile === undefined) return settings;
  const database = postgresUrl.read(readKeyFile(databaseFile, { groupMayRead: groupMayReadKeys }));
  if (database !== undefined) return Object.freeze({ ...settings, database });
  throw new CommandFailure("usage", `${databaseFile} holds no URL of a database.`, {
    code: "database_file_malformed",
    cure: `Expected ${postgresUrl.expected}.`,
  });
}

/** The default settings with some changes, for tests. */
export function defaultSettings(change: Partial<Settings> = {}): Settings {
  return Object.freeze({ ...loadSettings({ workingDir: process.cwd() }).settings, ...change });
}

function offersOf(
  setting: AnySetting,
  { flags, environment = {} }: Given,
  file: ReadonlyMap<string, FileValue> | undefined,
): FileValue[] {
  const flag = flags?.get(setting.key);
  const variable = environment[variableOf(setting)];
  const line = file?.get(setting.key);
  return [
    ...(flag === undefined ? [] : [{ raw: flag, where: flagOf(setting) }]),
    // Compose files pass unset variables on as empty ones.
    ...(variable === undefined || variable === "" ? [] : [{ raw: variable, where: variableOf(setting) }]),
    ...(line === undefined ? [] : [line]),
  ];
}

function unfit(setting: AnySetting, { raw, where }: FileValue): ConfigFault {
  const found = setting.secret === undefined ? ` is ${JSON.stringify(raw)}` : " cannot be used";
  return { where, message: `"${setting.key}"${found}; expected ${setting.kind.expected}.` };
}

function defaultOf(setting: AnySetting): unknown {
  return setting.default === undefined ? undefined : setting.kind.read(setting.default);
}

function complete(values: Record<string, unknown>, workingDir: string): Settings {
  const settings = values as unknown as Settings;
  const absolute = (path: string | undefined): string | undefined =>
    path === undefined ? undefined : resolve(workingDir, path);
  return Object.freeze({
    ...settings,
    dataDir: absolute(settings.dataDir) ?? "",
    masterKeyFile: absolute(settings.masterKeyFile),
    databaseFile: absolute(settings.databaseFile),
  });
}

/** Set by others: Kubernetes sets POSTHORN_PORT and POSTHORN_SERVICE_HOST for a service called posthorn. */
const OTHERS = new Set(["POSTHORN_CONFIG", "POSTHORN_URL", "POSTHORN_TOKEN"]);

/** Warns of a variable whose name is nearly that of a setting. */
function strangeVariables(environment: Readonly<Record<string, string | undefined>>): ConfigFault[] {
  const known = new Set(SETTINGS.map(variableOf));
  return Object.keys(environment).flatMap((name) => {
    if (!name.startsWith("POSTHORN_") || known.has(name) || OTHERS.has(name)) return [];
    const short = name.slice("POSTHORN_".length).toLowerCase();
    const meant = nearest(
      short,
      SETTINGS.map((setting) => setting.key),
    );
    if (meant === undefined) return [];
    return [
      { where: name, message: `This variable means nothing. Did you mean POSTHORN_${meant.toUpperCase()}?` },
    ];
  });
}

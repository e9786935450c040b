import type { SettingInForce } from "posthorn/client";
import { stringify } from "yaml";
import type { Raw } from "./kinds.js";
import { printBytes, printDuration } from "./kinds.js";
import type { Loaded } from "./load.js";
import type { ListenAddress, Settings } from "./settings.js";
import type { AnySetting } from "./table.js";
import { flagOf, SECTIONS, variableOf } from "./table.js";

const HEAD = [
  "# posthorn.yaml: every setting of the server, with its default.",
  "# Lines that begin with `#` and a name are defaults: remove the `#` to change one.",
  "# A flag wins over a variable of the environment, and that over this file.",
];

/** The annotated file that `posthorn config` prints and docs/configuration.md shows. */
export function defaultFile(): string {
  const sections = SECTIONS.map(({ title, settings }) => {
    const rule = `# ${"-".repeat(4)} ${title} ${"-".repeat(Math.max(4, 104 - title.length))}`;
    return [rule, ...settings.map(settingLines)].join("\n\n");
  });
  return `${HEAD.join("\n")}\n\n${sections.join("\n\n")}\n`;
}

function settingLines(setting: AnySetting): string {
  const { key, doc, kind, example } = setting;
  const value = setting.default === undefined ? `# ${example ?? kind.expected}` : rawText(setting.default);
  const names = `# ${flagOf(setting)}  ${variableOf(setting)}`;
  return [...doc.map((sentence) => `# ${sentence}`), names, `#${key}: ${value}`].join("\n");
}

/** Every setting with its value and origin. Secrets are not shown. */
export function effectiveFile({ settings, origins, file }: Loaded): string {
  const head = file === undefined ? "# No file was read." : `# With ${file}.`;
  const lines = SECTIONS.flatMap((section) => section.settings).map((setting) => {
    const value = settingText(setting, settings[setting.name]);
    const from = origins.get(setting.name) ?? "default";
    return `${value === undefined ? `#${setting.key}:` : `${setting.key}: ${value}`}  # ${from}`;
  });
  return `${[head, ...lines].join("\n")}\n`;
}

/** The same for the API; where nobody kept the origins, a value that is not the default is from `start`. */
export function settingsInForce(
  settings: Settings,
  origins: Loaded["origins"] | undefined,
): readonly SettingInForce[] {
  return SECTIONS.flatMap(({ title, settings: rows }) =>
    rows.map((setting) => ({
      key: setting.key,
      section: title,
      value: settingText(setting, settings[setting.name]) ?? null,
      origin: origins?.get(setting.name) ?? "start",
      says: setting.doc[0],
    })),
  );
}

/** A value for people, without secrets; undefined where there is none. */
function settingText(setting: AnySetting, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (setting.secret === "whole") return '"[redacted]"';
  if (setting.secret === "password") return rawText(withoutPassword(value as string));
  if (setting.name === "listen") return rawText(addressText(value as ListenAddress));
  if (setting.kind.placeholder === "duration") return printDuration(value as number);
  if (setting.kind.placeholder === "size") return printBytes(value as number);
  return rawText(value as Raw);
}

function rawText(raw: Raw): string {
  return stringify(raw, { collectionStyle: "flow", lineWidth: 0, flowCollectionPadding: false }).trim();
}

export function addressText({ host, port }: ListenAddress): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** A database's URL for logs and messages. Its query may hold a password, too. */
export function withoutPassword(url: string): string {
  if (!URL.canParse(url)) return "[redacted]";
  const parsed = new URL(url);
  if (parsed.password !== "") parsed.password = "redacted";
  for (const name of parsed.searchParams.keys()) {
    if (/pass|secret|key/i.test(name)) parsed.searchParams.set(name, "redacted");
  }
  return parsed.href;
}

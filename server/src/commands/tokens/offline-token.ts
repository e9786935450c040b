import type { Command } from "commander";
import type { CreatedToken, TokenInput } from "posthorn/client";
import { settingsOf } from "../../config/flags.js";
import { withoutPassword } from "../../config/print.js";
import type { Settings } from "../../config/settings.js";
import { flagOf, SETTINGS } from "../../config/table.js";
import { databasePath } from "../../data-dir.js";
import { newToken } from "../../http/auth/new-token.js";
import { showToken, TOKEN_NAME } from "../../http/resources/token.js";
import type { NewToken } from "../../http/auth/new-token.js";
import { NO_SEAL } from "../../secrets/seal.js";
import { CommandFailure } from "../../terminal/failure.js";
import type { Printer } from "../../terminal/printer.js";
import type { CommandContext } from "../command-context.js";
import type { Flag } from "../define-command.js";

const NAMES: readonly (keyof Settings)[] = ["dataDir", "database", "schema"];

/** The settings that name the database; no other setting matters here. */
export const DATABASE_FLAGS: readonly Flag[] = [
  { form: "--config <file>", says: "With --offline: the server's configuration file." },
  ...SETTINGS.filter(({ name }) => NAMES.includes(name)).map((setting) => ({
    form: `${flagOf(setting)} <${setting.kind.placeholder ?? "value"}>`,
    says: `With --offline: ${setting.doc[0].charAt(0).toLowerCase()}${setting.doc[0].slice(1)}`,
  })),
];

const OF_DATABASE = ["config", ...NAMES];
const OF_SERVER = ["url", "token"];

/** Refuses flags that would have no effect: who names one database must not get a token of another. */
export function checkWhere(command: Command, offline: boolean): void {
  const idle = (offline ? OF_SERVER : OF_DATABASE).find(
    (name) => command.getOptionValueSource(name) === "cli",
  );
  if (idle === undefined) return;
  const flag = `--${idle.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  throw new CommandFailure(
    "usage",
    offline
      ? `${flag} names a server, and --offline asks none.`
      : `${flag} names a database, and only --offline uses one.`,
    {
      code: "flags_contradict",
      cure: offline ? `Leave ${flag} out.` : `Add --offline, or leave ${flag} out.`,
    },
  );
}

/** Makes a token in the database that the settings name. Whoever may write there may do everything anyhow. */
export async function createOffline(
  command: Command,
  { environment, clock }: CommandContext,
  { print, wanted }: { readonly print: Printer; readonly wanted: TokenInput },
): Promise<CreatedToken> {
  const { settings, warnings } = settingsOf(command, { environment, workingDir: process.cwd() });
  for (const { where, message } of warnings) print.warn(`${where}: ${message}`);
  const made = tokenFor(wanted, new Date(clock.now()));
  // Here and not at the top: other commands would wait for databases that they do not open.
  const { openStore } = await import("../../store/open-store.js");
  const store = await openStore(settings, { seal: NO_SEAL, beside: true });
  try {
    const age = await store.schemaAge();
    if (age !== "current") throw otherTables(settings, age);
    await store.registry.addToken(made.record);
  } finally {
    await store.close();
  }
  print.hint(`It was written into ${placeOf(settings)}; servers on it know it at once.`);
  return { ...showToken(made.record), token: made.token };
}

/** The API's own rule: other names could not be listed. */
function tokenFor({ name, scope, expiresAt }: TokenInput, createdAt: Date): NewToken {
  if (!new RegExp(TOKEN_NAME, "u").test(name)) {
    throw new CommandFailure("usage", "The name is not 1 to 100 characters that can be shown.", {
      code: "token_name_invalid",
    });
  }
  const until = expiresAt === undefined ? undefined : new Date(expiresAt);
  if (until !== undefined && !(until > createdAt)) {
    throw new CommandFailure("usage", `--expires is ${until.toISOString()}, which is not in the future.`, {
      code: "token_expired",
    });
  }
  return newToken({ name, scope, expiresAt: until }, createdAt);
}

function otherTables(settings: Settings, age: "older" | "newer"): CommandFailure {
  return new CommandFailure("failed", `The tables of ${placeOf(settings)} are ${age} than this version.`, {
    code: age === "newer" ? "store_newer" : "store_not_migrated",
    cure: `Use the \`posthorn\` that the server runs with${age === "newer" ? "" : ", or start this one's server once"}.`,
  });
}

function placeOf({ database, dataDir }: Settings): string {
  return database === undefined ? databasePath(dataDir) : withoutPassword(database);
}

import type { Command } from "commander";
import { existsSync } from "node:fs";
import type { Clock } from "posthorn";
import { addSettingFlags, PLACE_KEYS, settingsOf } from "../../config/flags.js";
import { databasePath } from "../../data-dir.js";
import { SEEN_EVERY_MS } from "../../observe/series-writer.js";
import { NO_SEAL } from "../../secrets/seal.js";
import { confirm } from "../../terminal/confirm.js";
import { count } from "../../terminal/for-people.js";
import { createPrinter } from "../../terminal/printer.js";
import type { Printer } from "../../terminal/printer.js";
import type { SeriesRegistry } from "../../store/series.js";
import { CommandFailure } from "../../terminal/failure.js";
import type { CommandContext } from "../command-context.js";

/** Adds `posthorn restored`. */
export function registerRestored(program: Command, context: CommandContext): void {
  const command = program
    .command("restored")
    .description(
      "After a backup was restored, and before a server starts on it: let receivers see that sequences begin anew.",
    )
    .option("-y, --yes", "Do not ask.")
    .option("--json", "Print JSON, for scripts.");
  addSettingFlags(command, PLACE_KEYS).addHelpText(
    "after",
    [
      "",
      "Examples:",
      "  posthorn restored --data-dir /var/lib/posthorn",
      "  posthorn restored --config /etc/posthorn/posthorn.yaml --yes",
    ].join("\n"),
  );
  command.action(() => restored(command, context));
}

async function restored(command: Command, { terminal, environment, clock }: CommandContext): Promise<void> {
  const { json, yes } = command.opts<{ readonly json?: boolean; readonly yes?: boolean }>();
  const print = createPrinter({ terminal, json: json === true, now: () => clock.now() });
  const { settings } = settingsOf(command, { environment, workingDir: process.cwd() });
  if (settings.database === undefined && !existsSync(databasePath(settings.dataDir)))
    throw noDatabase(settings.dataDir);
  // Here and not at the top: other commands would wait for databases that they do not open.
  const { openStore } = await import("../../store/open-store.js");
  const { tablesFailure } = await import("../../store/schema-age.js");
  // On SQLite this holds the data directory: with a server that runs, workers would go on under the old generations.
  const store = await openStore(settings, { seal: NO_SEAL });
  try {
    const age = await store.schemaAge();
    if (age !== "current") throw tablesFailure(age);
    if (store.kind === "postgres") await refuseWhileServed(store.registry, clock, print);
    await confirm(
      terminal,
      "Raise the generation of every lane? Receivers then forget what they know of the order before. Say yes only for a " +
        "database that was restored from a backup, while no server runs on it.",
      { yes: yes === true },
    );
    const lanes = await store.outbox.raiseGenerations();
    print.show({ lanes }, () => {
      print.line(`Raised the generation of ${count(lanes, "lane")}. Sequences begin anew; start the server.`);
    });
  } finally {
    await store.close();
  }
}

/** A mistyped directory must not become a new, empty database that is then "restored". */
function noDatabase(dataDir: string): CommandFailure {
  return new CommandFailure("failed", `There is no database in ${dataDir}. Nothing was made or changed.`, {
    code: "database_missing",
    cure: "Name the directory that holds it with --data-dir, or the server's configuration with --config.",
  });
}

/**
 * No lock tells of servers on Postgres, but each says every ten seconds that it runs. A backup may hold such a word of a moment
 * ago: only a word that is said anew is a server's.
 */
async function refuseWhileServed(
  registry: Pick<SeriesRegistry, "listNodes">,
  clock: Clock,
  print: Printer,
): Promise<void> {
  const before = await registry.listNodes(3 * SEEN_EVERY_MS);
  if (before.length === 0) return;
  print.hint("A server was on this database a moment ago. Waiting to see that it is not …");
  await clock.sleep(SEEN_EVERY_MS + 2000);
  const seen = new Map(before.map(({ name, seenAt }) => [name, seenAt.getTime()]));
  const running = (await registry.listNodes(3 * SEEN_EVERY_MS))
    .filter(({ name, seenAt }) => seen.get(name) !== seenAt.getTime())
    .map(({ name }) => name);
  if (running.length === 0) return;
  throw new CommandFailure("failed", `A server runs on this database: ${running.join(", ")}.`, {
    code: "database_served",
    cure: "Stop every server first: they would go on under the old generations. Nothing was changed.",
  });
}

import type { Command } from "commander";
import { addSettingFlags, PLACE_KEYS, settingsOf } from "../../config/flags.js";
import { NO_SEAL } from "../../secrets/seal.js";
import { createPrinter } from "../../terminal/printer.js";
import type { CommandContext } from "../command-context.js";

/** Adds `posthorn migrate`. */
export function registerMigrate(program: Command, context: CommandContext): void {
  const command = program
    .command("migrate")
    .description("Create and change the tables, for servers that run with --no-migrate.")
    .option("--json", "Print JSON, for scripts.");
  addSettingFlags(command, [
    ...PLACE_KEYS,
    "master_key",
    "master_key_file",
    "group_may_read_keys",
  ]).addHelpText(
    "after",
    ["", "Example:", "  posthorn migrate --database postgres://owner@db.example.com/posthorn"].join("\n"),
  );
  command.action(() => migrate(command, context));
}

async function migrate(command: Command, { terminal, environment, clock }: CommandContext): Promise<void> {
  const { json } = command.opts<{ readonly json?: boolean }>();
  const print = createPrinter({ terminal, json: json === true, now: () => clock.now() });
  const { settings } = settingsOf(command, { environment, workingDir: process.cwd() });
  // Here and not at the top: other commands would wait for databases that they do not open.
  const { openStore, sealOf } = await import("../../store/open-store.js");
  const { tablesFailure } = await import("../../store/schema-age.js");
  // Whoever changes tables on Postgres need not know the key. On SQLite it is made together with the file.
  const seal = settings.database === undefined ? sealOf(settings) : NO_SEAL;
  const store = await openStore(settings, { seal });
  try {
    if ((await store.schemaAge()) === "newer") throw tablesFailure("newer");
    const applied = await store.migrate();
    print.show({ applied }, () => {
      for (const name of applied) print.line(name);
      print.line(applied.length === 0 ? "The database is up to date." : "Done.");
    });
  } finally {
    await store.close();
  }
}

import { Command, CommanderError } from "commander";
import { createCommandContext } from "./commands/command-context.js";
import type { CommandContext } from "./commands/command-context.js";
import { registerCompletion } from "./commands/completion.js";
import { registerConfig } from "./commands/serve/config.js";
import { registerDoctor } from "./commands/doctor/doctor.js";
import { registerMigrate } from "./commands/serve/migrate.js";
import { registerRestored } from "./commands/serve/restored.js";
import { registerClientCommands } from "./commands/register.js";
import { registerServe } from "./commands/serve/serve.js";
import { packageVersion } from "./package-version.js";
import { EXIT_CODES } from "./terminal/failure.js";
import { createPrinter } from "./terminal/printer.js";

/** The whole program, ready to read its arguments. */
export function createProgram(context: CommandContext): Command {
  const program = new Command("posthorn")
    .description("Webhooks that land once, in order.")
    .version(packageVersion(), "-V, --version", "Print the version.")
    .option("--debug", "Show where an error comes from.")
    .addHelpText("after", `\n${exitCodesText()}`)
    // Before any command is made: commands take both from their parent.
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.terminal.write(text),
      writeErr: (text) => context.terminal.writeError(text),
    });
  registerServe(program, context);
  registerMigrate(program, context);
  registerRestored(program, context);
  registerConfig(program, context);
  registerDoctor(program, context);
  registerClientCommands(program, context);
  registerCompletion(program, context);
  return program;
}

/** Runs one command line, and says what the process ends with. */
export async function runCli(args: readonly string[], context?: CommandContext): Promise<number> {
  const around = context ?? createCommandContext();
  const program = createProgram(around);
  try {
    await program.parseAsync([...args], { from: "user" });
    return EXIT_CODES.ok;
  } catch (error) {
    // Commander has printed it.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_CODES.ok : EXIT_CODES.usage;
    const print = createPrinter({
      terminal: around.terminal,
      json: args.includes("--json"),
      now: () => around.clock.now(),
    });
    return EXIT_CODES[print.fail(error, { debug: args.includes("--debug") }).exit];
  }
}

const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT_CODES, string>> = {
  ok: "done",
  failed: "it failed",
  usage: "wrong arguments or configuration",
  unreachable: "the server cannot be reached",
  refused: "the server refused the token",
  interrupted: "interrupted",
};

function exitCodesText(): string {
  const lines = Object.entries(EXIT_CODES).map(
    ([name, code]) => `  ${String(code).padEnd(4)} ${EXIT_MEANINGS[name as keyof typeof EXIT_CODES]}`,
  );
  return ["Exit codes:", ...lines].join("\n");
}

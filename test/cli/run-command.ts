import { Command, CommanderError } from "commander";
import { createFakeClock } from "posthorn/testing";
import { createCommandContext } from "../../server/src/commands/command-context.js";
import type { CommandContext } from "../../server/src/commands/command-context.js";
import { registerClientCommands } from "../../server/src/commands/register.js";
import { EXIT_CODES } from "../../server/src/terminal/failure.js";
import { createPrinter } from "../../server/src/terminal/printer.js";
import { fakeClient } from "./fake-client.js";
import type { FakeClient } from "./fake-client.js";
import { fakeTerminal } from "./fake-terminal.js";
import type { FakeTerminal, FakeTerminalOptions } from "./fake-terminal.js";
import { NOW_MS } from "./samples.js";

export interface RunOptions extends FakeTerminalOptions {
  readonly client?: FakeClient;
  readonly context?: Partial<CommandContext>;
}

export interface RunResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly terminal: FakeTerminal;
  readonly client: FakeClient;
}

export const FAKE_ADDRESS = { POSTHORN_URL: "http://127.0.0.1:8710", POSTHORN_TOKEN: "phk_test" };

/** A program with every client command, whose world is the given one. */
export function fakeProgram(context: CommandContext): Command {
  const program = new Command("posthorn").exitOverride().configureOutput({
    writeOut: (text) => context.terminal.write(text),
    writeErr: (text) => context.terminal.writeError(text),
    getOutHelpWidth: () => 100,
    getOutHasColors: () => false,
  });
  registerClientCommands(program, context);
  return program;
}

/** Runs one command as a person would type it, without its first word. */
export async function runCommand(args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const terminal = fakeTerminal(options);
  const client = options.client ?? fakeClient();
  const context = createCommandContext({
    terminal,
    clock: createFakeClock({ at: NOW_MS }),
    environment: FAKE_ADDRESS,
    dataDir: "/nowhere/posthorn-data",
    connect: () => client,
    interrupted: () => new AbortController().signal,
    fetch: () => Promise.reject(new Error("Nobody expected a request.")),
    ...options.context,
  });
  const code = await exitCodeOf(context, args);
  return { code, out: terminal.out(), err: terminal.err(), terminal, client };
}

async function exitCodeOf(context: CommandContext, args: readonly string[]): Promise<number> {
  try {
    await fakeProgram(context).parseAsync(["node", "posthorn", ...args]);
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_CODES.usage;
    const json = args.includes("--json");
    const { terminal, clock } = context;
    return EXIT_CODES[createPrinter({ terminal, json, now: () => clock.now() }).fail(error).exit];
  }
}

import { InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";
import type { Client } from "posthorn/client";
import { nearest } from "../nearest.js";
import { CommandFailure } from "../terminal/failure.js";
import { createPrinter } from "../terminal/printer.js";
import type { Printer } from "../terminal/printer.js";
import type { CommandContext } from "./command-context.js";
import { serverAddress, serverUrl } from "./server-address.js";
import type { ServerAddress } from "./server-address.js";

/** One flag: its form, its sentence, and what checks its value. */
export interface Flag {
  readonly form: string;
  readonly says: string;
  readonly parse?: (text: string, before: never) => unknown;
  readonly choices?: readonly string[];
  readonly initial?: unknown;
  /** Whether the command cannot run without it. */
  readonly required?: boolean;
}

/** What a running command gets. */
export interface Run<Options> {
  readonly args: readonly string[];
  readonly options: Options;
  readonly print: Printer;
  readonly context: CommandContext;
  /** Of the server that the flags, the environment or cli.json name. */
  readonly address: () => ServerAddress;
  /** Its address alone, for what needs no token. */
  readonly url: () => string;
  readonly client: () => Client;
}

export interface CommandSpec<Options> {
  /** Name and arguments, as `show <id>`. */
  readonly form: string;
  readonly says: string;
  readonly examples: readonly string[];
  readonly flags?: readonly Flag[];
  /** Without a server: no --url and no --token. @default false */
  readonly local?: boolean;
  run(run: Run<Options>): Promise<void>;
}

export interface YesOption {
  readonly yes?: boolean;
}

/** For commands that cannot be undone. */
export const YES_FLAG: Flag = { form: "-y, --yes", says: "Do not ask." };

interface GivenOptions {
  readonly json?: boolean;
  readonly url?: string;
  readonly token?: string;
}

const SERVER_FLAGS: readonly Flag[] = [
  { form: "--url <address>", says: "The server's address (POSTHORN_URL)." },
  { form: "--token <token>", says: "The token for its API (POSTHORN_TOKEN)." },
];
const HELP = ["-h, --help", "Show this."] as const;
const JSON_FLAG: Flag = { form: "--json", says: "Print JSON, for scripts." };

/** Adds one command. All of them have the same flags for the server and for JSON, and an example in their help. */
export function defineCommand<Options>(
  parent: Command,
  context: CommandContext,
  spec: CommandSpec<Options>,
): Command {
  // `posthorn events` means `posthorn events list`, which most people want.
  const { flags = [], local = false } = spec;
  const isDefault = spec.form === "list" && !flags.some(({ required }) => required === true);
  const command = parent
    .command(spec.form, { isDefault })
    .description(spec.says)
    .helpOption(...HELP);
  if (isDefault) refuseUnknown(parent, command);
  for (const flag of [...flags, JSON_FLAG, ...(local ? [] : SERVER_FLAGS)]) command.addOption(optionOf(flag));
  command.addHelpText("after", examplesText(spec.examples));
  command.action(async (...handed: readonly unknown[]) => {
    const options = command.opts<GivenOptions>();
    // Commander hands over the arguments, then the options, then the command; a list of arguments is one of them.
    const args = handed
      .slice(0, -2)
      .flat()
      .filter((argument) => typeof argument === "string");
    const address = (): ServerAddress => serverAddress(options, context);
    await spec.run({
      args,
      options: options as Options,
      print: createPrinter({
        terminal: context.terminal,
        json: options.json === true,
        now: () => context.clock.now(),
      }),
      context,
      address,
      url: () => serverUrl(options, context),
      client: () => context.connect(address()),
    });
  });
  return command;
}

/** A command that only groups others. */
export function defineGroup(program: Command, name: string, says: string): Command {
  return program
    .command(name)
    .description(says)
    .helpOption(...HELP)
    .helpCommand(false);
}

/** A list takes no arguments: an argument was meant as the name of another command. */
function refuseUnknown(group: Command, list: Command): void {
  list.allowExcessArguments().hook("preAction", () => {
    const [wanted] = list.args;
    if (wanted === undefined) return;
    const names = group.commands.map((command) => command.name());
    const meant = nearest(wanted, names);
    throw new CommandFailure("usage", `There is no command "posthorn ${group.name()} ${wanted}".`, {
      cure:
        meant === undefined
          ? `There are ${names.join(", ")}.`
          : `Did you mean posthorn ${group.name()} ${meant}?`,
      code: "command_unknown",
    });
  });
}

function optionOf({ form, says, parse, choices, initial, required }: Flag): Option {
  const option = new Option(form, says);
  if (choices !== undefined) option.choices(choices);
  if (parse !== undefined) option.argParser(parse as (text: string, before: unknown) => unknown);
  if (initial !== undefined) option.default(initial);
  if (required === true) option.makeOptionMandatory();
  return option;
}

function examplesText(examples: readonly string[]): string {
  const title = examples.length === 1 ? "Example:" : "Examples:";
  return ["", title, ...examples.map((example) => `  ${example}`)].join("\n");
}

/** Reads a whole number of a flag. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`);
  };
}

/** Collects a flag that may be given several times. */
export function gather(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), text];
}

/** Reads an instant: ISO 8601, or a time from now such as `90s`, `15m`, `36h`, `7d`. */
export function instantAfter(now: () => number): (text: string) => string {
  return (text) => {
    const [, number, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
    if (number !== undefined && unit !== undefined) {
      return new Date(now() + Number(number) * (UNIT_MS[unit] ?? 0)).toISOString();
    }
    const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
    if (!Number.isNaN(at)) return new Date(at).toISOString();
    throw new InvalidArgumentError(
      "Expected a time such as 2027-01-31T12:00:00Z, or 15m, 36h or 7d from now.",
    );
  };
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

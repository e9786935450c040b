import { systemClock } from "posthorn";
import type { Clock } from "posthorn";
import { createClient } from "posthorn/client";
import type { Client, Fetch } from "posthorn/client";
import type { Environment } from "../terminal/colour.js";
import { processTerminal } from "../terminal/terminal.js";
import type { Terminal } from "../terminal/terminal.js";
import type { ServerAddress } from "./server-address.js";

/** The world around commands, which tests replace. */
export interface CommandContext {
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly environment: Environment;
  /** Where `posthorn serve` keeps its files, `cli.json` among them. */
  readonly dataDir: string;
  readonly fetch: Fetch;
  /** The client of a server's admin API. */
  connect(address: ServerAddress): Client;
  /** Aborts at Ctrl-C, for commands that go on until then. From the first call on, Ctrl-C does nothing else. */
  readonly interrupted: () => AbortSignal;
  /** How this program is started, for the demo's own server. */
  readonly program: readonly string[];
}

export const DEFAULT_DATA_DIR = "posthorn-data";

/** The context of this process. */
export function createCommandContext(given: Partial<CommandContext> = {}): CommandContext {
  const { environment = process.env } = given;
  return {
    terminal: given.terminal ?? processTerminal(environment),
    clock: systemClock,
    environment,
    dataDir: environment["POSTHORN_DATA_DIR"] ?? DEFAULT_DATA_DIR,
    fetch: (url, init) => fetch(url, init),
    connect: ({ url, token }) => createClient({ url, token }),
    interrupted: onceInterrupted(),
    program: [process.execPath, ...process.execArgv, process.argv[1] ?? ""],
    ...given,
  };
}

function onceInterrupted(): () => AbortSignal {
  let stop: AbortController | undefined;
  return () => {
    if (stop !== undefined) return stop.signal;
    const controller = new AbortController();
    stop = controller;
    const end = (): void => {
      // A second Ctrl-C ends the process.
      if (controller.signal.aborted) process.exit(130);
      controller.abort();
    };
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, end);
    return controller.signal;
  };
}

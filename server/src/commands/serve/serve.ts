import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { Command } from "commander";
import { cliFilePath, writeCliFile } from "../../cli-file.js";
import type { RunningServer } from "../../compose.js";
import { addSettingFlags, placeFlags, settingsOf } from "../../config/flags.js";
import { withoutPassword } from "../../config/print.js";
import type { Settings } from "../../config/settings.js";
import { makeDataDir } from "../../data-dir.js";
import { isLoopback } from "../../http/auth/host-check.js";
import type { Logger } from "../../observe/log.js";
import { CommandFailure, EXIT_CODES } from "../../terminal/failure.js";
import { createPrinter } from "../../terminal/printer.js";
import type { Printer } from "../../terminal/printer.js";
import type { CommandContext } from "../command-context.js";
import { untilStopped } from "./stop-signals.js";

/** Adds `posthorn serve`. */
export function registerServe(program: Command, context: CommandContext): void {
  const command = program
    .command("serve")
    .description("Run the server: take events in, deliver them, answer the API.");
  addSettingFlags(command).addHelpText(
    "after",
    ["", "Examples:", "  posthorn serve", "  posthorn serve --dev --listen 127.0.0.1:9000"].join("\n"),
  );
  command.action(() => serve(command, context));
}

async function serve(command: Command, context: CommandContext): Promise<void> {
  const { terminal, environment, clock } = context;
  const print = createPrinter({ terminal, json: false, now: () => clock.now() });
  const { settings, warnings, origins } = settingsOf(command, { environment, workingDir: process.cwd() });
  for (const { where, message } of warnings) print.warn(`${where}: ${message}`);
  const node = newNodeId();
  // Here and not at the top: other commands would wait half a second for a server that they do not start.
  const { startServer } = await import("../../compose.js");
  const { createLog } = await import("../../observe/log.js");
  const log = createLog(
    settings,
    { write: (text) => terminal.writeError(text), isTty: terminal.errorIsTty, colour: terminal.errorColour },
    node,
  );
  // From here on: a signal that comes while it starts must not leave a half-started node behind.
  const signals = untilStopped(process, {
    clock,
    atOnce: () => process.exit(EXIT_CODES.interrupted),
  });
  const crashed = (error: Error): void => log.error({ err: error }, "crashed");
  process.on("uncaughtExceptionMonitor", crashed);
  try {
    const server = await startServer(settings, {
      log,
      node,
      clock,
      seen: terminal.isTty,
      origins,
    });
    noteAddress(server, settings, log);
    announce(server, settings, print, placeFlags(command));
    await signals.stopped;
    log.info({}, "stopping: what is under way is finished; a second signal ends it at once");
    if (!(await server.stop())) throw stopLate(settings);
    log.info({}, "stopped");
  } finally {
    process.removeListener("uncaughtExceptionMonitor", crashed);
    signals.release();
  }
}

/** Unique per boot: two processes on one machine, or one that came back, are never taken for each other. */
function newNodeId(): string {
  const host = hostname()
    .replaceAll(/[^\w.-]/g, "")
    .slice(0, 40);
  return `${host || "node"}-${randomBytes(4).toString("hex")}`;
}

/** For the CLI on this machine. A node in a container may have no place to write, and works without. */
function noteAddress(
  { url, firstToken, store }: RunningServer,
  { dataDir, roles }: Settings,
  log: Logger,
): void {
  // The CLI would ask a node that has no API.
  if (!roles.includes("api")) return;
  try {
    if (store === "postgres" && firstToken !== undefined) makeDataDir(dataDir);
    if (store === "sqlite" || firstToken !== undefined) writeCliFile(dataDir, url, firstToken?.token);
  } catch (error) {
    log.warn({ err: error, file: cliFilePath(dataDir) }, "the address was not written down for the CLI");
  }
}

/** `place` are the flags that name the database, for the line to paste. */
function announce(server: RunningServer, settings: Settings, print: Printer, place: string): void {
  const { url, firstToken, store } = server;
  const { roles, dataDir, dev, database, listen, behindProxy } = settings;
  print.line({ text: `Posthorn is ready at ${url}`, tone: "strong" });
  print.facts([
    ["does", roles.join(", ") + (dev ? " (dev: endpoints may be on loopback and without TLS)" : "")],
    ["data", store === "sqlite" ? dataDir : withoutPassword(database ?? "")],
  ]);
  if (firstToken?.random === true) {
    // On a line of its own, whole: facts are cut to the width of the terminal.
    print.line("token ", { text: firstToken.token, tone: "name" });
    print.line(`It is shown this once. The CLI on this machine reads it from ${cliFilePath(dataDir)}`);
  }
  if (server.withoutToken) {
    print.line(
      "There is no token yet, and nobody reads this who could be shown one. Make it in the database:",
    );
    print.line(
      `  posthorn token create NAME --offline${place || (store === "sqlite" ? ` --data-dir ${dataDir}` : "")}`,
    );
  }
  // Others may read the log of a server that others can reach.
  if (roles.includes("api") && !server.withoutToken && isLoopback(listen.host) && !behindProxy) {
    print.line("");
    print.line("Dashboard (the link signs you in once, within ten minutes):");
    print.line("  ", { text: server.signInUrl, tone: "name" });
  }
  print.line("");
  print.line("Try it:");
  print.line(`  ${tryLine(url, firstToken?.random === true ? firstToken.token : undefined)}`);
  print.line("");
  if (!isLoopback(listen.host) && !behindProxy) {
    print.warn(
      `${listen.host} can be reached by others, and without TLS they can read tokens and events on the way. ` +
        "Put a proxy with TLS in front of it and say --behind-proxy.",
    );
  }
}

/** Something that answers, whatever the state of the database. */
function tryLine(url: string, token: string | undefined): string {
  if (token === undefined) return `curl ${url}/healthz`;
  const event = '{"type":"hello.world","data":{"from":"curl"}}';
  return `curl ${url}/api/v1/events -H 'authorization: Bearer ${token}' -H 'content-type: application/json' -d '${event}'`;
}

function stopLate({ stopTimeoutMs }: Settings): CommandFailure {
  return new CommandFailure("failed", `The stop took longer than ${stopTimeoutMs} ms and was cut off.`, {
    code: "stop_late",
    cure: "Nothing is lost: what was under way is delivered again. The log says which part was slow.",
  });
}

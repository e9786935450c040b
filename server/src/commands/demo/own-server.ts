import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "posthorn";
import { CommandFailure } from "../../terminal/failure.js";
import type { CommandContext } from "../command-context.js";
import type { ServerAddress } from "../server-address.js";

/** A server in a temporary directory, which is removed with it. */
export interface OwnServer {
  readonly address: ServerAddress;
  stop(): Promise<void>;
}

const START_MS = 20_000;
const STOP_MS = 10_000;
const LOOK_MS = 100;

/** Starts `posthorn serve --dev` in a temporary directory. */
export async function startOwnServer(context: CommandContext): Promise<OwnServer> {
  const directory = mkdtempSync(join(tmpdir(), "posthorn-demo-"));
  const listen = `127.0.0.1:${await freePort()}`;
  const [file = process.execPath, ...args] = context.program;
  const child = spawn(file, [...args, "serve", "--dev", "--data-dir", directory, "--listen", listen], {
    // A posthorn.yaml elsewhere, or the environment, could name a real database.
    cwd: directory,
    env: Object.fromEntries(
      Object.entries(context.environment).filter(([name]) => !name.startsWith("POSTHORN_")),
    ),
    // A group of its own: Ctrl-C must not stop it before the demo has cleaned up.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const words = tailOf(child);
  const endWithUs = (): void => void child.kill("SIGKILL");
  process.once("exit", endWithUs);
  const stop = async (): Promise<void> => {
    process.off("exit", endWithUs);
    await ended(child, context.clock);
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    return { address: await written(join(directory, "cli.json"), child, context), stop };
  } catch (error) {
    await stop();
    if (error instanceof CommandFailure) throw error;
    throw new CommandFailure("failed", `The demo's own server did not start. It said: ${words()}`, {
      cure: "Start one with `posthorn serve --dev`, and the demo again beside it.",
      cause: error,
    });
  }
}

function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

/** The server's last output, in case it does not start. */
function tailOf(child: ChildProcess): () => string {
  let tail = "";
  const keep = (chunk: unknown): void => {
    tail = (tail + String(chunk)).slice(-2000);
  };
  child.stdout?.on("data", keep);
  child.stderr?.on("data", keep);
  // Where there is no such program at all.
  child.on("error", keep);
  return () => tail.trim() || "nothing";
}

async function written(path: string, child: ChildProcess, context: CommandContext): Promise<ServerAddress> {
  const { clock } = context;
  const signal = context.interrupted();
  const until = clock.monotonic() + START_MS;
  while (clock.monotonic() < until && child.exitCode === null) {
    if (signal.aborted) throw new CommandFailure("interrupted", "The demo was ended before it began.");
    const address = existsSync(path) ? readAddress(path) : undefined;
    if (address !== undefined) return address;
    await clock.sleep(LOOK_MS, signal);
    // There is no such program; by now its error is known.
    if (child.pid === undefined) break;
  }
  throw new Error(`${path} was not written.`);
}

function readAddress(path: string): ServerAddress | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as ServerAddress;
  } catch {
    // Half written.
    return undefined;
  }
}

async function ended(child: ChildProcess, clock: Clock): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
  });
  child.kill("SIGTERM");
  const late = new AbortController();
  await Promise.race([exited, clock.sleep(STOP_MS, late.signal)]);
  late.abort();
  child.kill("SIGKILL");
  await exited;
}

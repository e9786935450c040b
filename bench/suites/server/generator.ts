import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { RequestFile } from "./request-file.js";

/** What a generator has sent and been answered. */
export interface Replayed {
  /** Answered, whatever the answer. */
  readonly requests: number;
  readonly elapsedMs: number;
  /** How often each latency was seen, in ms. */
  readonly latencies: readonly (readonly [ms: number, count: number])[];
  /** Where the generator has looked at what the host took. */
  readonly seconds: { readonly seen: number; readonly quiet: number } | undefined;
}

export interface Replay {
  /** Where the server listens. */
  readonly url: string;
  readonly file: RequestFile;
  readonly connections: number;
  readonly forMs: number;
  /** How long it may go on until as much of it was quiet; `forMs` unless told. At a rate only. */
  readonly atMostMs?: number;
  /** Whether requests may come more than once. */
  readonly repeats: boolean;
  /** So many, whatever happens; as fast as they are answered unless told. */
  readonly perSecond?: number;
}

interface Told {
  readonly requests: number;
  readonly elapsedUs: number;
  readonly refused: number;
  readonly broken: number;
  readonly exhausted: boolean;
  readonly latencies: readonly (readonly [number, number])[];
  readonly seconds?: Replayed["seconds"];
  /** Whether the suite's own generator was allowed a higher priority. */
  readonly hurried?: boolean;
}

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const hasWrk = spawnSync("wrk", ["--version"]).error === undefined;

/** What sends the requests here. */
export const GENERATOR: string = hasWrk ? "wrk" : "a generator of the suite's own, because wrk is missing";

/** Sends signed requests; throws unless every answer was a success. */
export async function replay(asked: Replay): Promise<Replayed> {
  // At a rate of its own, wrk sends nothing.
  const said = await outputOf(hasWrk && asked.perSecond === undefined ? wrkLine(asked) : ownLine(asked));
  const told = JSON.parse(said.trimEnd().split("\n").at(-1) ?? "") as Told;
  if (told.hurried === false)
    process.emitWarning("The generator may not raise its priority: latencies are less exact.");
  if (told.refused > 0 || told.broken > 0)
    throw new Error(`Of ${told.requests} requests ${told.refused} were refused and ${told.broken} broken.`);
  if (told.exhausted && !asked.repeats)
    throw new Error(`All ${asked.file.count} requests were sent before the turn was over; sign more.`);
  return {
    requests: told.requests,
    elapsedMs: told.elapsedUs / 1000,
    latencies: told.latencies.map(([us, count]) => [us / 1000, count]),
    seconds: told.seconds,
  };
}

function wrkLine({ url, file, connections, forMs, repeats }: Replay): [string, ...string[]] {
  return [
    "wrk",
    "--threads=1",
    `--connections=${connections}`,
    `--duration=${Math.ceil(forMs / 1000)}s`,
    "--timeout=15s",
    `--script=${fileOf("replay.lua")}`,
    url,
    "--",
    file.path,
    String(file.requestBytes),
    repeats ? "again" : "once",
  ];
}

function ownLine(asked: Replay): [string, ...string[]] {
  return [process.execPath, "--import", "tsx", fileOf("own-generator.ts"), JSON.stringify(asked)];
}

async function outputOf([program, ...args]: [string, ...string[]]): Promise<string> {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  let complaint = "";
  child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (complaint += chunk.toString()));
  const code = await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
  if (code !== 0) throw new Error(`${program} ended with ${String(code)}: ${complaint}${said.slice(-500)}`);
  return said;
}

import { createInterface } from "node:readline/promises";
import { colourWanted } from "./colour.js";
import type { Environment } from "./colour.js";
import { CommandFailure } from "./failure.js";

/** Where commands write and ask: the process's own streams, or a test's. */
export interface Terminal {
  /** To the standard output: what was asked for, and nothing else. */
  write(content: string | Uint8Array): void;
  /** To the standard error: progress, hints, failures. */
  writeError(text: string): void;
  /** Whether a person sees the standard output. */
  readonly isTty: boolean;
  readonly errorIsTty: boolean;
  /** Whether a person can answer. */
  readonly inputIsTty: boolean;
  /** The width of the standard output; undefined where it is unknown and nothing is cut. */
  columns(): number | undefined;
  rows(): number | undefined;
  readonly colour: boolean;
  readonly errorColour: boolean;
  /** Asks a person for one line. */
  ask(question: string): Promise<string>;
  /** Aborts when nobody reads the standard output any more. */
  readonly outputEnded: AbortSignal;
  /** All of the standard input. */
  readInput(): Promise<Uint8Array>;
}

/** The terminal of this process. */
export function processTerminal(environment: Environment = process.env): Terminal {
  const { stdin, stdout, stderr } = process;
  const ended = new AbortController();
  // `posthorn events list | head` closes the pipe early, which is no failure.
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    ended.abort();
  });
  // Without a listener, a server would die with the reader of its log. Nobody is left to be told of it.
  stderr.on("error", () => undefined);
  return {
    write: (content) => void stdout.write(content),
    writeError: (text) => void stderr.write(text),
    isTty: stdout.isTTY,
    errorIsTty: stderr.isTTY,
    inputIsTty: stdin.isTTY && stderr.isTTY,
    columns: () => (stdout.isTTY ? stdout.columns : undefined),
    rows: () => (stdout.isTTY ? stdout.rows : undefined),
    colour: colourWanted({ isTty: stdout.isTTY, environment }),
    errorColour: colourWanted({ isTty: stderr.isTTY, environment }),
    ask,
    outputEnded: ended.signal,
    readInput,
  };
}

async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const stopped = new AbortController();
  lines.once("SIGINT", () => stopped.abort());
  // Ctrl-D: without this the question would wait for ever.
  lines.once("close", () => stopped.abort());
  try {
    return await lines.question(question, { signal: stopped.signal });
  } catch {
    process.stderr.write("\n");
    throw new CommandFailure("interrupted", "Nothing was changed.");
  } finally {
    lines.close();
  }
}

async function readInput(): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks);
}

import type { Consumer } from "./consumer.js";

/** One promise to consumers, and how it is tried. */
export interface Case {
  /** What `--only` looks for, beside the name: a runtime, or "types", "tarball" and so on. */
  readonly topic: string;
  /** The promise. */
  readonly name: string;
  /** Its column in the table of runtimes. */
  readonly column?: string;
  /** Why it cannot be tried here. */
  readonly skip?: string | undefined;
  /** Throws when the promise is broken; a text that it returns stands behind the name in the report. */
  run(consumer: Consumer): Promise<string | undefined>;
}

const LINE = /^posthorn-consumer (\{.*\})$/m;

/** What a program of the consumer found, from its machine-readable line. */
export function readFinding(stdout: string): unknown {
  const json = LINE.exec(stdout)?.[1];
  if (json === undefined)
    throw new Error(`The program printed no line with its findings:\n${stdout.slice(-2000)}`);
  return JSON.parse(json);
}

// The first few tell the cause; a scheme that is broken altogether would fill pages.
const SHOWN_PROBLEMS = 8;

/** Throws with what was found to be wrong. */
export function expectNone(problems: readonly string[]): void {
  if (problems.length === 0) return;
  const more = problems.length - SHOWN_PROBLEMS;
  throw new Error(
    [...problems.slice(0, SHOWN_PROBLEMS), ...(more > 0 ? [`… and ${more} more.`] : [])].join("\n"),
  );
}

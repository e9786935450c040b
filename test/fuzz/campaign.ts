import { execute, drawTrial } from "./execute.js";
import type { Result } from "./execute.js";
import { readCorpora } from "./seeds.js";
import type { Corpus } from "./seeds.js";

export interface Campaign {
  readonly executions: number;
  readonly seed: number;
  /** Told now and then how far it is. */
  readonly onProgress?: (done: number) => void;
}

export interface Report {
  /** How often each scheme gave each verdict. */
  readonly verdicts: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly failures: readonly Failure[];
}

export interface Failure {
  readonly scheme: string;
  /** Repeats the execution: `npm run fuzz -- --seed <number> --executions 1 --scheme <scheme>`. */
  readonly number: number;
  readonly why: string;
  readonly request: string;
}

const MAX_FAILURES = 20;
const PROGRESS_EVERY = 100_000;

/** Goes round the schemes, one execution each, so that every one gets its share. */
export function fuzz({ executions, seed, onProgress }: Campaign, schemes = readCorpora()): Report {
  const list = [...schemes].filter(([, { seeds }]) => seeds.length > 0);
  const verdicts = new Map(list.map(([scheme]) => [scheme, new Map<string, number>()]));
  const failures: Failure[] = [];
  for (let index = 0; index < executions && failures.length < MAX_FAILURES; index++) {
    const [scheme, corpus] = list[index % list.length] as [string, Corpus];
    const number = seed + index;
    const trial = drawTrial(corpus, number);
    const result = execute(trial);
    count(verdicts.get(scheme), result);
    if (result.kind === "failed")
      failures.push({ scheme, number, why: result.why, request: print(trial.request) });
    if ((index + 1) % PROGRESS_EVERY === 0) onProgress?.(index + 1);
  }
  return { verdicts, failures };
}

function count(verdicts: Map<string, number> | undefined, result: Result): void {
  const verdict = result.kind === "failed" ? "failed" : result.code;
  verdicts?.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
}

function print(request: { readonly body: Uint8Array }): string {
  return JSON.stringify({ ...request, body: Buffer.from(request.body).toString("latin1") }).slice(0, 2000);
}

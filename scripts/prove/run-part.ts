import { createChance } from "../../test/chance.js";
import type { Bench, Depth, Part } from "../../test/prove/part.js";

export interface Wish {
  readonly depth: Depth;
  readonly seed: number;
}

// Often enough to see that it lives, and seldom enough for a log.
const PROGRESS_EVERY_MS = 15_000;

/** Runs a part to its end, and says what does not hold; undefined where everything does. */
export async function runPart(part: Part, wish: Wish): Promise<string | undefined> {
  const startedAt = performance.now();
  const seconds = (): string => `${((performance.now() - startedAt) / 1000).toFixed(0)} s`;
  console.log(`\n── ${part.name}: ${part.about} (seed ${wish.seed}, about ${part.budgetS[wish.depth]} s) ──`);
  const bench = new PrintingBench(wish, seconds);
  try {
    await part.run(bench);
  } catch (error) {
    bench.expect(`it comes to its end: ${error instanceof Error ? error.stack : String(error)}`, false);
  }
  const broken = bench.end();
  console.log(`${broken === undefined ? "✓" : "✗"} ${part.name}: ${bench.summary} in ${seconds()}`);
  return broken;
}

class PrintingBench implements Bench {
  readonly depth: Depth;
  readonly seed: number;
  readonly chance: Bench["chance"];
  readonly #seconds: () => string;
  readonly #counts = new Map<string, number>();
  readonly #broken: string[] = [];
  #kept = 0;
  #saidAt = 0;

  constructor({ depth, seed }: Wish, seconds: () => string) {
    this.depth = depth;
    this.seed = seed;
    this.chance = createChance(seed);
    this.#seconds = seconds;
  }

  progress(line: string): void {
    const said = `  ${this.#seconds()}: ${line}`;
    if (process.stdout.isTTY) {
      process.stdout.write(`\r\u001B[K${said}`);
      return;
    }
    if (performance.now() - this.#saidAt < PROGRESS_EVERY_MS) return;
    this.#saidAt = performance.now();
    console.log(said);
  }

  note(line: string): void {
    this.#clear();
    console.log(`  ${line}`);
  }

  count(what: string, times: number): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + times);
  }

  expect(promise: string, kept: boolean): void {
    if (kept) this.#kept++;
    else {
      this.#broken.push(promise);
      this.note(`BROKEN ${promise}`);
    }
  }

  skip(what: string, why: string): void {
    this.note(`skipped: ${what}, because ${why}`);
  }

  /** Prints what was counted, and says what is broken. A part that promised nothing has proved nothing. */
  end(): string | undefined {
    this.#clear();
    for (const [what, times] of this.#counts) console.log(`  ${what}: ${times}`);
    for (const promise of this.#broken) console.log(`  BROKEN ${promise}`);
    const [first] = this.#broken;
    return first ?? (this.#kept === 0 ? "nothing was promised" : undefined);
  }

  get summary(): string {
    return `${this.#kept} promises kept, ${this.#broken.length} broken`;
  }

  #clear(): void {
    if (process.stdout.isTTY) process.stdout.write("\r\u001B[K");
  }
}

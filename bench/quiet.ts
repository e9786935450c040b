import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

const MS_PER_TICK = 10;
/** In a line of /proc/stat: cpu0 user nice system idle iowait irq softirq steal … */
const STOLEN = 8;

/** The time for which this machine's cores had work and the host ran somebody else, in ms; 0 where nobody tells. */
export function stolenMs(): number {
  try {
    return stolenIn(readFileSync("/proc/stat", "utf8"));
  } catch {
    return 0;
  }
}

export function stolenIn(stat: string): number {
  const cores = stat.split("\n").filter((line) => /^cpu\d/.test(line));
  return cores.reduce((sum, line) => sum + Number(line.split(/\s+/)[STOLEN] ?? 0) * MS_PER_TICK, 0);
}

export interface Quiet {
  /** Of the time of all cores. */
  readonly mostStolen: number;
  readonly tries: number;
  /** Tells of what does not count. */
  readonly say: (text: string) => void;
  readonly stolenMs?: () => number;
  readonly nowMs?: () => number;
}

export interface QuietSlicesOptions {
  readonly wanted: number;
  /** However many of them are quiet. */
  readonly atMost: number;
  /** Of the time of all cores. */
  readonly mostStolen: number;
}

/** Chooses, of the slices of a time that goes on until enough of them were quiet, those that count. */
export class QuietSlices {
  readonly #options: QuietSlicesOptions;
  /** Of each slice, what share of it the host took. */
  readonly #shares: number[] = [];

  constructor(options: QuietSlicesOptions) {
    this.#options = options;
  }

  add(share: number): void {
    this.#shares.push(share);
  }

  get seen(): number {
    return this.#shares.length;
  }

  get quiet(): number {
    return this.#shares.filter((share) => share <= this.#options.mostStolen).length;
  }

  get areEnough(): boolean {
    return this.quiet >= this.#options.wanted || this.seen >= this.#options.atMost;
  }

  /** The quietest, by their places; where too few were quiet, also others, so that every turn has as many. */
  chosen(): readonly number[] {
    const places = this.#shares.map((_, place) => place);
    return places
      .toSorted((a, b) => (this.#shares[a] ?? 0) - (this.#shares[b] ?? 0))
      .slice(0, this.#options.wanted);
  }
}

/** What share of all cores' time the host took. */
export function stolenShare(stolen: number, elapsedMs: number): number {
  return stolen / (elapsedMs * availableParallelism());
}

/**
 * Prepares, and measures by what that returns, until the host has left the machine alone for as long as that took, and
 * returns what was measured then; the quietest of all tries, where none was quiet enough. For figures that single moments
 * decide: a host that runs somebody else for 30 ms, three times in ten seconds, is the hundredth that a p99 looks at.
 */
export async function whileQuiet<T>(prepare: () => Promise<() => Promise<T>>, quiet: Quiet): Promise<T> {
  const { mostStolen, tries, say, stolenMs: stolen = stolenMs, nowMs = () => performance.now() } = quiet;
  let quietest: { readonly found: T; readonly share: number } | undefined;
  for (let left = tries; left > 0; left--) {
    const measure = await prepare();
    const [startedAt, before] = [nowMs(), stolen()];
    const found = await measure();
    const share = stolenShare(stolen() - before, nowMs() - startedAt);
    if (share <= mostStolen) return found;
    if (quietest === undefined || share < quietest.share) quietest = { found, share };
    say(
      `the host took ${(share * 100).toFixed(1)} % of the time: ${left > 1 ? "again" : "the quietest try counts"}`,
    );
  }
  if (quietest === undefined) throw new Error(`${tries} tries are none.`);
  return quietest.found;
}

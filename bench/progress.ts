/** Where progress is written: stderr, so that a piped table stays clean. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export interface Step {
  readonly done: number;
  readonly total: number;
  readonly label: string;
}

const QUARTERS = 4;

/** A live line on a terminal; elsewhere one line per quarter, so that a CI log shows life without filling up. */
export class Progress {
  readonly #stream: ProgressStream;
  readonly #title: string;
  readonly #startedAt = performance.now();
  #quarter = 0;

  constructor(stream: ProgressStream, title: string) {
    this.#stream = stream;
    this.#title = title;
  }

  say(text: string): void {
    this.clear();
    this.#stream.write(`${this.#title}: ${text}\n`);
  }

  step(step: Step): void {
    const line = progressLine(this.#title, step, performance.now() - this.#startedAt);
    const quarter = Math.floor((step.done / step.total) * QUARTERS);
    if (this.#stream.isTTY === true) {
      // A line longer than the terminal wraps, and clearing would leave its first half behind. Some terminals say 0 columns.
      this.#stream.write(`\r\u001b[2K${line.slice(0, (this.#stream.columns || 80) - 1)}`);
    } else if (quarter > this.#quarter) {
      this.#stream.write(`${line}\n`);
    }
    this.#quarter = quarter;
  }

  /** Takes the live line away before anything else is written. */
  clear(): void {
    if (this.#stream.isTTY === true) this.#stream.write("\r\u001b[2K");
  }
}

export function progressLine(title: string, step: Step, elapsedMs: number): string {
  const percent = Math.floor((step.done / step.total) * 100);
  return `${title}: ${percent} %, ${Math.round(elapsedMs / 1000)} s, ${step.label}`;
}

import { cutToWidth } from "./width.js";
import { count, duration } from "./for-people.js";
import type { Terminal } from "./terminal.js";

/** Shows the progress of long work on the standard error, apart from the output. */
export interface Progress {
  /** Counts finished items. */
  advance(by?: number): void;
  /** Ends it; the bar goes away. */
  end(): void;
}

export interface ProgressOptions {
  /** A plain verb, such as "Redriving". */
  readonly label: string;
  readonly total: number;
  /** What is counted, in the plural. */
  readonly unit: string;
  readonly now: () => number;
}

const BAR_WIDTH = 24;
const REDRAW_MS = 100;
/** Without a terminal: a bar would fill the log. */
const LINE_MS = 5000;

export function createProgress(terminal: Terminal, options: ProgressOptions): Progress {
  return terminal.errorIsTty ? new Bar(terminal, options) : new Lines(terminal, options);
}

class Bar implements Progress {
  readonly #terminal: Terminal;
  readonly #options: ProgressOptions;
  readonly #startedAt: number;
  #done = 0;
  #drawnAt = Number.NEGATIVE_INFINITY;

  constructor(terminal: Terminal, options: ProgressOptions) {
    this.#terminal = terminal;
    this.#options = options;
    this.#startedAt = options.now();
    this.#draw();
  }

  advance(by = 1): void {
    this.#done += by;
    if (this.#done >= this.#options.total || this.#options.now() - this.#drawnAt >= REDRAW_MS) this.#draw();
  }

  end(): void {
    this.#terminal.writeError("\r\u001b[2K");
  }

  #draw(): void {
    const { label, total, now } = this.#options;
    this.#drawnAt = now();
    const share = total === 0 ? 1 : Math.min(1, this.#done / total);
    const full = Math.round(share * BAR_WIDTH);
    const bar = "█".repeat(full) + "░".repeat(BAR_WIDTH - full);
    const text = `${label} ${bar} ${this.#done}/${total}${this.#remaining(share)}`;
    // A line that wraps could not be erased.
    this.#terminal.writeError(`\r\u001b[2K${cutToWidth(text, (this.#terminal.columns() ?? 80) - 1)}`);
  }

  #remaining(share: number): string {
    const passedMs = this.#drawnAt - this.#startedAt;
    if (share <= 0 || share >= 1 || passedMs < 2000) return "";
    return `, ${duration((passedMs * (1 - share)) / share)} left`;
  }
}

class Lines implements Progress {
  readonly #terminal: Terminal;
  readonly #options: ProgressOptions;
  #done = 0;
  #toldAt: number;

  constructor(terminal: Terminal, options: ProgressOptions) {
    this.#terminal = terminal;
    this.#options = options;
    this.#toldAt = options.now();
  }

  advance(by = 1): void {
    this.#done += by;
    const { label, total, unit, now } = this.#options;
    if (now() - this.#toldAt < LINE_MS) return;
    this.#toldAt = now();
    this.#terminal.writeError(`${label}: ${this.#done} of ${count(total, unit, unit)}\n`);
  }

  end(): void {
    // The command prints the result itself.
  }
}

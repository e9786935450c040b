import { paint } from "./colour.js";
import { CommandFailure, toldFailure } from "./failure.js";
import type { ToldFailure } from "./failure.js";
import { neutraliseLines, safeJson } from "./neutralise.js";
import { createProgress } from "./progress.js";
import type { Progress, ProgressOptions } from "./progress.js";
import { cellOf, drawFacts, drawTable } from "./table.js";
import type { Canvas, Piece, Table } from "./table.js";
import type { Terminal } from "./terminal.js";

/**
 * The one way in which commands print. Every text that is handed in is taken as hostile and neutralised here, so that
 * no command can forget it; colour is a tone beside the text, never part of it.
 */
export interface Printer {
  /** Whether `--json` was given. */
  readonly json: boolean;
  /** With `--json` the value as one document, else what `draw` prints. */
  show(value: unknown, draw: () => void): void;
  /** One line of JSON, for lists that are followed. */
  record(value: unknown): void;
  line(...pieces: readonly Piece[]): void;
  table(table: Table): void;
  facts(facts: readonly (readonly [name: string, value: Piece])[]): void;
  /** A text of many lines. */
  block(text: string): void;
  /** A hint, on the standard error; nothing with `--json`. */
  hint(...pieces: readonly Piece[]): void;
  /** A warning on the standard error; with `--json` too. */
  warn(text: string): void;
  progress(options: Omit<ProgressOptions, "now">): Progress;
  /** Prints a failure on the standard error. */
  fail(error: unknown, options?: { readonly debug?: boolean }): ToldFailure;
}

export interface PrinterOptions {
  readonly terminal: Terminal;
  readonly json: boolean;
  readonly now: () => number;
}

export function createPrinter(options: PrinterOptions): Printer {
  return new TerminalPrinter(options);
}

class TerminalPrinter implements Printer {
  readonly json: boolean;
  readonly #terminal: Terminal;
  readonly #now: () => number;

  constructor({ terminal, json, now }: PrinterOptions) {
    this.json = json;
    this.#terminal = terminal;
    this.#now = now;
  }

  show(value: unknown, draw: () => void): void {
    if (this.json) this.#terminal.write(`${safeJson(value, 2)}\n`);
    else draw();
  }

  record(value: unknown): void {
    this.#terminal.write(`${safeJson(value)}\n`);
  }

  line(...pieces: readonly Piece[]): void {
    this.#terminal.write(`${joined(pieces, this.#terminal.colour)}\n`);
  }

  table(table: Table): void {
    this.#terminal.write(drawTable(table, this.#canvas()));
  }

  facts(facts: readonly (readonly [name: string, value: Piece])[]): void {
    this.#terminal.write(drawFacts(facts, this.#canvas()));
  }

  block(text: string): void {
    const safe = neutraliseLines(text);
    this.#terminal.write(safe.endsWith("\n") ? safe : `${safe}\n`);
  }

  hint(...pieces: readonly Piece[]): void {
    if (!this.json) this.#terminal.writeError(`${joined(pieces, this.#terminal.errorColour)}\n`);
  }

  warn(text: string): void {
    const label = paint("Warning:", "warn", this.#terminal.errorColour);
    this.#terminal.writeError(`${label} ${cellOf(text).text}\n`);
  }

  progress(options: Omit<ProgressOptions, "now">): Progress {
    return createProgress(this.#terminal, { ...options, now: this.#now });
  }

  fail(error: unknown, { debug = false }: { readonly debug?: boolean } = {}): ToldFailure {
    const told = toldFailure(error);
    if (error instanceof CommandFailure && error.told) return told;
    if (this.json) {
      const { code, message, cure } = told;
      this.#terminal.writeError(`${safeJson({ error: { code, message, cure: cure ?? null } })}\n`);
    } else {
      const label = paint("Error:", "bad", this.#terminal.errorColour);
      this.#terminal.writeError(`${label} ${neutraliseLines(told.message)}\n`);
      if (told.cure !== undefined) this.#terminal.writeError(`${neutraliseLines(told.cure)}\n`);
    }
    if (debug && error instanceof Error) this.#terminal.writeError(`${neutraliseLines(error.stack ?? "")}\n`);
    return told;
  }

  #canvas(): Canvas {
    return { width: this.#terminal.columns(), colour: this.#terminal.colour };
  }
}

function joined(pieces: readonly Piece[], colour: boolean): string {
  return pieces
    .map((piece) => {
      const { text, tone } = cellOf(piece);
      return paint(text, tone, colour);
    })
    .join("");
}

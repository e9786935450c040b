import { CommandFailure } from "../../server/src/terminal/failure.js";
import type { Terminal } from "../../server/src/terminal/terminal.js";

export interface FakeTerminalOptions {
  /** Of a terminal; left out, it is none: a pipe. */
  readonly columns?: number;
  readonly rows?: number;
  readonly colour?: boolean;
  /** What a person answers, one after the other. */
  readonly answers?: readonly string[];
  readonly input?: string | Uint8Array;
}

export interface FakeTerminal extends Terminal {
  /** What was written, as text. */
  readonly out: () => string;
  readonly err: () => string;
  readonly outBytes: () => Uint8Array;
  readonly questions: readonly string[];
}

/** A terminal of so many columns, or a pipe. */
export function fakeTerminal(options: FakeTerminalOptions = {}): FakeTerminal {
  const { columns, rows, colour = false, answers = [], input = "" } = options;
  const isTty = columns !== undefined;
  const out: Uint8Array[] = [];
  const questions: string[] = [];
  let err = "";
  return {
    write: (content) => void out.push(typeof content === "string" ? Buffer.from(content) : content),
    writeError: (text) => {
      err += text;
    },
    isTty,
    errorIsTty: isTty,
    inputIsTty: isTty,
    columns: () => columns,
    rows: () => rows,
    colour,
    errorColour: colour,
    ask: (question) => {
      const answer = answers[questions.length];
      questions.push(question);
      if (answer !== undefined) return Promise.resolve(answer);
      return Promise.reject(new CommandFailure("interrupted", "Nothing was changed."));
    },
    outputEnded: new AbortController().signal,
    readInput: () => Promise.resolve(Buffer.from(input)),
    out: () => Buffer.concat(out).toString("utf8"),
    err: () => err,
    outBytes: () => Buffer.concat(out),
    questions,
  };
}

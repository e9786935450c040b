// Handlers get a transaction that their store begins and ends. Where SQL is text, this finds the statements that would
// begin or end another one, whatever stands around them: comments, quotes, function bodies, statements before.

// Most statements hold none of these words, and are not read any further.
const SUSPECT = /\b(?:begin|start|commit|end|rollback|abort|prepare)\b/i;

// One piece of SQL at a time. Of quoted texts only the opening is matched here: their ends are looked for by hand,
// because a pattern that repeats over a megabyte runs out of stack.
const PIECE =
  /\s+|--[^\n\r]*|\/\*|[eE]?'|"|\$(?:[A-Za-z_\u0080-\uFFFF][\w\u0080-\uFFFF]*)?\$|[A-Za-z_\u0080-\uFFFF][\w$\u0080-\uFFFF]*|[^]/gy;

/**
 * The first statement of the text that begins or ends a transaction, by its words, such as `begin` or `start transaction`;
 * undefined where there is none. Savepoints are none.
 */
export function transactionCommand(text: string): string | undefined {
  if (!SUSPECT.test(text)) return undefined;
  const reader = new StatementReader();
  for (const piece of piecesOf(text)) {
    const command = reader.read(piece);
    if (command !== undefined) return command;
  }
  return reader.read(";");
}

// Enough to tell `rollback work to` from `rollback work`.
const HEAD = 3;

/** Follows the pieces of a text, statement by statement. */
class StatementReader {
  #head: string[] = [];
  #creates = false;
  // Between `begin` and `end` of `create function` or `create trigger`, whose statements end with a semicolon each.
  #inBody = false;
  #before = "";

  /** Takes the next piece; returns the statement's command where this piece ends one that begins or ends a transaction. */
  read(piece: string): string | undefined {
    if (piece === ";") return this.#endStatement();
    const word = piece.toLowerCase();
    const first = this.#head.length === 0;
    if (first && !this.#inBody) this.#creates = word === "create";
    if (this.#inBody && word === "end" && (first || this.#before === "begin" || this.#before === "atomic")) {
      this.#inBody = false;
    } else if (this.#creates && word === "begin") this.#inBody = true;
    if (this.#head.length < HEAD) this.#head.push(word);
    this.#before = word;
    return undefined;
  }

  #endStatement(): string | undefined {
    const command = this.#creates ? undefined : commandOf(this.#head);
    this.#head = [];
    if (!this.#inBody) this.#creates = false;
    return command;
  }
}

function commandOf([first = "", second, third]: readonly string[]): string | undefined {
  switch (first) {
    case "begin":
    case "commit":
    case "end":
    case "abort":
      return first;
    case "start":
    case "prepare":
      return second === "transaction" ? `${first} transaction` : undefined;
    case "rollback": {
      const named = second === "work" || second === "transaction" ? third : second;
      return named === "to" ? undefined : first;
    }
    default:
      return undefined;
  }
}

/** Words and other characters; of quoted texts their opening alone; no spaces and comments. */
function* piecesOf(text: string): Generator<string> {
  let at = 0;
  while (at < text.length) {
    PIECE.lastIndex = at;
    const piece = PIECE.exec(text)?.[0] ?? text.charAt(at);
    const end = endOf(text, piece, at + piece.length);
    at = end;
    if (!/^(?:\s|--|\/\*)/.test(piece)) yield piece;
  }
}

/** Where a piece ends that began before `from`: at once, or with the end of the quoted text or comment that it opens. */
function endOf(text: string, piece: string, from: number): number {
  if (piece === "/*") return endOfComment(text, from);
  if (piece === "'" || piece === '"') return after(text, piece, from);
  if (piece.endsWith("'")) return endOfEscaped(text, from);
  if (piece.length > 1 && piece.startsWith("$") && piece.endsWith("$")) return after(text, piece, from);
  return from;
}

/** A doubled quote inside of a text reads as the end of one text and the beginning of another, which comes to the same. */
function after(text: string, closing: string, from: number): number {
  const at = text.indexOf(closing, from);
  return at === -1 ? text.length : at + closing.length;
}

function endOfEscaped(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "'" && text[at + 1] === "'") at++;
    else if (text[at] === "'") return at + 1;
  }
  return text.length;
}

/** Comments of Postgres can hold others; those of SQLite cannot, and hold no opening in practice. */
function endOfComment(text: string, from: number): number {
  let depth = 1;
  let at = from;
  while (at < text.length && depth > 0) {
    const two = text.slice(at, at + 2);
    if (two === "/*") depth++;
    if (two === "*/") depth--;
    at += two === "/*" || two === "*/" ? 2 : 1;
  }
  return at;
}

// JSON as it was sent, laid out in lines. Nothing is parsed into values: numbers keep every digit, keys their order,
// repeated keys stay, and escapes stay as they are written.

export type PieceKind = "key" | "text" | "number" | "word" | "mark" | "space";

export interface Piece {
  readonly kind: PieceKind;
  readonly text: string;
}

export interface Line {
  readonly pieces: readonly Piece[];
  /** A number that JavaScript would round; shown as it was sent. */
  readonly exact: boolean;
}

const TOKEN = /\s+|"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/y;

/** The lines of a JSON text; undefined where it is none. */
export function jsonLines(text: string): readonly Line[] | undefined {
  try {
    // Only whether it is JSON: what this makes of the numbers is thrown away.
    JSON.parse(text);
  } catch {
    return undefined;
  }
  return new Layout().of(tokensOf(text));
}

function tokensOf(text: string): readonly string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    if (match[0].trim() !== "") tokens.push(match[0]);
  }
  return tokens;
}

/** Puts each member and element on a line of its own. */
class Layout {
  readonly #lines: Line[] = [];
  #pieces: Piece[] = [];
  #depth = 0;

  of(tokens: readonly string[]): readonly Line[] {
    for (const [index, token] of tokens.entries()) this.#add(token, tokens[index + 1], tokens[index - 1]);
    this.#end();
    return this.#lines;
  }

  #add(token: string, next: string | undefined, before: string | undefined): void {
    switch (token) {
      case "{":
      case "[":
        this.#push("mark", token);
        this.#depth++;
        if (next !== "}" && next !== "]") this.#end();
        return;
      case "}":
      case "]":
        this.#depth--;
        if (before !== "{" && before !== "[") this.#end();
        this.#push("mark", token);
        return;
      case ",":
        this.#push("mark", token);
        this.#end();
        return;
      case ":":
        this.#push("mark", ": ");
        return;
      default:
        this.#push(kindOf(token, next), token);
    }
  }

  #push(kind: PieceKind, text: string): void {
    if (this.#pieces.length === 0 && this.#depth > 0) {
      this.#pieces.push({ kind: "space", text: "  ".repeat(this.#depth) });
    }
    this.#pieces.push({ kind, text });
  }

  #end(): void {
    if (this.#pieces.length === 0) return;
    const exact = this.#pieces.some(({ kind, text }) => kind === "number" && !isSafe(text));
    this.#lines.push({ pieces: this.#pieces, exact });
    this.#pieces = [];
  }
}

function kindOf(token: string, next: string | undefined): PieceKind {
  if (token.startsWith('"')) return next === ":" ? "key" : "text";
  return /^[-\d]/.test(token) ? "number" : "word";
}

/** Whether a parsed and printed number would still be the same. */
export function isSafe(literal: string): boolean {
  const value = Number(literal);
  if (!Number.isFinite(value)) return false;
  if (/^-?\d+$/.test(literal)) return literal === "-0" || BigInt(literal) === BigInt(value);
  return digitsOf(literal) === digitsOf(String(value));
}

/** The significant digits, whatever the notation. */
function digitsOf(literal: string): string {
  const [mantissa = ""] = literal.toLowerCase().split("e", 1);
  return mantissa.replaceAll(/[-.]/g, "").replace(/^0+/, "").replace(/0+$/, "");
}

/** Bytes as text, if they are UTF-8. */
export function utf8Of(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const ROW = 16;

/** `00000010  7b 22 69 64 …  {"id…`: sixteen bytes a line. */
export function hexLines(bytes: Uint8Array, most = 4096): readonly string[] {
  const lines: string[] = [];
  for (let at = 0; at < Math.min(bytes.length, most); at += ROW) {
    const row = [...bytes.subarray(at, at + ROW)];
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const text = row.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "·")).join("");
    lines.push(`${at.toString(16).padStart(8, "0")}  ${hex.padEnd(ROW * 3)} ${text}`);
  }
  return lines;
}

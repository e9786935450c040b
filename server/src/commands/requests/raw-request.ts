import { CommandFailure } from "../../terminal/failure.js";

/** A request as it was pasted. */
export interface RawRequest {
  readonly method: string;
  /** A path, or a whole URL where the request line has one. */
  readonly target: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** What was odd about the text. */
  readonly notes: readonly string[];
}

const LINE_FEED = 10;
const REQUEST_LINE = /^([A-Z]{3,10}) (\S+)(?: HTTP\/\d(?:\.\d)?)?$/;

/** Reads the text of an HTTP request: a request line if there is one, headers, an empty line, and the exact bytes of the body. */
export function parseRawRequest(bytes: Uint8Array): RawRequest {
  const { lines, rest } = splitHead(bytes);
  const [, method, target] = REQUEST_LINE.exec(lines[0] ?? "") ?? [];
  const headers = headersOf(method === undefined ? lines : lines.slice(1));
  const { body, notes } = bodyWithin(rest, headers["content-length"]);
  return { method: method ?? "POST", target, headers, body, notes };
}

/** Headers of lines such as `Name: value`, by their lower-case names. */
export function headersOf(lines: readonly string[]): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const at = line.indexOf(":");
    const name = line.slice(0, Math.max(0, at)).trim().toLowerCase();
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name)) {
      throw new CommandFailure("usage", `"${line.slice(0, 80)}" is no header.`, {
        cure: "Expected `name: value` in each line, an empty line, and then the body.",
        code: "header_malformed",
      });
    }
    const value = line.slice(at + 1).trim();
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}, ${value}`;
  }
  return headers;
}

function splitHead(bytes: Uint8Array): { readonly lines: readonly string[]; readonly rest: Uint8Array } {
  const lines: string[] = [];
  let at = 0;
  while (at < bytes.length) {
    const found = bytes.indexOf(LINE_FEED, at);
    const end = found < 0 ? bytes.length : found;
    // Latin-1, as in HTTP: every byte of a signature must survive.
    const line = Buffer.from(bytes.subarray(at, end)).toString("latin1").replace(/\r$/, "");
    at = end + 1;
    if (line !== "") lines.push(line);
    // Pasting leaves empty lines before the first.
    else if (lines.length > 0) break;
  }
  return { lines, rest: bytes.subarray(Math.min(at, bytes.length)) };
}

/** Editors add a line break at the end of a file; the request itself says how long its body is. */
function bodyWithin(
  rest: Uint8Array,
  length: string | undefined,
): { readonly body: Uint8Array; readonly notes: readonly string[] } {
  if (length === undefined || !/^\d{1,12}$/.test(length)) return { body: rest, notes: [] };
  const said = Number(length);
  if (rest.length === said) return { body: rest, notes: [] };
  if (rest.length > said) {
    const note = `Content-Length says ${said} bytes: the ${rest.length - said} after them were left out.`;
    return { body: rest.subarray(0, said), notes: [note] };
  }
  const note = `Content-Length says ${said} bytes, and only ${rest.length} are here: something was lost.`;
  return { body: rest, notes: [note] };
}

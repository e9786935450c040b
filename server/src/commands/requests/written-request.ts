import { neutraliseLines } from "../../terminal/neutralise.js";

// A request as text, for people to paste.

export interface WrittenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** A line for a POSIX shell that sends exactly these bytes. */
export function curlLine(request: WrittenRequest): string {
  const text = textOf(request.body);
  const parts = [
    "curl -sS -i",
    ...(request.method === "POST" ? [] : [`-X ${quoted(request.method)}`]),
    ...Object.entries(request.headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    // Not -d: it would strip line breaks, and the signature would not match.
    text === undefined ? "--data-binary @-" : `--data-binary ${quoted(text)}`,
    quoted(request.url),
  ];
  const line = parts.join(" \\\n  ");
  if (text !== undefined) return line;
  return `printf %s ${quoted(Buffer.from(request.body).toString("base64"))} | base64 -d | \\\n  ${line}`;
}

/** The bytes of the request as HTTP has them; `posthorn verify` reads them. */
export function rawText(request: WrittenRequest): Uint8Array {
  const { host, pathname, search } = new URL(request.url);
  const headers = { host, ...request.headers, "content-length": String(request.body.length) };
  const head = [
    `${request.method} ${pathname}${search} HTTP/1.1`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "",
    "",
  ].join("\r\n");
  return Buffer.concat([Buffer.from(head, "latin1"), request.body]);
}

/** Undefined where a shell would not pass the bytes on unchanged. */
function textOf(body: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
    return neutraliseLines(text) === text && !text.startsWith("@") ? text : undefined;
  } catch {
    return undefined;
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

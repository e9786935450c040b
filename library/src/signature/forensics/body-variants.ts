import { decodeBase64, utf8 } from "../../bytes.js";
import { asObject, field, parseJson, textField } from "../../json.js";
import type { SignedRequest } from "../scheme.js";
import type { Variant } from "./variant.js";

// What was signed is gone once a body was parsed; but most ways of writing JSON again are few, and each
// can be undone and put to the test.

const RAW = "Hand in the exact bytes, read before any parser.";
const MAX_PARSED_LENGTH = 65_536;
const BOM = "\ufeff";
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The body as it may have been before something on the way changed it, likeliest first. */
export function* bodyVariants(request: SignedRequest): Generator<Variant> {
  const text = decode(request.body);
  const seen = new Set([text]);
  for (const [how, changed] of text === undefined ? [] : texts(text)) {
    if (changed === undefined || seen.has(changed)) continue;
    seen.add(changed);
    yield { says: `${how} ${RAW}`, request: { ...request, body: utf8(changed) } };
  }
  for (const [how, bytes] of binaries(request.body, text)) {
    if (bytes !== undefined) yield { says: `${how} ${RAW}`, request: { ...request, body: bytes } };
  }
}

/** What anybody can see in a body that no signature fits. */
export function bodyFacts(request: SignedRequest): readonly string[] {
  const { body } = request;
  if (body.length === 0) {
    return [`The body is empty: if the sender sent one, something read the stream before. ${RAW}`];
  }
  const start = decode(body.subarray(0, 16));
  if (start?.startsWith("[object ") === true) {
    return [`The body is the text "[object …]": a parsed body was turned into text. ${RAW}`];
  }
  return [];
}

/** The bytes of a body that was handed in as text or as a parsed object. */
export function* parsedBodyVariants(request: SignedRequest): Generator<Variant> {
  const body: unknown = request.body;
  if (typeof body === "string" && body.length <= MAX_PARSED_LENGTH) {
    const says = "The text is right as UTF-8: hand in its bytes, new TextEncoder().encode(text).";
    yield { says, request: { ...request, body: utf8(body) } };
  } else if (body instanceof ArrayBuffer) {
    const says = "The ArrayBuffer holds the right bytes: hand in new Uint8Array(buffer).";
    yield { says, request: { ...request, body: new Uint8Array(body) } };
  } else if (asObject(body) !== undefined || Array.isArray(body)) {
    const says = `JSON.stringify() of the parsed body happens to fit this request, and will fail on others. ${RAW}`;
    const text = printed(body as object);
    if (text !== undefined && text.length <= MAX_PARSED_LENGTH) {
      yield { says, request: { ...request, body: utf8(text) } };
    }
  }
}

function* texts(text: string): Generator<readonly [string, string | undefined]> {
  const json = parseJson(utf8(text));
  // What was added comes first: a compact form would pass for the cause as well.
  yield ["A line break was added to the end of the body.", text.replace(/\r?\n$/, "")];
  yield ["A byte order mark was added to the body.", text.startsWith(BOM) ? text.slice(1) : undefined];
  if (typeof json === "object" && json !== null) yield* reserialised(text, json);
  yield ["A line break at the end of the body was removed.", `${text}\n`];
  yield ["Line breaks of the body were changed from CRLF to LF.", text.replaceAll(/\r?\n/g, "\r\n")];
  yield ["Line breaks of the body were changed from LF to CRLF.", text.replaceAll("\r\n", "\n")];
  yield ["A byte order mark was removed from the body.", BOM + text];
  if (typeof json === "string") yield ["The body's text was written as a JSON string.", json];
  if (/^[^{[\s]*=/.test(text)) {
    yield ["The form in the body was parsed and written again.", text.replaceAll("+", "%20")];
    yield ["The form in the body was parsed and written again.", text.replaceAll("%20", "+")];
  }
}

function* reserialised(text: string, json: object): Generator<readonly [string, string | undefined]> {
  const compact = respaced(text, "", "");
  const spaced = respaced(text, ", ", ": ");
  yield [rewrittenAs("without spaces"), compact];
  yield [rewrittenAs("with a space after each comma and colon"), spaced];
  yield [rewrittenAs("without spaces, in ASCII"), escaped(compact)];
  yield [rewrittenAs("with a space after each comma and colon, in ASCII"), escaped(spaced)];
  yield [
    rewrittenAs("without spaces, in ASCII, with slashes escaped"),
    escaped(compact).replaceAll("/", "\\/"),
  ];
  yield [rewrittenAs("indented by 2"), printed(json, 2)];
  yield [rewrittenAs("indented by 4"), printed(json, 4)];
  yield [rewrittenAs("with characters unescaped"), printed(json)];
}

function* binaries(
  body: Uint8Array,
  text: string | undefined,
): Generator<readonly [string, Uint8Array | undefined]> {
  if (text === undefined) return;
  const object = asObject(parseJson(body));
  const data = field(object, "data");
  if (textField(object, "type") === "Buffer" && Array.isArray(data)) {
    yield ["The body is a Buffer written as JSON.", Uint8Array.from(data as number[])];
  }
  const decoded = text === "" ? undefined : decodeBase64(text);
  yield ["The body is still in base64, as AWS Lambda hands it over with isBase64Encoded.", decoded];
  // Only characters that Latin-1 has, and at least one beyond ASCII.
  if (/^[\0-\xff]*$/.test(text) && /[\x80-\xff]/.test(text)) {
    const bytes = Uint8Array.from(text, (char) => char.charCodeAt(0));
    yield ["The body's bytes were read as Latin-1 and written as UTF-8.", bytes];
  }
}

function rewrittenAs(form: string): string {
  return `The body was parsed and written again: the signature is right for the same JSON ${form}.`;
}

const STRING_OR_SPACE = /("(?:[^"\\]|\\.)*")|[ \t\r\n]+/g;
const STRING_OR_MARK = /("(?:[^"\\]|\\.)*")|([,:])/g;

/** The same JSON with other spaces; numbers and escapes stay as they were written. */
function respaced(json: string, comma: string, colon: string): string {
  const compact = json.replaceAll(STRING_OR_SPACE, (_, string?: string) => string ?? "");
  if (comma === "") return compact;
  return compact.replaceAll(STRING_OR_MARK, (_, string?: string, mark?: string) => {
    return string ?? (mark === "," ? comma : colon);
  });
}

function escaped(json: string): string {
  return json.replaceAll(/[\u0080-\uffff]/g, (char) => {
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

function printed(json: object, indent = 0): string | undefined {
  try {
    return JSON.stringify(json, null, indent);
  } catch {
    // Nested too deeply for the stack: then this is not the cause that can be found.
    return undefined;
  }
}

function decode(body: Uint8Array): string | undefined {
  try {
    return strict.decode(body);
  } catch {
    // Not UTF-8, so that nothing wrote it as text.
    return undefined;
  }
}

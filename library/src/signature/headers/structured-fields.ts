import { decodeBase64 } from "../../bytes.js";

// Of RFC 9651 what RFC 9421 and RFC 9530 need: dictionaries of byte sequences, and of inner lists of texts with parameters.
// Everything else is refused, because two readers that understand one text differently are a hole.

/** A component of a signature: its name, and whether parameters of its own change what is signed. */
export interface Component {
  readonly name: string;
  /** As it stands, without the name; empty for a plain one. */
  readonly parameters: string;
}

/** An inner list with its parameters, and the text of both as RFC 9651 writes it, which is part of what is signed. */
export interface SignatureInput {
  readonly components: readonly Component[];
  readonly parameters: ReadonlyMap<string, string | number>;
  readonly text: string;
}

const KEY = "[a-z*][a-z0-9_.*-]{0,63}";
const TEXT = String.raw`"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"`;
const BARE = `${TEXT}|-?[0-9]{1,15}|:[A-Za-z0-9+/=]*:|\\?[01]|[A-Za-z*][A-Za-z0-9:/!#$%&'*+.^_\`|~-]*`;
const PARAMETER = `; *(${KEY})(?:=(${BARE}))?`;
const MEMBER = new RegExp(String.raw`^ *(${KEY})=`);
const BYTES = /^:([A-Za-z0-9+/]*={0,2}):/;
const COMPONENT = new RegExp(`^ *(${TEXT})((?:${PARAMETER})*)`);
const ONE_PARAMETER = new RegExp(`^${PARAMETER}`);
// Senders sign with one or two, over about ten components.
const MAX_MEMBERS = 8;
const MAX_COMPONENTS = 64;

/** A dictionary whose values are byte sequences, such as `sha-256=:…:`; undefined when it is anything else. */
export function parseByteDictionary(text: string): ReadonlyMap<string, Uint8Array> | undefined {
  return parseDictionary(text, (rest) => {
    const [whole, base64 = ""] = BYTES.exec(rest) ?? [];
    const value = whole === undefined ? undefined : decodeBase64(base64);
    return whole === undefined || value === undefined ? undefined : { value, length: whole.length };
  });
}

/** A dictionary whose values are lists of covered components; undefined when it is anything else. */
export function parseSignatureInputs(text: string): ReadonlyMap<string, SignatureInput> | undefined {
  return parseDictionary(text, readInput);
}

interface Read<Value> {
  readonly value: Value;
  readonly length: number;
}

function parseDictionary<Value>(
  text: string,
  read: (rest: string) => Read<Value> | undefined,
): ReadonlyMap<string, Value> | undefined {
  const found = new Map<string, Value>();
  let rest = text.trim();
  while (rest !== "" && found.size < MAX_MEMBERS) {
    const [start, key] = MEMBER.exec(rest) ?? [];
    const member = start === undefined ? undefined : read(rest.slice(start.length));
    // Of two equal names the last would win for some readers, and the first for others.
    if (start === undefined || key === undefined || member === undefined || found.has(key)) return undefined;
    found.set(key, member.value);
    rest = rest.slice(start.length + member.length).replace(/^[ \t]+/, "");
    if (rest === "") return found;
    if (!rest.startsWith(",")) return undefined;
    rest = rest.slice(1).replace(/^[ \t]+/, "");
    // A comma at the end is refused by the standard.
    if (rest === "") return undefined;
  }
  return undefined;
}

function readInput(text: string): Read<SignatureInput> | undefined {
  if (!text.startsWith("(")) return undefined;
  const components: Component[] = [];
  let at = 1;
  while (!/^ *\)/.test(text.slice(at))) {
    const [whole, name, parameters = ""] = COMPONENT.exec(text.slice(at)) ?? [];
    if (whole === undefined || name === undefined || components.length >= MAX_COMPONENTS) return undefined;
    components.push({ name: unquoted(name), parameters });
    at += whole.length;
  }
  at = text.indexOf(")", at) + 1;
  const read = readParameters(text.slice(at));
  if (read === undefined) return undefined;
  // Written anew and not cut out: whoever sends or passes on the header may put spaces in it that were never signed.
  const list = components.map(({ name, parameters }) => quoted(name) + parameters).join(" ");
  const { parameters, text: tail } = read.value;
  return { value: { components, parameters, text: `(${list})${tail}` }, length: at + read.length };
}

function readParameters(text: string): Read<Pick<SignatureInput, "parameters" | "text">> | undefined {
  const parameters = new Map<string, string | number>();
  let written = "";
  let at = 0;
  while (text[at] === ";") {
    const [whole, name = "", bare = "?1"] = ONE_PARAMETER.exec(text.slice(at)) ?? [];
    if (whole === undefined || parameters.has(name)) return undefined;
    const value = bare.startsWith('"') ? unquoted(bare) : /^-?\d+$/.test(bare) ? Number(bare) : bare;
    parameters.set(name, value);
    written += `;${name}${bare === "?1" ? "" : `=${typeof value === "number" ? value : bare}`}`;
    at += whole.length;
  }
  return { value: { parameters, text: written }, length: at };
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, "\\$&")}"`;
}

function unquoted(text: string): string {
  return text.slice(1, -1).replaceAll(/\\(["\\])/g, "$1");
}

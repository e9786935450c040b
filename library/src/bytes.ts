// Buffer.from and atob skip junk and mix alphabets, so that many texts mean one signature.
// These decoders accept exactly one text per value, apart from padding and the url-safe alphabet.

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const INVALID = 64;
const SEXTETS = /* @__PURE__ */ sextets();

function sextets(): Uint8Array {
  const table = new Uint8Array(128).fill(INVALID);
  for (let value = 0; value < 64; value++) table[BASE64.charCodeAt(value)] = value;
  table[0x2d] = 62;
  table[0x5f] = 63;
  return table;
}

const encoder = new TextEncoder();

/** UTF-8 bytes of a text. */
export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

/** Joins text and bytes into one array. */
export function concat(parts: readonly (string | Uint8Array)[]): Uint8Array<ArrayBuffer> {
  const chunks = parts.map((part) => (typeof part === "string" ? utf8(part) : part));
  const joined = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    joined.set(chunk, offset);
    offset += chunk.length;
  }
  return joined;
}

/** Compares in a time that tells nothing but the lengths. */
export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  let difference = left.length ^ right.length;
  for (let index = 0; index < left.length; index++) {
    difference |= (left[index] as number) ^ (right[index] ?? 0);
  }
  return difference === 0;
}

/** Standard base64 with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  let characters = "";
  for (const byte of bytes) characters += String.fromCharCode(byte);
  return btoa(characters);
}

/** Decodes base64, standard or url-safe but not mixed, padded or not; undefined when it is anything else. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const length = unpaddedLength(text);
  if (length === undefined || mixesAlphabets(text)) return undefined;
  const bytes = new Uint8Array((length * 3) >> 2);
  let word = 0;
  let bits = 0;
  let offset = 0;
  for (let index = 0; index < length; index++) {
    const sextet = SEXTETS[text.charCodeAt(index)] ?? INVALID;
    if (sextet === INVALID) return undefined;
    word = ((word << 6) | sextet) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[offset++] = word >> bits;
    }
  }
  // Bits that no byte uses must be zero, else several texts would decode to one value.
  return (word & ((1 << bits) - 1)) === 0 ? bytes : undefined;
}

function unpaddedLength(text: string): number | undefined {
  const end = text.endsWith("==") ? text.length - 2 : text.endsWith("=") ? text.length - 1 : text.length;
  const padded = end !== text.length;
  if (end % 4 === 1 || (padded && text.length % 4 !== 0)) return undefined;
  return end;
}

function mixesAlphabets(text: string): boolean {
  return /[-_]/.test(text) && /[+/]/.test(text);
}

/** Decodes hexadecimal of either case; undefined when it is anything else. */
export function decodeHex(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 2 !== 0) return undefined;
  const bytes = new Uint8Array(text.length / 2);
  for (let index = 0; index < bytes.length; index++) {
    const high = hexDigit(text.charCodeAt(index * 2));
    const low = hexDigit(text.charCodeAt(index * 2 + 1));
    if (high < 0 || low < 0) return undefined;
    bytes[index] = (high << 4) | low;
  }
  return bytes;
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

// Every event that a gateway knows by its content is named in hexadecimal: from a table it takes a quarter of the time.
// Pure, so that a bundle without hexadecimal drops it.
const HEX = /* @__PURE__ */ Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Lower-case hexadecimal. */
export function encodeHex(bytes: Uint8Array): string {
  let text = "";
  for (let index = 0; index < bytes.length; index++) text += HEX[bytes[index] as number] as string;
  return text;
}

/** UTF-16 bytes of a text. In UTF-8, every half of a surrogate pair would be the same replacement character. */
export function utf16(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length * 2);
  const view = new DataView(bytes.buffer);
  for (let index = 0; index < text.length; index++) view.setUint16(index * 2, text.charCodeAt(index));
  return bytes;
}

import { decodeBase64, decodeHex } from "../../bytes.js";
import { malformedHeader, needHeader } from "./headers.js";
import type { HeaderBag } from "./headers.js";
import type { Claim } from "../scheme.js";

/** How a header writes a signature's bytes. */
export interface SignatureForm {
  /** Lower-case name of the header. */
  readonly header: string;
  readonly encoding: "hex" | "base64";
  /** What stands before the signature, such as `sha256=`. */
  readonly prefix?: string;
}

/** How a header lists a time and signatures, such as `t=1700000000,v1=…,v1=…`. */
export interface TaggedForm extends Omit<SignatureForm, "prefix"> {
  readonly separator: "," | ";";
  /** The tag of the time, and of the signatures that count. */
  readonly time: string;
  readonly signature: string;
}

// Real senders put one or two; without a cap, a header of thousands makes us compare for an attacker.
const MAX_ENTRIES = 16;

/** The one signature of a header. */
export function readSignature(headers: HeaderBag, form: SignatureForm): Uint8Array {
  const { header, prefix = "" } = form;
  const text = needHeader(headers, header);
  const signature = text.startsWith(prefix) ? decode(text.slice(prefix.length), form.encoding) : undefined;
  if (signature !== undefined) return signature;
  const expected = `${prefix === "" ? "" : `"${prefix}" and `}a signature in ${form.encoding}`;
  throw malformedHeader(header, `it must be ${expected}`);
}

/**
 * The time and the signatures of a tagged list. Tags that nobody knows are passed over, so that a
 * provider may add a version; a time that is missing or stands twice is refused, since readers would
 * differ in which of the two they take.
 */
export function readTagged(
  headers: HeaderBag,
  form: TaggedForm,
): { readonly time: string; readonly signatures: readonly Uint8Array[] } {
  const entries = needHeader(headers, form.header).split(form.separator);
  if (entries.length > MAX_ENTRIES)
    throw malformedHeader(form.header, `it has ${entries.length} entries, more than ${MAX_ENTRIES}`);
  const times = valuesOf(entries, form.time);
  const [time] = times;
  if (time === undefined || times.length > 1)
    throw malformedHeader(
      form.header,
      `it must have exactly one "${form.time}=" entry and has ${times.length}`,
    );
  const signatures = valuesOf(entries, form.signature).map((text) => decode(text, form.encoding));
  return { time, signatures: signatures.filter((signature) => signature !== undefined) };
}

/** No claim at all where no signature could be read, so that the verdict says so instead of "mismatch". */
export function claims(claim: Claim): readonly Claim[] {
  return claim.signatures.length === 0 ? [] : [claim];
}

function valuesOf(entries: readonly string[], tag: string): readonly string[] {
  const start = `${tag}=`;
  return entries
    .map((entry) => entry.trim())
    .filter((entry) => entry.startsWith(start))
    .map((entry) => entry.slice(start.length));
}

function decode(text: string, encoding: SignatureForm["encoding"]): Uint8Array | undefined {
  const bytes = encoding === "hex" ? decodeHex(text) : decodeBase64(text);
  return bytes?.length === 0 ? undefined : bytes;
}

import { decodeBase64 } from "../../bytes.js";
import { findHeader, malformedHeader, needHeader } from "./headers.js";
import type { HeaderBag } from "./headers.js";

/** The headers of Standard Webhooks, and Svix's names for them. */
export const STANDARD_HEADERS: readonly string[] = ["webhook", "svix"].flatMap(namesOf);

/** Id, time and signatures. */
function namesOf(prefix: string): readonly [string, string, string] {
  return [`${prefix}-id`, `${prefix}-timestamp`, `${prefix}-signature`];
}

/** The three headers of Standard Webhooks, checked for form but not yet believed. */
export interface StandardHeaders {
  readonly id: string;
  readonly timestamp: string;
  readonly entries: readonly SignatureEntry[];
}

/** One signature of the list: `v1,<base64>`. */
export interface SignatureEntry {
  readonly version: string;
  readonly signature: Uint8Array;
}

// Real senders put one or two; without a cap, a header of thousands makes us hash for an attacker.
const MAX_ENTRIES = 16;
const MAX_ID_LENGTH = 255;

/** Reads the headers under their standard names or, where the first is absent, under Svix's. */
export function readStandardHeaders(headers: HeaderBag): StandardHeaders {
  const found = findHeader(headers, "webhook-id");
  const isSvix = found === undefined && findHeader(headers, "svix-id") !== undefined;
  const [idName, timeName, listName] = namesOf(isSvix ? "svix" : "webhook");
  const id = found || needHeader(headers, idName);
  const timestamp = needHeader(headers, timeName);
  const list = needHeader(headers, listName);
  if (!isEventId(id)) {
    throw malformedHeader(idName, "it must be 1 to 255 visible ASCII characters without a full stop");
  }
  return { id, timestamp, entries: parseEntries(list, listName) };
}

/** Whether a text can be the id of an event: a full stop would let id and timestamp trade places under one signature. */
export function isEventId(id: unknown): id is string {
  return typeof id === "string" && id.length <= MAX_ID_LENGTH && /^[\x21-\x2d\x2f-\x7e]+$/.test(id);
}

/** Decodes the list. Entries that are not of the form are passed over, like versions that nobody knows. */
function parseEntries(list: string, header: string): readonly SignatureEntry[] {
  const texts = list.split(" ");
  if (texts.length > MAX_ENTRIES)
    throw malformedHeader(header, `it lists ${texts.length} signatures, more than ${MAX_ENTRIES}`);
  const entries: SignatureEntry[] = [];
  for (const text of texts) {
    const comma = text.indexOf(",");
    const signature = comma > 0 ? decodeBase64(text.slice(comma + 1)) : undefined;
    if (signature !== undefined && signature.length > 0)
      entries.push({ version: text.slice(0, comma), signature });
  }
  return entries;
}

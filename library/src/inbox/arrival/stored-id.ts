import { sha256, sha256Sync } from "#crypto";
import { encodeHex, utf16 } from "../../bytes.js";

const STORED_AS_IS = /^[\x21-\x7e]{1,255}$/;
const PREVIEW_LENGTH = 64;

/** An id in the form in which stores keep it. */
export interface StoredId {
  readonly id: string;
  /** The beginning of a foreign id that is kept as a hash, made safe to show. */
  readonly preview: string | undefined;
}

/**
 * Ids of visible ASCII, up to 255 bytes, are kept as they are. Any other is kept as a hash: databases
 * reject NUL, fold what is not well-formed text into one key, and limit the length of an index entry.
 * The hash is written with a space, which no id that is kept as it is can hold.
 */
export function storedId(id: string): StoredId | Promise<StoredId> {
  return isStoredAsIs(id) ? { id, preview: undefined } : sha256(utf16(id)).then((hash) => hashed(id, hash));
}

/** The same for those who cannot wait, SQLite and the gateway; they run where cryptography is synchronous. */
export function storedIdSync(id: string): StoredId {
  return isStoredAsIs(id) ? { id, preview: undefined } : hashed(id, sha256Sync(utf16(id)));
}

function isStoredAsIs(id: string): boolean {
  return STORED_AS_IS.test(id);
}

function hashed(id: string, hash: Uint8Array): StoredId {
  return { id: hashText(hash), preview: printable(id.slice(0, PREVIEW_LENGTH)) };
}

function hashText(hash: Uint8Array): string {
  return `sha256 ${encodeHex(hash)}`;
}

/** Stands for a text of any length and any characters; two that differ stay apart. */
export function hashedText(text: string): string {
  return hashText(sha256Sync(utf16(text)));
}

function printable(text: string): string {
  return text.replaceAll(
    /[^\x20-\x7e]/g,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

import { decodeBase64, encodeBase64, utf8 } from "../bytes.js";
import { cursorInvalid } from "./cursor.js";

/** Where a page of the inbox ended: at a row, or without one at the time up to which rows were looked at. */
export interface InboxSpot {
  /** In the unit of the store. */
  readonly at: bigint;
  /** What sorts the rows of one time in this store; undefined where the page ended at no row. */
  readonly row: readonly string[] | undefined;
}

/** The cursor has all that sorts the row, because the row itself may be gone when the next page is asked for. */
export function inboxCursorOf({ at, row = [] }: InboxSpot): string {
  return keyCursorOf([String(at), ...row]);
}

/** Rows of one time in the order of their addresses: id, source, tenant and consumer. */
export function byAddress(row: readonly string[]): boolean {
  return row.length === 4;
}

/** Rows of one time in the order in which they were written. */
export function byNumber([number = "", ...more]: readonly string[]): boolean {
  return more.length === 0 && /^\d{1,18}$/.test(number);
}

/** Where the last item of a page stood, in a list that is sorted by texts. */
export function keyCursorOf(key: readonly string[]): string {
  const text = encodeBase64(utf8(JSON.stringify(key)));
  return text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The texts of a cursor that has so many; undefined where the list begins. */
export function keyOfCursor(after: string | undefined, length: number): readonly string[] | undefined {
  if (after === undefined) return undefined;
  const key = partsOf(after);
  if (key.length !== length) throw cursorInvalid(after);
  return key;
}

/** Undefined where the list begins. */
export function inboxSpotOf(
  after: string | undefined,
  isRow: (row: readonly string[]) => boolean,
): InboxSpot | undefined {
  if (after === undefined) return undefined;
  const [at, ...row] = partsOf(after);
  if (at === undefined || !/^\d{1,18}$/.test(at) || (row.length > 0 && !isRow(row)))
    throw cursorInvalid(after);
  return { at: BigInt(at), row: row.length === 0 ? undefined : row };
}

function partsOf(after: string): readonly string[] {
  try {
    const bytes = decodeBase64(after) ?? new Uint8Array();
    const parts: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return Array.isArray(parts) && parts.every((part) => typeof part === "string" && !part.includes("\0"))
      ? (parts as string[])
      : [];
  } catch {
    return [];
  }
}

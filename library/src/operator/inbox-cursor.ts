import { decodeBase64, encodeBase64, utf8 } from "../bytes.js";
import { cursorInvalid } from "./cursor.js";
import type { InboxAddress } from "./inbox-view-store.js";

/** Where a page of the inbox ended: at a row, or without an address at the time up to which rows were looked at. */
export interface InboxSpot {
  /** In the unit of the store: rows of one time are told apart by their addresses. */
  readonly at: bigint;
  readonly address: InboxAddress | undefined;
}

/** A row has no number: the cursor has its time and its address, because the row itself may be gone by then. */
export function inboxCursorOf({ at, address }: InboxSpot): string {
  const parts = address === undefined ? [] : [address.id, address.source, address.tenant, address.consumer];
  return keyCursorOf([String(at), ...parts]);
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
export function inboxSpotOf(after: string | undefined): InboxSpot | undefined {
  if (after === undefined) return undefined;
  const [at, ...address] = partsOf(after);
  if (at === undefined || !/^\d{1,18}$/.test(at) || (address.length !== 0 && address.length !== 4)) {
    throw cursorInvalid(after);
  }
  const [id = "", source = "", tenant = "", consumer = ""] = address;
  return {
    at: BigInt(at),
    address: address.length === 0 ? undefined : { id, source, tenant, consumer },
  };
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

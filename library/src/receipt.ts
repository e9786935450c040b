import { decodeHex, encodeHex } from "./bytes.js";

/**
 * What a receiver knew of an event that it stored for handlers. It travels with the event, because the worker that writes
 * the event's row of the inbox has neither the request nor the source's options.
 */
export interface Receipt {
  /** As handlers know it: the provider's id, or `body_…`. */
  readonly id: string;
  /** The same in its stored form, with the beginning of a foreign id that is kept as a hash. */
  readonly storedId: string;
  readonly idPreview?: string | undefined;
  /** When it happened, by the provider's word. */
  readonly time?: Date | undefined;
  /** What must be the same when the id comes again. */
  readonly bodyHash: Uint8Array;
  /** The inbox remembers it this long; undefined = for ever. */
  readonly windowS?: number | undefined;
}

/** A receipt as stores keep it: JSON of ASCII characters, which every database takes. */
export function receiptText({ id, storedId, idPreview, time, bodyHash, windowS }: Receipt): string {
  const values = { id, storedId, idPreview, time: time?.getTime(), bodyHash: encodeHex(bodyHash), windowS };
  return JSON.stringify(values).replaceAll(BEYOND_ASCII, escaped);
}

/** The receipt that a store has kept. */
export function readReceipt(text: string): Receipt {
  const { id, storedId, idPreview, time, bodyHash, windowS } = JSON.parse(text) as Stored;
  const hash = decodeHex(bodyHash) ?? new Uint8Array();
  const happenedAt = time === undefined ? undefined : new Date(time);
  return { id, storedId, idPreview, time: happenedAt, bodyHash: hash, windowS };
}

interface Stored extends Omit<Receipt, "time" | "bodyHash"> {
  readonly time?: number;
  readonly bodyHash: string;
}

const BEYOND_ASCII = /[\u007f-\uffff]/g;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

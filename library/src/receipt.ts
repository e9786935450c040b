import { decodeHex, encodeHex } from "./bytes.js";
import type { Stamp } from "./event.js";
import { readMark, storedMark } from "./hold-mark.js";
import type { Gap, HoldMark, StoredHoldMark } from "./hold-mark.js";

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
  /** What its Posthorn sender has signed about the delivery. */
  readonly stamp?: Stamp | undefined;
  /** Where it stands in the sequence of its key, where its source holds what comes before its turn. */
  readonly hold?: HoldMark | undefined;
}

/** A receipt as stores keep it: JSON of ASCII characters, which every database takes. */
export function receiptText({ time, bodyHash, stamp, hold, ...plain }: Receipt): string {
  const { id, storedId, idPreview, windowS } = plain;
  const values: Stored = {
    id,
    storedId,
    idPreview,
    time: time?.getTime(),
    bodyHash: encodeHex(bodyHash),
    windowS,
    stamp: stamp && storedStamp(stamp),
    hold: hold && storedMark(hold),
  };
  return JSON.stringify(values).replaceAll(BEYOND_ASCII, escaped);
}

/** The receipt that a store has kept. */
export function readReceipt(text: string): Receipt {
  const { id, storedId, idPreview, time, bodyHash, windowS, stamp, hold } = JSON.parse(text) as Stored;
  return {
    id,
    storedId,
    idPreview,
    time: time === undefined ? undefined : new Date(time),
    bodyHash: decodeHex(bodyHash) ?? new Uint8Array(),
    windowS,
    stamp: stamp && readStamp(stamp),
    hold: hold && readMark(hold),
  };
}

/** Where an event stands in the sequence of its key; undefined where nothing holds it. Only receipts that have a mark are read. */
export function holdMarkIn(text: string): HoldMark | undefined {
  return text.includes(MARKED) ? readReceipt(text).hold : undefined;
}

/** What a receipt with a mark contains, and no other: a quotation mark inside of a value is escaped. */
export const MARKED = '"hold":{';

/** The receipt with what was decided of its event. */
export function decidedReceipt(
  text: string,
  decided: { readonly gap: Gap | undefined } | { readonly late: true },
): string {
  const receipt = readReceipt(text);
  return receipt.hold === undefined
    ? text
    : receiptText({ ...receipt, hold: { ...receipt.hold, ...decided } });
}

interface Stored extends Omit<Receipt, "time" | "bodyHash" | "stamp" | "hold"> {
  readonly time?: number | undefined;
  readonly bodyHash: string;
  readonly stamp?: StoredStamp | undefined;
  readonly hold?: StoredHoldMark | undefined;
}

interface StoredStamp extends Omit<Stamp, "lane" | "time"> {
  readonly lane?:
    | {
        readonly generation: string;
        readonly key: string;
        readonly sequence: string;
        readonly after?: string | undefined;
      }
    | undefined;
  readonly time?: number | undefined;
}

function storedStamp({ lane, time, attempt, replay }: Stamp): StoredStamp {
  return {
    lane: lane && {
      generation: String(lane.generation),
      key: lane.key,
      sequence: String(lane.sequence),
      after: lane.after === undefined ? undefined : String(lane.after),
    },
    time: time?.getTime(),
    attempt,
    replay,
  };
}

function readStamp({ lane, time, attempt, replay }: StoredStamp): Stamp {
  return {
    lane: lane && {
      generation: BigInt(lane.generation),
      key: lane.key,
      sequence: BigInt(lane.sequence),
      after: lane.after === undefined ? undefined : BigInt(lane.after),
    },
    time: time === undefined ? undefined : new Date(time),
    attempt,
    replay,
  };
}

const BEYOND_ASCII = /[\u007f-\uffff]/g;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

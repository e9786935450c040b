import { encodeHex } from "../bytes.js";
import type { IncomingRepeat } from "./ingest-store.js";
import { MOST_REPEATED_BODIES } from "./ingest-store.js";

/** Repeats of one body in one batch. */
export interface GatheredRepeat extends IncomingRepeat {
  readonly receipts: number;
  readonly lastAt: Date;
}

/**
 * The rows of a batch: repeats of the same event, kind and body become one that counts them, because no database writes
 * a row twice in one statement. Of one event, no more bodies than are kept.
 */
export function gatherRepeats(repeats: readonly IncomingRepeat[]): readonly GatheredRepeat[] {
  const rows = new Map<string, GatheredRepeat>();
  const bodies = new Map<string, number>();
  for (const repeat of repeats) {
    const event = JSON.stringify([repeat.tenant, repeat.eventId]);
    const row = `${event} ${repeat.kind} ${encodeHex(repeat.bodyHash)}`;
    const known = rows.get(row);
    const count = bodies.get(event) ?? 0;
    if (known === undefined && count === MOST_REPEATED_BODIES) continue;
    if (known === undefined) bodies.set(event, count + 1);
    rows.set(row, known === undefined ? first(repeat) : joined(known, repeat));
  }
  return [...rows.values()];
}

function first(repeat: IncomingRepeat): GatheredRepeat {
  return { ...repeat, receipts: 1, lastAt: repeat.receivedAt };
}

function joined(known: GatheredRepeat, { receivedAt }: IncomingRepeat): GatheredRepeat {
  const lastAt = receivedAt > known.lastAt ? receivedAt : known.lastAt;
  const firstAt = receivedAt < known.receivedAt ? receivedAt : known.receivedAt;
  return { ...known, receipts: known.receipts + 1, receivedAt: firstAt, lastAt };
}

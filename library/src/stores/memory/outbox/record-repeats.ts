import { encodeHex, equalBytes } from "../../../bytes.js";
import type { Clock } from "../../../clock.js";
import type { RepeatRecord } from "../../../operator/view-store.js";
import { gatherRepeats } from "../../../outbox/gather-repeats.js";
import type { IncomingRepeat } from "../../../outbox/ingest-store.js";
import { MOST_REPEATED_BODIES } from "../../../outbox/ingest-store.js";

interface KeptRepeat {
  readonly record: RepeatRecord;
  /** By the monotonic clock. */
  readonly keepUntil: number;
}

/** Duplicates and conflicts of events, one row per body. */
export class RepeatTable {
  readonly #clock: Clock;
  /** By event, then by kind and body. */
  readonly #events = new Map<string, Map<string, KeptRepeat>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(
    repeats: readonly IncomingRepeat[],
    bodyOf: (tenant: string, eventId: string) => Uint8Array | undefined,
  ): void {
    const now = this.#clock.monotonic();
    this.#forget(now);
    for (const {
      tenant,
      eventId,
      kind,
      receipts,
      receivedAt,
      lastAt,
      windowS = Infinity,
      ...repeat
    } of gatherRepeats(repeats)) {
      const event = JSON.stringify([tenant, eventId]);
      const rows = this.#events.get(event) ?? new Map<string, KeptRepeat>();
      this.#events.set(event, rows);
      const name = `${kind} ${encodeHex(repeat.bodyHash)}`;
      const known = rows.get(name);
      if (known === undefined && rows.size >= MOST_REPEATED_BODIES) continue;
      const own = bodyOf(tenant, eventId);
      const record = known?.record ?? {
        kind,
        receipts: 0,
        firstAt: new Date(receivedAt),
        lastAt: new Date(receivedAt),
        headers: { ...repeat.headers },
        bodyHash: repeat.bodyHash.slice(),
        body: own !== undefined && equalBytes(own, repeat.body) ? undefined : repeat.body.slice(),
      };
      rows.set(name, {
        record: {
          ...record,
          receipts: record.receipts + receipts,
          firstAt: new Date(Math.min(record.firstAt.getTime(), receivedAt.getTime())),
          lastAt: new Date(Math.max(record.lastAt.getTime(), lastAt.getTime())),
        },
        keepUntil: Math.max(known?.keepUntil ?? 0, now + windowS * 1000),
      });
    }
  }

  /** Oldest first. */
  of(tenant: string, eventId: string): readonly RepeatRecord[] {
    const rows = this.#events.get(JSON.stringify([tenant, eventId]));
    return [...(rows?.values() ?? [])]
      .map(({ record }) => record)
      .toSorted((one, other) => one.firstAt.getTime() - other.firstAt.getTime());
  }

  #forget(now: number): void {
    for (const rows of this.#events.values())
      for (const [name, { keepUntil }] of rows) if (keepUntil <= now) rows.delete(name);
  }
}

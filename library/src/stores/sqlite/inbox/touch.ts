import { reach } from "#faults";
import type { Clock } from "../../../clock.js";
import type { Arrival } from "../../../inbox/inbox-store.js";
import type { Touch } from "../../../inbox/touches.js";
import { Touches } from "../../../inbox/touches.js";
import type { Observer } from "../../../observer.js";
import { notify } from "../../../observer.js";
import { storeFailed } from "../../../store-failed.js";
import type { SqliteClient } from "../client/client.js";
import type { Connection } from "../client/connection.js";
import { write } from "../client/connection.js";
import { keepUntil } from "./inbox-row.js";

export interface ReceiptParts {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly waitMs: number;
  readonly observer: Observer | undefined;
}

const TOUCHES_PER_WRITE = 200;
const FLUSH_AFTER_MS = 1000;

/** Receipts of duplicates, which are written in batches. */
export class Receipts {
  readonly #parts: ReceiptParts;
  readonly #touches = new Touches();
  #flushPlanned = false;

  constructor(parts: ReceiptParts) {
    this.#parts = parts;
  }

  touch(arrival: Arrival): void {
    if (!this.#touches.add(arrival, this.#parts.clock.now())) return;
    if (this.#touches.size >= TOUCHES_PER_WRITE) void this.#flushAlone();
    else this.#planFlush();
  }

  async flush(): Promise<void> {
    const { connection, waitMs } = this.#parts;
    while (this.#touches.size > 0) {
      const touches = this.#touches.take(TOUCHES_PER_WRITE);
      try {
        reach("touch.before_record");
        await write(connection, { waitMs }, () =>
          touches.forEach((touch) => noteTouch(connection.client, touch)),
        );
        reach("touch.after_record");
      } catch (error) {
        this.#touches.putBack(touches);
        throw error;
      }
    }
  }

  #planFlush(): void {
    if (this.#flushPlanned) return;
    this.#flushPlanned = true;
    void this.#parts.clock.sleep(FLUSH_AFTER_MS).then(() => {
      this.#flushPlanned = false;
      return this.#flushAlone();
    });
  }

  // Nobody waits for this flush; what it could not write waits for the next.
  async #flushAlone(): Promise<void> {
    try {
      await this.flush();
    } catch (error) {
      notify(this.#parts.observer, storeFailed("flush", error));
    }
  }
}

/** Starts the window of a duplicate's event again, and counts its receipt. */
function noteTouch(client: SqliteClient, { tenant, source, id, windowS, atMs }: Touch): void {
  client.run(
    // `max`, because this may be written after a later receipt was. A row that failed had no duplicate.
    `update posthorn_inbox set
       receipts = receipts + 1,
       last_received_at = max(last_received_at, ?),
       keep_until = max(keep_until, ?)
     where tenant = ? and source = ? and event_id = ? and consumer = '' and outcome not in ('failed', 'pending')`,
    atMs,
    keepUntil(windowS, atMs),
    tenant,
    source,
    id,
  );
}

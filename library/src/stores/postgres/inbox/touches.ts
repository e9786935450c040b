import { reach } from "#faults";
import type { Clock } from "../../../clock.js";
import type { Arrival } from "../../../inbox/inbox-store.js";
import type { Pool } from "../client/database.js";
import { arrayText, idArrayText } from "../client/identifiers.js";

interface Touch {
  readonly tenant: string;
  readonly source: string;
  readonly id: string;
  readonly windowS: number | undefined;
}

const MINUTE_MS = 60_000;
// A sender that repeats millions of events must not fill the memory with them.
const MOST_REMEMBERED = 10_000;
const ROWS_PER_STATEMENT = 500;

/** Gathers receipts of duplicates, at most one per event and minute: a sender gone wild must not become a write per request. */
export class Touches {
  readonly #clock: Clock;
  // In the order of their time, so that the oldest come first.
  readonly #lastAt = new Map<string, number>();
  #gathered: Touch[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isEmpty(): boolean {
    return this.#gathered.length === 0;
  }

  add({ tenant, source, id, windowS }: Arrival): void {
    const now = this.#clock.monotonic();
    const key = [tenant, source, id].join("\n");
    // Half a window, where it is shorter than two minutes: the row would be purged before it was touched again.
    const restMs = Math.min(MINUTE_MS, ((windowS ?? Infinity) * 1000) / 2);
    if (now - (this.#lastAt.get(key) ?? -Infinity) < restMs) return;
    this.#lastAt.delete(key);
    this.#lastAt.set(key, now);
    this.#forgetOldest(now);
    if (this.#gathered.length < MOST_REMEMBERED) this.#gathered.push({ tenant, source, id, windowS });
  }

  /** Writes what was gathered; what could not be written is kept for the next time. */
  async flush(pool: Pool<unknown>, inbox: string, acquireMs: number): Promise<void> {
    while (this.#gathered.length > 0) {
      const touches = this.#gathered.splice(0, ROWS_PER_STATEMENT);
      try {
        reach("touch.before_record");
        await writeTouches(pool, touches, { inbox, acquireMs });
        reach("touch.after_record");
      } catch (error) {
        this.#gathered = [...touches, ...this.#gathered].slice(0, MOST_REMEMBERED);
        throw error;
      }
    }
  }

  #forgetOldest(now: number): void {
    if (this.#lastAt.size <= MOST_REMEMBERED) return;
    // Many at once: a Map keeps a hole for each that is deleted, and looks through all of them to find the oldest.
    for (const [key, at] of this.#lastAt) {
      if (this.#lastAt.size <= MOST_REMEMBERED / 2 && now - at < MINUTE_MS) return;
      this.#lastAt.delete(key);
    }
  }
}

async function writeTouches(
  pool: Pool<unknown>,
  touches: readonly Touch[],
  { inbox, acquireMs }: { readonly inbox: string; readonly acquireMs: number },
): Promise<void> {
  await pool.query(
    {
      // Locked in the order of their keys before they are changed: two processes that touch the same rows in the
      // order of their arrays wait for each other. What was promised a longer window, or to be kept for ever, stays so:
      // of two nodes with different settings, the one with less would make the other's events new again.
      text: `
        with known as materialized (
          select inbox.tenant, inbox.source, inbox.event_id, given.window_s
          from unnest($1::text[], $2::text[], $3::text[], $4::float8[]) as given (tenant, source, event_id, window_s)
          join ${inbox} as inbox using (tenant, source, event_id)
          order by inbox.tenant, inbox.source, inbox.event_id
          for no key update of inbox
        )
        update ${inbox} as inbox set receipts = receipts + 1, last_received_at = clock_timestamp(),
          keep_until = case when inbox.keep_until is not null and known.window_s is not null
            then greatest(inbox.keep_until, clock_timestamp() + make_interval(secs => known.window_s)) end
        from known where inbox.outcome <> 'failed'
          and (inbox.tenant, inbox.source, inbox.event_id) = (known.tenant, known.source, known.event_id)`,
      params: [
        arrayText(touches.map(({ tenant }) => tenant)),
        arrayText(touches.map(({ source }) => source)),
        idArrayText(touches.map(({ id }) => id)),
        `{${touches.map(({ windowS }) => windowS ?? "null").join(",")}}`,
      ],
    },
    acquireMs,
  );
}

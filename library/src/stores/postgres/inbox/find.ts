import { reach } from "#faults";
import type { InboxKey, KnownEvent } from "../../../inbox/inbox-store.js";
import { Batcher } from "../../../work/batcher.js";
import type { Pool } from "../client/database.js";
import { KNOWN_COLUMNS, knownOf } from "./inbox-row.js";
import { MIGRATE_CURE } from "../schema/migrate.js";
import { arrayText, idArrayText } from "../client/identifiers.js";
import { againWhenLost, isSaturated, storeError } from "../client/failure.js";

interface Asked {
  readonly key: InboxKey;
  readonly answer: (known: KnownEvent | undefined) => void;
  readonly fail: (error: unknown) => void;
}

// The look-up is only the fast way to a duplicate's answer; whoever waits longer for it than this had better go on.
const ACQUIRE_MS = 250;

/** Looks events up; calls of the same moment share one query, so that a known duplicate costs no transaction. */
export class Lookups {
  readonly #pool: Pool<unknown>;
  readonly #inbox: string;
  readonly #batches: Batcher<Asked>;

  constructor(pool: Pool<unknown>, inbox: string) {
    this.#pool = pool;
    this.#inbox = inbox;
    this.#batches = new Batcher({ run: (asked) => this.#run(asked), maxItems: 200, maxBatches: 2 });
  }

  find(key: InboxKey): Promise<KnownEvent | undefined> {
    return new Promise((answer, fail) => this.#batches.add({ key, answer, fail }));
  }

  async #run(asked: readonly Asked[]): Promise<void> {
    try {
      const known = await againWhenLost(() => this.#query(asked.map(({ key }) => key)));
      asked.forEach(({ answer }, index) => answer(known.get(index)));
    } catch (error) {
      // Nothing is known, then: accept waits for a connection itself, and says that there is none.
      if (isSaturated(error)) asked.forEach(({ answer }) => answer(undefined));
      else asked.forEach(({ fail }) => fail(storeError(error, MIGRATE_CURE)));
    }
  }

  async #query(keys: readonly InboxKey[]): Promise<ReadonlyMap<number, KnownEvent>> {
    reach("find.before_read");
    const { rows } = await this.#pool.query(
      {
        text: `
          select ${KNOWN_COLUMNS}, n::text
          from unnest($1::text[], $2::text[], $3::text[]) with ordinality as key (tenant, source, event_id, n)
          join ${this.#inbox} using (tenant, source, event_id)`,
        params: [
          arrayText(keys.map(({ tenant }) => tenant)),
          arrayText(keys.map(({ source }) => source)),
          idArrayText(keys.map(({ id }) => id)),
        ],
      },
      ACQUIRE_MS,
    );
    reach("find.after_read");
    return new Map(rows.map((row) => [Number(row[3]) - 1, knownOf(row)]));
  }
}

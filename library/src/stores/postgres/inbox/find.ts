import { reach } from "#faults";
import type { InboxKey, KnownEvent } from "../../../inbox/inbox-store.js";
import { Batcher } from "../../../work/batcher.js";
import type { Pool } from "../client/database.js";
import { againWhenLost, isSaturated, storeError } from "../client/failure.js";
import { givenRows, texts } from "../client/given-rows.js";
import { MIGRATE_CURE } from "../schema/migrate.js";
import type { Tables } from "../schema/tables.js";
import { IS_KEPT, KNOWN_COLUMNS, knownOf, RECEIVER } from "./inbox-row.js";

interface Asked {
  readonly key: InboxKey;
  readonly answer: (known: KnownEvent | undefined) => void;
  readonly fail: (error: unknown) => void;
}

// Acquire timeout. The look-up is only the fast way to a duplicate's answer: past this, `accept` finds it out.
const ACQUIRE_MS = 250;

const KEYS = givenRows<InboxKey>({
  tenant: texts(({ tenant }) => tenant),
  source: texts(({ source }) => source),
  event_id: texts(({ id }) => id),
});

/** Looks events up; calls of the same moment share one query, so that a known duplicate costs no transaction. */
export class Lookups {
  readonly #pool: Pool<unknown>;
  readonly #tables: Tables;
  readonly #batches: Batcher<Asked>;

  constructor(pool: Pool<unknown>, tables: Tables) {
    this.#pool = pool;
    this.#tables = tables;
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
      // Answered as unknown: `accept` waits for a connection itself, and reports that there is none.
      if (isSaturated(error)) asked.forEach(({ answer }) => answer(undefined));
      else asked.forEach(({ fail }) => fail(storeError(error, MIGRATE_CURE)));
    }
  }

  async #query(keys: readonly InboxKey[]): Promise<ReadonlyMap<number, KnownEvent>> {
    reach("find.before_read");
    const { rows } = await this.#pool.query(
      {
        text: `
          select n::text as n, ${KNOWN_COLUMNS}
          from ${KEYS.table("key")} join ${this.#tables.inbox} as inbox using (tenant, source, event_id)
          where consumer = ${RECEIVER} and ${IS_KEPT}`,
        params: KEYS.params(keys),
      },
      ACQUIRE_MS,
    );
    reach("find.after_read");
    return new Map(rows.map(([n, ...known]) => [Number(n) - 1, knownOf(known)]));
  }
}

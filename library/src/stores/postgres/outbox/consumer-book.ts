import { FanOut } from "../../../outbox/fan-out.js";
import type { Consumer } from "../../../outbox/fan-out.js";
import type { Session } from "../client/database.js";
import type { Tables } from "../schema/tables.js";
import { readAllStored } from "./consumer-row.js";

/** All consumers as they were at one moment. */
export interface ConsumerSet {
  readonly mark: string;
  /** In the order of their numbers. */
  readonly fanOut: FanOut;
  readonly byNumber: ReadonlyMap<bigint, Consumer>;
  readonly numbers: ReadonlyMap<string, bigint>;
}

/** Remembers the consumers for as long as their mark is the same: another process may have changed them, and a failover may have lost the change. */
export class ConsumerBook {
  readonly #tables: Tables;
  #known: ConsumerSet | undefined;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  /** The mark is one that this transaction has read under the lock of the stage, without which it could change. */
  async read(session: Session, mark: string): Promise<ConsumerSet> {
    if (this.#known?.mark === mark) return this.#known;
    const stored = await readAllStored(session, this.#tables);
    this.#known = {
      mark,
      fanOut: new FanOut(stored.map(({ consumer }) => consumer)),
      byNumber: new Map(stored.map(({ number, consumer }) => [number, consumer])),
      numbers: new Map(stored.map(({ number, consumer }) => [consumer.id, number])),
    };
    return this.#known;
  }
}

/** Lets every process read the consumers again before it gives places. */
export async function markChanged(session: Session, { outboxConfig }: Tables): Promise<void> {
  await session.query({ text: `update ${outboxConfig} set mark = gen_random_uuid()`, params: [] });
}

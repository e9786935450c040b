import type { Endpoint } from "../../../outbox/endpoint.js";
import { FanOut } from "../../../outbox/fan-out.js";
import type { Session } from "../client/database.js";
import type { Tables } from "../schema/tables.js";
import { readAllStored } from "./endpoint-row.js";

/** All endpoints as they were at one moment. */
export interface EndpointSet {
  readonly mark: string;
  /** In the order of their numbers. */
  readonly fanOut: FanOut;
  readonly byNumber: ReadonlyMap<bigint, Endpoint>;
  readonly numbers: ReadonlyMap<string, bigint>;
}

/** Remembers the endpoints for as long as their mark is the same: another process may have changed them, and a failover may have lost the change. */
export class EndpointBook {
  readonly #tables: Tables;
  #known: EndpointSet | undefined;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  /** The mark is one that this transaction has read under the lock of the stage, without which it could change. */
  async read(session: Session, mark: string): Promise<EndpointSet> {
    if (this.#known?.mark === mark) return this.#known;
    const stored = await readAllStored(session, this.#tables);
    this.#known = {
      mark,
      fanOut: new FanOut(stored.map(({ endpoint }) => endpoint)),
      byNumber: new Map(stored.map(({ number, endpoint }) => [number, endpoint])),
      numbers: new Map(stored.map(({ number, endpoint }) => [endpoint.id, number])),
    };
    return this.#known;
  }
}

/** Lets every process read the endpoints again before it gives places. */
export async function markChanged(session: Session, { outboxConfig }: Tables): Promise<void> {
  await session.query({ text: `update ${outboxConfig} set mark = gen_random_uuid()`, params: [] });
}

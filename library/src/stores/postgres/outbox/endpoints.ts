import type { Endpoint, EndpointChange } from "../../../outbox/endpoint.js";
import { textArray } from "../client/column-arrays.js";
import type { Session } from "../client/database.js";
import type { Removals } from "./remove-endpoint.js";
import { ENDPOINT_COLUMNS, endpointParams, storedEndpointOf } from "./endpoint-row.js";
import type { EndpointSecrets } from "../../../outbox/endpoint-secrets.js";
import type { OutboxTables } from "../schema/outbox-tables.js";
import type { OwnTransactions } from "../client/own-transaction.js";
import type { Sequencer } from "../lanes/sequence.js";

/** What of an endpoint decides where events go. */
const ADDRESSING = ["sources", "types", "order"] as const satisfies readonly (keyof EndpointChange)[];

export interface EndpointsParts {
  readonly transactions: OwnTransactions;
  readonly tables: OutboxTables;
  readonly sequencer: Sequencer;
  readonly secrets: EndpointSecrets;
  readonly removals: Removals;
}

/** Where events go. */
export class Endpoints {
  readonly #transactions: OwnTransactions;
  readonly #tables: OutboxTables;
  readonly #sequencer: Sequencer;
  readonly #secrets: EndpointSecrets;
  readonly #removals: Removals;

  constructor({ transactions, tables, sequencer, secrets, removals }: EndpointsParts) {
    this.#transactions = transactions;
    this.#tables = tables;
    this.#sequencer = sequencer;
    this.#secrets = secrets;
    this.#removals = removals;
  }

  add(endpoint: Endpoint): Promise<boolean> {
    return this.#sequencer.drained(async (session) => {
      const { rows } = await session.query({
        text: `
          insert into ${this.#tables.endpoint} (public_id, tenant, definition, ordered_by, dead, max_in_flight, state,
            because, version, stopped_at)
          values ($1::text, $2::text, $3::text, $4::text, $5::text, $6::text::int4, $7::text, $8::text, $9::text::int8,
            case when $7::text <> 'active' then clock_timestamp() end)
          on conflict (public_id) where removed_at is null do nothing returning id::text`,
        params: endpointParams({ ...endpoint, secrets: this.#secrets.closed(endpoint.secrets) }),
      });
      if (rows.length > 0) await this.#bumpVersion(session);
      return rows.length > 0;
    });
  }

  change(id: string, change: EndpointChange): Promise<Endpoint | undefined> {
    // A pause must not wait for a backlog to be sequenced.
    if (!ADDRESSING.some((name) => change[name] !== undefined)) {
      return this.#transactions.run((session) => this.#change(session, id, change));
    }
    return this.#sequencer.drained(async (session) => {
      const changed = await this.#change(session, id, change);
      if (changed) await this.#bumpVersion(session);
      return changed;
    });
  }

  async remove(id: string): Promise<boolean> {
    const removed = await this.#sequencer.drained(async (session) => {
      const { rows } = await session.query({
        text: `
          update ${this.#tables.endpoint} set removed_at = clock_timestamp(), version = version + 1
          where public_id = $1::text and removed_at is null returning id::text`,
        params: [id],
      });
      if (rows.length > 0) await this.#bumpVersion(session);
      return rows.length > 0;
    });
    if (removed) this.#secrets.forget(id);
    // Also of one whose removal another process has begun and not ended.
    await this.#removals.finish();
    return removed;
  }

  async read(ids: readonly string[]): Promise<readonly Endpoint[]> {
    const { rows } = await this.#transactions.read({
      text: `
        select ${ENDPOINT_COLUMNS} from ${this.#tables.endpoint}
        where public_id = any ($1::text[]) and removed_at is null order by public_id`,
      params: [textArray(ids)],
    });
    return rows.map((row) => this.#secrets.opened(storedEndpointOf(row).endpoint));
  }

  async list(page: {
    readonly tenant?: string | undefined;
    readonly after?: string | undefined;
    readonly limit: number;
  }): Promise<readonly Endpoint[]> {
    const { rows } = await this.#transactions.read({
      text: `
        select ${ENDPOINT_COLUMNS} from ${this.#tables.endpoint}
        where removed_at is null and ($1::text is null or tenant = $1::text) and ($2::text is null or public_id > $2::text)
        order by public_id limit $3::text::int8`,
      params: [page.tenant ?? null, page.after ?? null, String(page.limit)],
    });
    return rows.map((row) => this.#secrets.opened(storedEndpointOf(row).endpoint));
  }

  async #change(session: Session, id: string, change: EndpointChange): Promise<Endpoint | undefined> {
    const { endpoint } = this.#tables;
    const { rows } = await session.query({
      text: `select ${ENDPOINT_COLUMNS} from ${endpoint} where public_id = $1::text and removed_at is null for update`,
      params: [id],
    });
    const [row] = rows;
    if (row === undefined) return undefined;
    const { endpoint: before } = storedEndpointOf(row);
    // As they stand there, where they are not changed: what cannot be opened here must not be lost here.
    const secrets = change.secrets === undefined ? before.secrets : this.#secrets.closed(change.secrets);
    const version = before.version + 1;
    const after: Endpoint = { ...before, ...change, secrets, id, tenant: before.tenant, version };
    await session.query({
      text: `
        update ${endpoint} set tenant = $2::text, definition = $3::text, ordered_by = $4::text, dead = $5::text,
          max_in_flight = $6::text::int4, state = $7::text, because = $8::text, version = $9::text::int8,
          stopped_at = case when $7::text <> 'active' then coalesce(stopped_at, clock_timestamp()) end
        where public_id = $1::text and removed_at is null`,
      params: endpointParams(after),
    });
    return this.#secrets.opened(after);
  }

  async #bumpVersion(session: Session): Promise<void> {
    await session.query({ text: `update ${this.#tables.config} set version = version + 1`, params: [] });
  }
}

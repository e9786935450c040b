import type { EndpointSecrets } from "../../../outbox/endpoint-secrets.js";
import type { Endpoint, EndpointChange } from "../../../outbox/endpoint.js";
import type { OutboxStore } from "../../../outbox/outbox-store.js";
import type { Session } from "../client/database.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import type { Sequencer } from "../lanes/sequence.js";
import type { Tables } from "../schema/tables.js";
import { ENDPOINT_COLUMNS, endpointParams, readStored, storedEndpointOf } from "./endpoint-row.js";
import { finishRemovals } from "./remove-endpoint.js";

export interface EndpointParts extends StoreDatabase {
  readonly sequencer: Sequencer;
  readonly secrets: EndpointSecrets;
}

/** What of an endpoint decides where events go. */
const ADDRESSING = ["sources", "types", "order"] as const satisfies readonly (keyof EndpointChange)[];

export function addEndpoint(
  { tables, sequencer, secrets }: EndpointParts,
  endpoint: Endpoint,
): Promise<boolean> {
  return sequencer.drained(async (session) => {
    const { rows } = await session.query({
      text: `
        insert into ${tables.consumer} (public_id, tenant, definition, ordered_by, dead, max_in_flight, state, because,
          version, stopped_at)
        values ($1::text, $2::text, $3::text, $4::text, $5::text, $6::text::int4, $7::text, $8::text, $9::text::int8,
          case when $7::text <> 'active' then clock_timestamp() end)
        on conflict (public_id) where removed_at is null do nothing returning id::text as id`,
      params: endpointParams({ ...endpoint, secrets: secrets.closed(endpoint.secrets) }),
    });
    if (rows.length > 0) await bumpVersion(session, tables);
    return rows.length > 0;
  });
}

export function changeEndpoint(
  parts: EndpointParts,
  id: string,
  change: EndpointChange,
): Promise<Endpoint | undefined> {
  const { transactions, tables, sequencer } = parts;
  // A pause must not wait for a backlog to be sequenced.
  if (!ADDRESSING.some((name) => change[name] !== undefined)) {
    return transactions.run((session) => writeChange(parts, { session, id, change }));
  }
  return sequencer.drained(async (session) => {
    const changed = await writeChange(parts, { session, id, change });
    if (changed) await bumpVersion(session, tables);
    return changed;
  });
}

interface WantedChange {
  readonly session: Session;
  readonly id: string;
  readonly change: EndpointChange;
}

async function writeChange(
  { tables: { consumer }, secrets }: EndpointParts,
  { session, id, change }: WantedChange,
): Promise<Endpoint | undefined> {
  const { rows } = await session.query({
    text: `select ${ENDPOINT_COLUMNS} from ${consumer} where public_id = $1::text and removed_at is null for update`,
    params: [id],
  });
  const [row] = rows;
  if (row === undefined) return undefined;
  const { endpoint: before } = storedEndpointOf(row);
  // Unchanged secrets are written back as they were read: what this process cannot open must not be lost.
  const sealed = change.secrets === undefined ? before.secrets : secrets.closed(change.secrets);
  const { tenant, version } = before;
  const after: Endpoint = { ...before, ...change, secrets: sealed, id, tenant, version: version + 1 };
  await session.query({
    text: `
      update ${consumer} set tenant = $2::text, definition = $3::text, ordered_by = $4::text, dead = $5::text,
        max_in_flight = $6::text::int4, state = $7::text, because = $8::text, version = $9::text::int8,
        stopped_at = case when $7::text <> 'active' then coalesce(stopped_at, clock_timestamp()) end
      where public_id = $1::text and removed_at is null`,
    params: endpointParams(after),
  });
  return secrets.opened(after);
}

export async function removeEndpoint(parts: EndpointParts, id: string): Promise<boolean> {
  const { tables, sequencer, secrets } = parts;
  const removed = await sequencer.drained(async (session) => {
    const { rows } = await session.query({
      text: `
        update ${tables.consumer} set removed_at = clock_timestamp(), version = version + 1
        where public_id = $1::text and removed_at is null returning id::text as id`,
      params: [id],
    });
    if (rows.length > 0) await bumpVersion(session, tables);
    return rows.length > 0;
  });
  if (removed) secrets.forget(id);
  // Also of endpoints whose removal another process began and did not finish.
  await finishRemovals(parts);
  return removed;
}

export async function readEndpoints(
  { transactions, tables, secrets }: EndpointParts,
  ids: readonly string[],
): Promise<readonly Endpoint[]> {
  const session: Session = { query: (statement) => transactions.read(statement) };
  const stored = await readStored(session, ids, tables);
  return stored.map(({ endpoint }) => secrets.opened(endpoint));
}

export async function listEndpoints(
  { transactions, tables, secrets }: EndpointParts,
  page: Parameters<OutboxStore<never>["listEndpoints"]>[0],
): Promise<readonly Endpoint[]> {
  const { rows } = await transactions.read({
    text: `
      select ${ENDPOINT_COLUMNS} from ${tables.consumer}
      where kind = 'endpoint' and removed_at is null and ($1::text is null or tenant = $1::text)
        and ($2::text is null or public_id > $2::text)
      order by public_id limit $3::text::int8`,
    params: [page.tenant ?? null, page.after ?? null, String(page.limit)],
  });
  return rows.map((row) => secrets.opened(storedEndpointOf(row).endpoint));
}

async function bumpVersion(session: Session, { outboxConfig }: Tables): Promise<void> {
  await session.query({ text: `update ${outboxConfig} set version = version + 1`, params: [] });
}

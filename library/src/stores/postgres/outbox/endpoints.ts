import { reach } from "#faults";
import { endpointOfCursor } from "../../../operator/cursor.js";
import type { EndpointSecrets } from "../../../outbox/endpoint-secrets.js";
import type { Endpoint, EndpointChange } from "../../../outbox/endpoint.js";
import { changesOrder, orderRefused } from "../../../outbox/endpoint.js";
import type { OutboxStore } from "../../../outbox/outbox-store.js";
import type { Session } from "../client/database.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import type { Sequencer } from "../lanes/sequence.js";
import type { Tables } from "../schema/tables.js";
import { markChanged } from "./consumer-book.js";
import { ENDPOINT_COLUMNS, endpointParams, readStored, storedEndpointOf } from "./endpoint-row.js";

export interface EndpointParts extends StoreDatabase {
  readonly sequencer: Sequencer;
  readonly secrets: EndpointSecrets;
}

// How many steps a removal takes before it leaves the rest to the background.
const STEPS_AT_ONCE = 20;

/** What of an endpoint decides where events go. */
const ADDRESSING = ["sources", "types", "order"] as const satisfies readonly (keyof EndpointChange)[];

export function addEndpoint(
  { tables, sequencer, secrets }: EndpointParts,
  endpoint: Endpoint,
): Promise<boolean> {
  const itsTenant = (): Promise<string> => Promise.resolve(endpoint.tenant);
  return sequencer.drained(itsTenant, async (session) => {
    const { rows } = await session.query({
      text: `
        insert into ${tables.consumer} (public_id, tenant, definition, ordered_by, dead, max_in_flight, state, because,
          version, stopped_at)
        values ($1::text, $2::text, $3::text, $4::text, $5::text, $6::text::int4, $7::text, $8::text, $9::text::int8,
          case when $7::text <> 'active' then clock_timestamp() end)
        on conflict (public_id) where removed_at is null do nothing returning id::text as id`,
      params: endpointParams({ ...endpoint, secrets: secrets.closed(endpoint.secrets) }),
    });
    if (rows.length > 0) await markChanged(session, tables);
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
  return sequencer.drained(tenantOf(id, tables), async (session) => {
    const changed = await writeChange(parts, { session, id, change });
    if (changed) await markChanged(session, tables);
    return changed;
  });
}

interface WantedChange {
  readonly session: Session;
  readonly id: string;
  readonly change: EndpointChange;
}

async function writeChange(
  { tables, secrets }: EndpointParts,
  { session, id, change }: WantedChange,
): Promise<Endpoint | undefined> {
  const { consumer } = tables;
  const { rows } = await session.query({
    text: `select ${ENDPOINT_COLUMNS} from ${consumer} where public_id = $1::text and kind = 'endpoint' and removed_at is null for update`,
    params: [id],
  });
  const [row] = rows;
  if (row === undefined) return undefined;
  const { endpoint: before, number } = storedEndpointOf(row);
  if (changesOrder(before, change) && (await isAnyWaiting(session, number, tables))) {
    throw orderRefused(before, change);
  }
  // Unchanged secrets are written back as they were read: what this process cannot open must not be lost.
  const sealed = change.secrets === undefined ? before.secrets : secrets.closed(change.secrets);
  const { tenant, version } = before;
  const after: Endpoint = { ...before, ...change, secrets: sealed, id, tenant, version: version + 1 };
  const { rows: written } = await session.query({
    text: `
      update ${consumer} set tenant = $2::text, definition = $3::text, ordered_by = $4::text, dead = $5::text,
        max_in_flight = $6::text::int4, state = $7::text, because = $8::text, version = $9::text::int8,
        mark = gen_random_uuid(), stopped_at = case when $7::text <> 'active' then coalesce(stopped_at, clock_timestamp()) end
      where public_id = $1::text and removed_at is null returning ${ENDPOINT_COLUMNS}`,
    params: endpointParams(after),
  });
  return secrets.opened(storedEndpointOf(written[0] ?? row).endpoint);
}

/** Whether anything waits for it: a lane whose head is dead waits for a person. Under the lock of the stage, so that nothing comes meanwhile. */
async function isAnyWaiting(
  session: Session,
  number: bigint,
  { laneState, loose }: Tables,
): Promise<boolean> {
  const { rows } = await session.query({
    text: `
      select (
        exists (select from ${laneState} where consumer_id = $1::text::int8 and ready_at is not null)
        or exists (
          select from ${laneState} where blocked_at is not null and ready_at is null and consumer_id = $1::text::int8
        )
        or exists (select from ${loose} where consumer_id = $1::text::int8 and ready_at is not null)
      )::text as waiting`,
    params: [String(number)],
  });
  return rows[0]?.[0] === "true";
}

/** Gone for new events at once. What waits for it is cancelled in steps: here a few, and the others by whoever sequences. */
export async function removeEndpoint(parts: EndpointParts, id: string): Promise<boolean> {
  const { tables, sequencer, secrets } = parts;
  const removed = await sequencer.drained(tenantOf(id, tables), async (session) => {
    const { rows } = await session.query({
      text: `
        update ${tables.consumer} set removed_at = clock_timestamp(), version = version + 1, mark = gen_random_uuid()
        where public_id = $1::text and kind = 'endpoint' and removed_at is null returning id::text as id`,
      params: [id],
    });
    if (rows.length > 0) await markChanged(session, tables);
    if (rows.length > 0) await raiseGeneration(session, tables);
    return rows.length > 0;
  });
  if (removed) secrets.forget(id);
  await cancelSome(sequencer);
  return removed;
}

/** Cancels some of what waits for removed consumers, also of those whose removal another process began and did not finish. */
export async function cancelSome({ remover }: Sequencer): Promise<void> {
  for (let steps = 0; steps < STEPS_AT_ONCE && (await remover.step()).more; steps++)
    reach("remove_handler.after_step");
}

/** The tenant of an endpoint, asked under the lock of the stage: the id may be another tenant's by then. */
function tenantOf(id: string, { consumer }: Tables): (session: Session) => Promise<string | undefined> {
  return async (session) => {
    const { rows } = await session.query({
      text: `select tenant from ${consumer} where public_id = $1::text and kind = 'endpoint' and removed_at is null`,
      params: [id],
    });
    const tenant = rows[0]?.[0];
    return typeof tenant === "string" ? tenant : undefined;
  };
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
    params: [page.tenant ?? null, endpointOfCursor(page.after) ?? null, String(page.limit)],
  });
  return rows.map((row) => secrets.opened(storedEndpointOf(row).endpoint));
}

/** A consumer of the same id may be there again: its lanes have a higher generation than those that go now. */
export async function raiseGeneration(session: Session, { outboxConfig }: Tables): Promise<void> {
  await session.query({ text: `update ${outboxConfig} set generation = generation + 1`, params: [] });
}

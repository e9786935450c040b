import { endpointOfCursor } from "../../../operator/cursor.js";
import type { Endpoint, EndpointChange } from "../../../outbox/endpoint.js";
import { changesOrder, orderRefused } from "../../../outbox/endpoint.js";
import type { SqliteClient } from "../client/client.js";
import { markChanged } from "./consumer-book.js";
import type { EndpointColumns } from "./endpoint-row.js";
import { endpointOf, endpointValues } from "./endpoint-row.js";
import type { OutboxTurn } from "./turn.js";

/** False where the id is taken. */
export function addEndpoint(turn: OutboxTurn, endpoint: Endpoint): boolean {
  const added = turn.client.run(
    // An endpoint of this id that was removed, and is still being cancelled, is another one.
    `insert into posthorn_consumer
       (public_id, tenant, url, secrets, sources, types, ordered_by, retry, dead, max_in_flight, state, because,
        version, stopped_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     on conflict (public_id) where removed_at is null do nothing`,
    endpoint.id,
    ...endpointValues(
      { ...endpoint, secrets: turn.secrets.closed(endpoint.secrets) },
      endpoint.state === "active" ? null : turn.nowMs,
    ),
  );
  if (added > 0) changed(turn);
  return added > 0;
}

/** Undefined where there is none. */
export function changeEndpoint(turn: OutboxTurn, id: string, change: EndpointChange): Endpoint | undefined {
  const row = turn.client.getWide(
    "select * from posthorn_consumer where public_id = ? and kind = 'endpoint' and removed_at is null",
    id,
  ) as EndpointColumns | undefined;
  if (row === undefined) return undefined;
  // As it was written, and not as it reads: secrets that could not be opened must not be written as none.
  const before = endpointOf(row);
  if (changesOrder(before, change) && isAnyWaiting(turn, row.id)) throw orderRefused(before, change);
  const { tenant, version } = before;
  const secrets = change.secrets === undefined ? before.secrets : turn.secrets.closed(change.secrets);
  save(turn, row, { ...before, ...change, secrets, tenant, version: version + 1 });
  return turn.secrets.opened(endpointOf(readRow(turn.client, row.id)));
}

/** Whether anything waits for it: a lane whose head is dead waits for a person. */
function isAnyWaiting({ client }: OutboxTurn, consumer: bigint): boolean {
  const isThere = (which: string): boolean =>
    client.get(`select 1 as found from ${which} limit 1`, consumer) !== undefined;
  return (
    isThere("posthorn_lane where consumer = ? and ready_at is not null") ||
    isThere("posthorn_lane where state <> 'flowing' and consumer = ?") ||
    isThere("posthorn_loose_delivery where consumer = ? and ready_at is not null")
  );
}

/** Stops an endpoint whose receiver has gone; what waits for it stays, in order. */
export function disableEndpoint(turn: OutboxTurn, number: bigint, because: string): void {
  const row = readRow(turn.client, number);
  // Several attempts of one moment get the same answer; the first of them has disabled it.
  if (row.state === "disabled") return;
  const before = endpointOf(row);
  save(turn, row, { ...before, state: "disabled", because, version: before.version + 1 });
}

function readRow(client: SqliteClient, number: bigint): EndpointColumns {
  return client.getWide("select * from posthorn_consumer where id = ?", number) as EndpointColumns;
}

function save(turn: OutboxTurn, { id, stopped_at }: EndpointColumns, endpoint: Endpoint): void {
  const stoppedAt = stopped_at === null ? turn.nowMs : Number(stopped_at);
  turn.client.run(
    `update posthorn_consumer set tenant = ?, url = ?, secrets = ?, sources = ?, types = ?, ordered_by = ?, retry = ?,
       dead = ?, max_in_flight = ?, state = ?, because = ?, version = ?, stopped_at = ?
     where id = ?`,
    ...endpointValues(endpoint, endpoint.state === "active" ? null : stoppedAt),
    id,
  );
  changed(turn);
}

/** Undefined where there is none. */
export function tenantOf({ client }: OutboxTurn, id: string): string | undefined {
  const row = client.get(
    "select tenant from posthorn_consumer where public_id = ? and kind = 'endpoint' and removed_at is null",
    id,
  ) as { tenant: string } | undefined;
  return row?.tenant;
}

/** Takes an endpoint out; what waits for it is cancelled by `cancelRemoved`. False where there is none. */
export function removeEndpoint(turn: OutboxTurn, id: string): boolean {
  const removed = turn.client.run(
    "update posthorn_consumer set removed_at = ? where public_id = ? and kind = 'endpoint' and removed_at is null",
    turn.nowMs,
    id,
  );
  if (removed === 0) return false;
  changed(turn);
  raiseGeneration(turn);
  return true;
}

/** A consumer of the same id may be there again: its lanes have a higher generation than those that go now. */
export function raiseGeneration({ client }: OutboxTurn): void {
  client.run("update posthorn_outbox_config set generation = generation + 1 where one = 1");
}

/** Lets this turn, and every process, read the consumers again. */
export function changed(turn: OutboxTurn): void {
  markChanged(turn.client);
  turn.forgetConsumers();
}

export function readEndpoints({ client, secrets }: OutboxTurn, ids: readonly string[]): Endpoint[] {
  const rows = client.allWide(
    `select * from posthorn_consumer
     where public_id in (select value from json_each(?)) and kind = 'endpoint' and removed_at is null order by public_id`,
    JSON.stringify(ids),
  ) as EndpointColumns[];
  return rows.map((row) => secrets.opened(endpointOf(row)));
}

export function listEndpoints(
  { client, secrets }: OutboxTurn,
  page: {
    readonly tenant?: string | undefined;
    readonly after?: string | undefined;
    readonly limit: number;
  },
): Endpoint[] {
  const rows = client.allWide(
    `select * from posthorn_consumer
     where kind = 'endpoint' and removed_at is null and public_id > ? and (? is null or tenant = ?) order by public_id limit ?`,
    endpointOfCursor(page.after) ?? "",
    page.tenant ?? null,
    page.tenant ?? null,
    page.limit,
  ) as EndpointColumns[];
  return rows.map((row) => secrets.opened(endpointOf(row)));
}

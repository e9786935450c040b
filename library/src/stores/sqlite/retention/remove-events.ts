import type { RemovalStep } from "../../../retention/retention-store.js";
import type { SqliteClient } from "../client/client.js";
import type { RecordPlace } from "../lanes/attempt-rows.js";
import { removeSteps } from "../lanes/steps.js";
import type { OutboxTurn } from "../outbox/turn.js";
import type { Removed } from "./removed.js";

interface EventColumns {
  readonly id: bigint;
  readonly public_id: string;
  readonly tenant: string;
  readonly written_at: bigint;
  readonly deliver_at: bigint | null;
}

/** Removes events of which nothing is open any more, with all that is told of them. */
export function removeEvents(turn: OutboxTurn, step: RemovalStep): Removed {
  const { client, nowMs } = turn;
  const { windowMs, limit, after = "0" } = step;
  const looked = client.allWide(
    `select id, public_id, tenant, written_at, deliver_at from posthorn_event where id > ? order by id limit +?`,
    BigInt(after),
    limit,
  ) as EventColumns[];
  const isOld = (at: bigint): boolean => Number(at) <= nowMs - windowMs;
  const old = looked.filter(({ written_at }) => isOld(written_at));
  const lanes = new Set<bigint>();
  let rows = 0;
  for (const event of old) {
    if (!isOld(event.deliver_at ?? event.written_at)) continue;
    const places = placesOf(client, event.id);
    if (isHeld(client, event, places)) continue;
    rows += removeRecords(client, event.id, places) + removeId(turn, event, step);
    rows += removeSteps(client, event.tenant, event.public_id);
    for (const { lane } of places) if (lane !== 0n) lanes.add(lane);
  }
  const last = looked.at(-1)?.id;
  return { rows, next: old.length === limit && last !== undefined ? String(last) : undefined, lanes };
}

export function placesOf(client: SqliteClient, event: bigint): readonly RecordPlace[] {
  return client.allWide("select lane, seq from posthorn_place where event = ?", event) as RecordPlace[];
}

/** Whether a delivery is still to be made or can be redriven. */
function isHeld(
  client: SqliteClient,
  { id, deliver_at }: EventColumns,
  places: readonly RecordPlace[],
): boolean {
  const found = (sql: string, ...values: (bigint | number)[]): boolean =>
    client.get(sql, ...values) !== undefined;
  return (
    places.some((place) => isOpen(client, place) || hasDead(client, place)) ||
    found("select 1 as found from posthorn_stage where event = ?", id) ||
    found("select 1 as found from posthorn_held where event = ?", id) ||
    (deliver_at !== null &&
      found("select 1 as found from posthorn_later where deliver_at = ? and event = ?", deliver_at, id)) ||
    found("select 1 as found from posthorn_stage_dead where event = ? and resolved_at is null", id)
  );
}

export function isOpen(client: SqliteClient, { lane, seq }: RecordPlace): boolean {
  const row =
    lane === 0n
      ? client.get("select 1 as found from posthorn_loose_delivery where id = ?", seq)
      : client.get("select 1 as found from posthorn_delivery where lane = ? and seq = ?", lane, seq);
  return row !== undefined;
}

/** A dead letter holds its event until it is removed itself. */
function hasDead(client: SqliteClient, { lane, seq }: RecordPlace): boolean {
  const row = client.get(
    "select 1 as found from posthorn_dead where lane = ? and seq = ? limit 1",
    lane,
    seq,
  );
  return row !== undefined;
}

function removeRecords(client: SqliteClient, event: bigint, places: readonly RecordPlace[]): number {
  let rows = client.run("delete from posthorn_event where id = ?", event);
  for (const { lane, seq } of places) {
    rows += client.run("delete from posthorn_attempt where lane = ? and seq = ?", lane, seq);
    rows += client.run("delete from posthorn_cancelled where lane = ? and seq = ?", lane, seq);
  }
  return rows + client.run("delete from posthorn_place where event = ?", event);
}

/** The id that its publisher gave stays known for its own window. */
function removeId(
  { client, nowMs }: OutboxTurn,
  { tenant, public_id, written_at }: EventColumns,
  { idWindowMs = Infinity }: RemovalStep,
): number {
  const keepUntil = Number(written_at) + idWindowMs;
  if (keepUntil <= nowMs) {
    return client.run(
      "delete from posthorn_outbox_key where tenant = ? and public_id = ?",
      tenant,
      public_id,
    );
  }
  if (keepUntil < Infinity) {
    client.run(
      "update posthorn_outbox_key set keep_until = ? where tenant = ? and public_id = ?",
      Math.ceil(keepUntil),
      tenant,
      public_id,
    );
  }
  return 0;
}

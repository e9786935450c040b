import type { Clock } from "posthorn";
import type { OperationActor, OperationItem } from "posthorn/client";
import type {
  ItemDeed,
  ItemRecord,
  LeasedOperation,
  OperationLease,
  OperationPage,
  OperationRecord,
  OperationRegistry,
  StepEnd,
  Touched,
} from "../operation.js";
import { deedOf, itemOf, operationOf } from "../stored-operation.js";
import type { StoredDeed, StoredItem, StoredOperation } from "../stored-operation.js";
import type { RegistryDatabase } from "./database.js";

const COLUMNS = `id, verb, state, filter, plan, planned_by, run_by, stopped_by, note, rate, after, done, results, message,
  planned_at as planned, started_at as started, ended_at as ended, node, epoch`;

const ITEM_COLUMNS =
  "number, delivery_id, lane_id, round, through, event_id, endpoint_id, result, count, done_at as done";

/** Items that meet a condition, each with what its operation says of it. */
function deedsWhere(condition: string): string {
  return `select ${ITEM_COLUMNS}, item.operation_id as operation_id, operation.verb, operation.run_by, operation.note
      from posthorn_operation_item as item join posthorn_operation as operation on operation.id = item.operation_id
      where ${condition}`;
}

export class SqliteOperations implements OperationRegistry {
  readonly #db: RegistryDatabase;
  readonly #clock: Pick<Clock, "now">;

  constructor(db: RegistryDatabase, clock: Pick<Clock, "now">) {
    this.#db = db;
    this.#clock = clock;
  }

  async addOperation(operation: OperationRecord): Promise<void> {
    const { id, verb, state, filter, plan, plannedBy, note, rate, plannedAt } = operation;
    await this.#db.run(
      `insert into posthorn_operation (id, verb, state, filter, plan, planned_by, note, rate, planned_at)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      id,
      verb,
      state,
      JSON.stringify(filter),
      JSON.stringify(plan),
      JSON.stringify(plannedBy),
      note ?? null,
      rate,
      plannedAt.getTime(),
    );
  }

  async readOperation(id: string): Promise<OperationRecord | undefined> {
    const [row] = await this.#db.all<StoredOperation>(
      `select ${COLUMNS} from posthorn_operation where id = ?`,
      id,
    );
    return row && operationOf(row);
  }

  async listOperations({ state, verb, after, limit }: OperationPage): Promise<readonly OperationRecord[]> {
    const wanted = [
      state === undefined ? { sql: "state <> 'planned'" } : { sql: "state = ?", value: state },
      ...(verb === undefined ? [] : [{ sql: "verb = ?", value: verb }]),
      ...(after === undefined ? [] : [{ sql: "id < ?", value: after }]),
    ];
    const rows = await this.#db.all<StoredOperation>(
      `select ${COLUMNS} from posthorn_operation where ${wanted.map(({ sql }) => sql).join(" and ")}
       order by id desc limit ?`,
      ...wanted.flatMap(({ value }) => value ?? []),
      limit,
    );
    return rows.map((row) => operationOf(row));
  }

  async startOperation(...[id, { rate, note, by, at }]: Parameters<OperationRegistry["startOperation"]>) {
    const started = await this.#db.run(
      `update posthorn_operation set state = 'running', rate = ?, note = coalesce(?, note), run_by = ?, started_at = ?
       where id = ? and state = 'planned'`,
      rate,
      note ?? null,
      JSON.stringify(by),
      at.getTime(),
      id,
    );
    return started > 0;
  }

  async changeRate(id: string, rate: number): Promise<boolean> {
    const sql = "update posthorn_operation set rate = ? where id = ? and state in ('planned', 'running')";
    return (await this.#db.run(sql, rate, id)) > 0;
  }

  async stopOperation(id: string, by: OperationActor, at: Date): Promise<boolean> {
    const stopped = await this.#db.run(
      `update posthorn_operation set stopped_by = ?,
         ended_at = case state when 'planned' then ? end,
         state = case state when 'planned' then 'stopped' else 'stopping' end
       where id = ? and state in ('planned', 'running')`,
      JSON.stringify(by),
      at.getTime(),
      id,
    );
    return stopped > 0;
  }

  async leaseOperation(node: string, leaseMs: number): Promise<LeasedOperation | undefined> {
    const nowMs = this.#clock.now();
    const [row] = await this.#db.all<StoredOperation>(
      `update posthorn_operation set node = ?, epoch = epoch + 1, leased_until = ?
       where id = (
         select id from posthorn_operation
         where state in ('running', 'stopping') and (leased_until is null or leased_until <= ?) order by id limit 1
       )
       returning ${COLUMNS}`,
      node,
      nowMs + leaseMs,
      nowMs,
    );
    return row && operationOf(row);
  }

  async releaseOperation({ id, epoch }: Pick<OperationLease, "id" | "epoch">): Promise<void> {
    await this.#db.run(
      "update posthorn_operation set leased_until = null, node = null where id = ? and epoch = ?",
      id,
      epoch,
    );
  }

  beginStep(lease: OperationLease, items: readonly ItemRecord[], after: string): Promise<boolean> {
    const until = this.#clock.now() + lease.leaseMs;
    return this.#db.transaction((run) => {
      const held = run(
        `update posthorn_operation set after = ?, leased_until = ?
         where id = ? and epoch = ? and state = 'running'`,
        after,
        until,
        lease.id,
        lease.epoch,
      );
      if (held === 0) return false;
      for (const { number, deliveryId, laneId, round, through, eventId, endpointId } of items) {
        run(
          `insert into posthorn_operation_item
             (operation_id, number, delivery_id, lane_id, round, through, event_id, endpoint_id)
           values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (operation_id, number) do nothing`,
          lease.id,
          number,
          deliveryId,
          laneId,
          round,
          through,
          eventId,
          endpointId,
        );
      }
      return true;
    });
  }

  async pendingItems(id: string): Promise<readonly ItemRecord[]> {
    const rows = await this.#db.all<StoredItem>(
      `select ${ITEM_COLUMNS} from posthorn_operation_item
       where operation_id = ? and result = 'pending' order by number`,
      id,
    );
    return rows.map((row) => itemOf(row));
  }

  async endStep(lease: OperationLease, { results, done, counts }: StepEnd) {
    const nowMs = this.#clock.now();
    const held = await this.#db.transaction((run) => {
      const changed = run(
        "update posthorn_operation set done = ?, results = ?, leased_until = ? where id = ? and epoch = ?",
        done,
        JSON.stringify(counts),
        nowMs + lease.leaseMs,
        lease.id,
        lease.epoch,
      );
      if (changed === 0) return false;
      for (const { number, result, count } of results) {
        run(
          `update posthorn_operation_item set result = ?, count = ?, done_at = ?
           where operation_id = ? and number = ?`,
          result,
          count,
          nowMs,
          lease.id,
          number,
        );
      }
      return true;
    });
    const operation = held ? await this.readOperation(lease.id) : undefined;
    return operation && { state: operation.state, rate: operation.rate };
  }

  async endOperation(
    ...[{ id, epoch }, { state, message, at }]: Parameters<OperationRegistry["endOperation"]>
  ) {
    await this.#db.run(
      `update posthorn_operation set state = ?, message = ?, ended_at = ?, leased_until = null, node = null
       where id = ? and epoch = ?`,
      state,
      message ?? null,
      at.getTime(),
      id,
      epoch,
    );
  }

  async listItems(...[id, { result, after, limit }]: Parameters<OperationRegistry["listItems"]>) {
    const rows = await this.#db.all<StoredItem>(
      `select ${ITEM_COLUMNS} from posthorn_operation_item
       where operation_id = ? and number > ?${result === undefined ? "" : " and result = ?"} order by number limit ?`,
      id,
      after,
      ...(result === undefined ? [] : [result]),
      limit,
    );
    return rows.map((row): OperationItem => itemOf(row));
  }

  async itemsAbout({ eventId, lanes }: Touched, limit: number): Promise<readonly ItemDeed[]> {
    const rows = await this.#db.all<StoredDeed>(
      `${deedsWhere("item.event_id = ?")}
       union all ${deedsWhere("item.event_id is null and item.lane_id in (select value from json_each(?))")}
       order by operation_id desc limit ?`,
      eventId,
      JSON.stringify(lanes),
      limit,
    );
    return rows.map((row) => deedOf(row));
  }

  async forgetPlans(before: Date): Promise<void> {
    await this.#db.run(
      "delete from posthorn_operation where state = 'planned' and planned_at < ?",
      before.getTime(),
    );
  }
}

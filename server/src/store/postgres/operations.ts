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
import { instantOf, msOf } from "./database.js";
import type { RegistryDatabase } from "./database.js";

const COLUMNS = `id, verb, state, filter, plan, planned_by, run_by, stopped_by, note, rate::text as rate, after,
  done::text as done, results, message, ${msOf("planned_at")} as planned, ${msOf("started_at")} as started,
  ${msOf("ended_at")} as ended, node, epoch::text as epoch`;

const ITEM_COLUMNS = `number::text as number, delivery_id, lane_id, round::text as round, through, event_id, endpoint_id,
  result, count::text as count, ${msOf("done_at")} as done`;

const NOW = "clock_timestamp()";

function later(parameter: string): string {
  return `${NOW} + make_interval(secs => ${parameter}::text::float8 / 1000)`;
}

export class PostgresOperations implements OperationRegistry {
  readonly #db: RegistryDatabase;
  readonly #table: string;
  readonly #items: string;

  constructor(db: RegistryDatabase) {
    this.#db = db;
    this.#table = db.table("operation");
    this.#items = db.table("operation_item");
  }

  async addOperation(operation: OperationRecord): Promise<void> {
    const { id, verb, state, filter, plan, plannedBy, note, rate, plannedAt } = operation;
    await this.#db.query(
      `insert into ${this.#table} (id, verb, state, filter, plan, planned_by, note, rate, planned_at)
       values ($1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text, $8::text::int4, ${instantOf("$9")})`,
      [
        id,
        verb,
        state,
        JSON.stringify(filter),
        JSON.stringify(plan),
        JSON.stringify(plannedBy),
        note ?? null,
        String(rate),
        String(plannedAt.getTime()),
      ],
    );
  }

  async readOperation(id: string): Promise<OperationRecord | undefined> {
    const [row] = await this.#db.query<StoredOperation>(
      `select ${COLUMNS} from ${this.#table} where id = $1::text`,
      [id],
    );
    return row && operationOf(row);
  }

  async listOperations({ state, verb, after, limit }: OperationPage): Promise<readonly OperationRecord[]> {
    const rows = await this.#db.query<StoredOperation>(
      `select ${COLUMNS} from ${this.#table}
       where ${state === undefined ? "state <> 'planned' and $1::text is null" : "state = $1::text"}
         and ${verb === undefined ? "$2::text is null" : "verb = $2::text"}
         and ($3::text is null or id < $3::text)
       order by id desc limit $4::text::int8`,
      [state ?? null, verb ?? null, after ?? null, String(limit)],
    );
    return rows.map((row) => operationOf(row));
  }

  async startOperation(...[id, { rate, note, by, at }]: Parameters<OperationRegistry["startOperation"]>) {
    return this.#changed(
      `update ${this.#table} set state = 'running', rate = $2::text::int4, note = coalesce($3::text, note),
         run_by = $4::text, started_at = ${instantOf("$5")}
       where id = $1::text and state = 'planned' returning id`,
      [id, String(rate), note ?? null, JSON.stringify(by), String(at.getTime())],
    );
  }

  async changeRate(id: string, rate: number): Promise<boolean> {
    return this.#changed(
      `update ${this.#table} set rate = $2::text::int4
       where id = $1::text and state in ('planned', 'running') returning id`,
      [id, String(rate)],
    );
  }

  async stopOperation(id: string, by: OperationActor, at: Date): Promise<boolean> {
    return this.#changed(
      `update ${this.#table} set stopped_by = $2::text,
         state = case state when 'planned' then 'stopped' else 'stopping' end,
         ended_at = case state when 'planned' then ${instantOf("$3")} end
       where id = $1::text and state in ('planned', 'running') returning id`,
      [id, JSON.stringify(by), String(at.getTime())],
    );
  }

  async leaseOperation(node: string, leaseMs: number): Promise<LeasedOperation | undefined> {
    // Skips what another node is leasing at this moment: it has that one then.
    const [row] = await this.#db.query<StoredOperation>(
      `update ${this.#table} set node = $1::text, epoch = epoch + 1, leased_until = ${later("$2")}
       where id = (
         select id from ${this.#table}
         where state in ('running', 'stopping') and (leased_until is null or leased_until <= ${NOW})
         order by id limit 1 for update skip locked
       )
       returning ${COLUMNS}`,
      [node, String(leaseMs)],
    );
    return row && operationOf(row);
  }

  async releaseOperation({ id, epoch }: Pick<OperationLease, "id" | "epoch">): Promise<void> {
    await this.#db.query(
      `update ${this.#table} set leased_until = null, node = null where id = $1::text and epoch = $2::text::int8`,
      [id, String(epoch)],
    );
  }

  async beginStep(lease: OperationLease, items: readonly ItemRecord[], after: string): Promise<boolean> {
    // The row is locked by the update: a stop that was answered before is seen here, and one that comes later waits.
    return this.#changed(
      `with held as (
         update ${this.#table} set after = $3::text, leased_until = ${later("$4")}
         where id = $1::text and epoch = $2::text::int8 and state = 'running' returning id
       ), written as (
         insert into ${this.#items} (operation_id, number, delivery_id, lane_id, round, through, event_id, endpoint_id)
         select held.id, number::int4, delivery_id, lane_id, round::int4, through, event_id, endpoint_id
         from held cross join unnest($5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[])
           as given (number, delivery_id, lane_id, round, through, event_id, endpoint_id)
         on conflict (operation_id, number) do nothing
       )
       select id from held`,
      [
        lease.id,
        String(lease.epoch),
        after,
        String(lease.leaseMs),
        items.map(({ number }) => String(number)),
        items.map(({ deliveryId }) => deliveryId),
        items.map(({ laneId }) => laneId),
        items.map(({ round }) => (round === null ? null : String(round))),
        items.map(({ through }) => through),
        items.map(({ eventId }) => eventId),
        items.map(({ endpointId }) => endpointId),
      ],
    );
  }

  async pendingItems(id: string): Promise<readonly ItemRecord[]> {
    const rows = await this.#db.query<StoredItem>(
      `select ${ITEM_COLUMNS} from ${this.#items} as item where operation_id = $1::text and result = 'pending'
       order by item.number`,
      [id],
    );
    return rows.map((row) => itemOf(row));
  }

  async endStep(lease: OperationLease, { results, done, counts }: StepEnd) {
    const [row] = await this.#db.query<{ state: OperationRecord["state"]; rate: string }>(
      `with held as (
         update ${this.#table} set done = $3::text::int4, results = $4::text, leased_until = ${later("$5")}
         where id = $1::text and epoch = $2::text::int8 returning id, state, rate
       ), written as (
         update ${this.#items} as item set result = given.result, count = given.count::int4, done_at = ${NOW}
         from held cross join unnest($6::text[], $7::text[], $8::text[]) as given (number, result, count)
         where item.operation_id = held.id and item.number = given.number::int4
       )
       select state, rate::text as rate from held`,
      [
        lease.id,
        String(lease.epoch),
        String(done),
        JSON.stringify(counts),
        String(lease.leaseMs),
        results.map(({ number }) => String(number)),
        results.map(({ result }) => result),
        results.map(({ count }) => String(count)),
      ],
    );
    return row && { state: row.state, rate: Number(row.rate) };
  }

  async endOperation(
    ...[{ id, epoch }, { state, message, at }]: Parameters<OperationRegistry["endOperation"]>
  ) {
    await this.#db.query(
      `update ${this.#table} set state = $3::text, message = $4::text, ended_at = ${instantOf("$5")},
         leased_until = null, node = null
       where id = $1::text and epoch = $2::text::int8`,
      [id, String(epoch), state, message ?? null, String(at.getTime())],
    );
  }

  async listItems(...[id, { result, after, limit }]: Parameters<OperationRegistry["listItems"]>) {
    const rows = await this.#db.query<StoredItem>(
      // By the column: the one that is read is a text, in whose order 10 comes before 2.
      `select ${ITEM_COLUMNS} from ${this.#items} as item
       where operation_id = $1::text and item.number > $2::text::int4
         and ${result === undefined ? "$3::text is null" : "result = $3::text"}
       order by item.number limit $4::text::int8`,
      [id, String(after), result ?? null, String(limit)],
    );
    return rows.map((row): OperationItem => itemOf(row));
  }

  async itemsAbout({ eventId, lanes }: Touched, limit: number): Promise<readonly ItemDeed[]> {
    const about = (where: string): string => `
      select ${ITEM_COLUMNS}, item.operation_id, operation.verb, operation.run_by, operation.note
      from ${this.#items} as item join ${this.#table} as operation on operation.id = item.operation_id
      where ${where}`;
    const rows = await this.#db.query<StoredDeed>(
      `${about("item.event_id = $1::text")}
       union all ${about("item.event_id is null and item.lane_id = any ($2::text[])")}
       order by operation_id desc limit $3::text::int8`,
      [eventId, [...lanes], String(limit)],
    );
    return rows.map((row) => deedOf(row));
  }

  async forgetPlans(before: Date): Promise<void> {
    await this.#db.query(
      `delete from ${this.#table} where state = 'planned' and planned_at < ${instantOf("$1")}`,
      [String(before.getTime())],
    );
  }

  async #changed(text: string, values: unknown[]): Promise<boolean> {
    return (await this.#db.query(text, values)).length > 0;
  }
}

import type { DeliveryPlace } from "../../../lanes/delivery-id.js";
import { deliveryIdOf } from "../../../lanes/delivery-id.js";
import type { DeliveryState, DeliverySummary } from "../../../operator/lookup-store.js";
import { numberArray, textArray } from "../client/column-arrays.js";
import type { Row } from "../client/database.js";
import { deliveriesSql, deliverySql } from "./delivery-standing.js";
import type { OutboxTables } from "../schema/outbox-tables.js";
import type { OwnTransactions } from "../client/own-transaction.js";

/** Every delivery of some events. A redrive that went to the end of its lane is a delivery of its own. */
export async function deliveriesOfEvents(
  transactions: OwnTransactions,
  { tenant, eventIds }: { readonly tenant: string; readonly eventIds: readonly string[] },
  tables: OutboxTables,
): Promise<readonly DeliverySummary[]> {
  const first = {
    text: `select id::text from ${tables.event} where public_id = any ($2::text[]) and tenant = $1::text`,
    params: [tenant, textArray(eventIds)],
    prepared: true,
  };
  const numbers = await transactions.runFrom(first, (_scope, { rows }) =>
    Promise.resolve(rows.map(([number]) => BigInt(number ?? ""))),
  );
  return numbers.length === 0 ? [] : summariesOf(transactions, numbers, tables);
}

/** One delivery. */
export async function readDelivery(
  transactions: OwnTransactions,
  place: DeliveryPlace,
  tables: OutboxTables,
): Promise<DeliverySummary | undefined> {
  const params =
    place.kind === "lane"
      ? [String(place.lane), String(place.sequence), null]
      : [null, null, String(place.id)];
  const first = { text: deliverySql(tables), params, prepared: true };
  const [row] = await transactions.runFrom(first, (_scope, { rows }) => Promise.resolve(rows));
  return row && summaryOf(row);
}

async function summariesOf(
  transactions: OwnTransactions,
  numbers: readonly bigint[],
  tables: OutboxTables,
): Promise<readonly DeliverySummary[]> {
  const first = { text: deliveriesSql(tables), params: [numberArray(numbers)], prepared: true };
  return transactions.runFrom(first, (_scope, { rows }) => Promise.resolve(rows.map(summaryOf)));
}

function summaryOf(row: Row): DeliverySummary {
  const [laneId, seq, looseId, eventId, endpointId, tenant, type, key, round, state, because] = row;
  const [attempts, status, error, startedMs, dueMs] = row.slice(11);
  const place: DeliveryPlace =
    typeof laneId === "string"
      ? { kind: "lane", lane: BigInt(laneId), sequence: BigInt(seq ?? "") }
      : { kind: "loose", id: BigInt(looseId ?? "") };
  return {
    id: deliveryIdOf(place),
    eventId: eventId ?? "",
    endpointId: endpointId ?? "",
    tenant: tenant ?? "",
    type: type ?? "",
    laneId: place.kind === "lane" ? place.lane : undefined,
    key: key ?? undefined,
    sequence: place.kind === "lane" ? place.sequence : undefined,
    round: Number(round),
    state: state as DeliveryState,
    because: because ?? undefined,
    attempts: Number(attempts),
    lastStatus: typeof status === "string" ? Number(status) : undefined,
    lastError: error ?? undefined,
    lastAttemptAt: typeof startedMs === "string" ? new Date(Number(startedMs)) : undefined,
    dueInMs: typeof dueMs === "string" ? Number(dueMs) : undefined,
  };
}

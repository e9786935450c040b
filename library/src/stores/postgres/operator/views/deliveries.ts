import type { DeliveryPlace } from "../../../../lanes/delivery-id.js";
import { deliveryIdOf } from "../../../../lanes/delivery-id.js";
import type { DeliverySummary } from "../../../../operator/lookup-store.js";
import { numberArray, textArray } from "../../client/column-arrays.js";
import { bigint, columns } from "../../client/columns.js";
import type { StoreDatabase } from "../../client/own-transaction.js";
import { sqlFor } from "../../schema/tables.js";
import type { StandingValues } from "./delivery-standing.js";
import { deliveriesSql, deliverySql, standingOf } from "./delivery-standing.js";

const NUMBER = columns<{ readonly id: bigint }>({ id: bigint("id") });

const NUMBERS = sqlFor(
  ({ event }) =>
    `select ${NUMBER.list} from ${event} where public_id = any ($2::text[]) and tenant = $1::text`,
);

/** Every delivery of some events. A redrive that went to the end of its lane is a delivery of its own. */
export async function listDeliveries(
  { transactions, tables }: StoreDatabase,
  tenant: string,
  eventIds: readonly string[],
): Promise<readonly DeliverySummary[]> {
  const found = await transactions.readKept({ text: NUMBERS(tables), params: [tenant, textArray(eventIds)] });
  const numbers = found.map((row) => NUMBER.read(row).id);
  if (numbers.length === 0) return [];
  const rows = await transactions.readKept({ text: deliveriesSql(tables), params: [numberArray(numbers)] });
  return rows.map((row) => summaryOf(standingOf(row)));
}

/** One delivery. */
export async function readDelivery(
  { transactions, tables }: StoreDatabase,
  place: DeliveryPlace,
): Promise<DeliverySummary | undefined> {
  const params =
    place.kind === "lane"
      ? [String(place.lane), String(place.sequence), null]
      : [null, null, String(place.id)];
  const [row] = await transactions.readKept({ text: deliverySql(tables), params });
  return row && summaryOf(standingOf(row));
}

function summaryOf({ looseId, ...values }: StandingValues): DeliverySummary {
  const { laneId, sequence = 0n } = values;
  const place: DeliveryPlace =
    laneId === undefined ? { kind: "loose", id: looseId ?? 0n } : { kind: "lane", lane: laneId, sequence };
  return { id: deliveryIdOf(place), ...values };
}

import type { DeliveryPlace } from "../../../../lanes/delivery-id.js";
import type { DeliveryEnd } from "../../../../operator/view-store.js";
import { columns, instant, number, optional, text } from "../../client/columns.js";
import type { StoreDatabase } from "../../client/own-transaction.js";
import type { Tables } from "../../schema/tables.js";

const END = columns<DeliveryEnd>({
  round: number("round"),
  how: text("how"),
  because: text("because"),
  at: instant("at"),
  resolvedAt: optional(instant("resolved_at")),
  resolvedHow: optional(text("resolved_how")),
});

/** How the rounds of a delivery ended, other than by being delivered. */
export async function readEnds(
  { transactions, tables }: StoreDatabase,
  place: DeliveryPlace,
): Promise<readonly DeliveryEnd[]> {
  const [which, params] =
    place.kind === "lane"
      ? ["lane_id = $1::text::int8 and seq = $2::text::int8", [String(place.lane), String(place.sequence)]]
      : ["loose_id = $1::text::int8", [String(place.id)]];
  const { rows } = await transactions.read({ text: endsSql(tables, which), params });
  return rows.map((row) => END.read(row));
}

function endsSql({ dead, cancelled }: Tables, which: string): string {
  return `
    select ${END.list} from (
      select round, 'dead' as how, because, died_at as at, resolved_at, resolved_how from ${dead} where ${which}
      union all
      select round, 'cancelled', because, cancelled_at, null, null from ${cancelled} where ${which}
    ) as ended
    order by ended.round, ended.at`;
}

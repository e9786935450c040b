import { decodeHex, encodeHex } from "../../../../bytes.js";
import { keyCursorOf, keyOfCursor } from "../../../../operator/inbox-cursor.js";
import type { RefusedFilter, RefusedRecord } from "../../../../operator/inbox-view-store.js";
import type { Page, Paged } from "../../../../operator/operator-store.js";
import { bytes, columns, instant, number, optional, text } from "../../client/columns.js";
import type { StoreDatabase } from "../../client/own-transaction.js";
import { headersOf } from "../../lanes/lane-row.js";
import { Parameters } from "./dead-filter.js";

interface RefusedValues extends Omit<RefusedRecord, "headers"> {
  readonly headers: string;
}

const REFUSED = columns<RefusedValues>({
  tenant: text("tenant"),
  source: text("source"),
  id: text("event_id"),
  idPreview: optional(text("id_preview")),
  because: text<RefusedRecord["because"]>("because"),
  type: text("type"),
  eventAt: optional(instant("event_at")),
  key: optional(text("ordering_key")),
  receipts: number("receipts"),
  refusedAt: instant("refused_at"),
  lastRefusedAt: instant("last_refused_at"),
  headers: text("headers"),
  bodyHash: bytes("body_hash"),
  body: bytes("body"),
});

/** What was refused for good, in the order of its key. */
export async function listRefused(
  { transactions, tables }: StoreDatabase,
  { tenant, source, id, because }: RefusedFilter,
  { limit, after }: Page,
): Promise<Paged<RefusedRecord>> {
  const params = new Parameters();
  const wanted = { tenant, source, event_id: id, because };
  const conditions = Object.entries(wanted).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name} = ${params.add(value, "text")}`],
  );
  const from = keyOfCursor(after, 5);
  if (from !== undefined) conditions.push(pastSql(from, params));
  const { rows } = await transactions.read({
    text: `
      select ${REFUSED.list} from ${tables.inboxRefused}
      ${conditions.length === 0 ? "" : `where ${conditions.join(" and ")}`}
      order by tenant, source, event_id, because, body_hash limit ${params.add(String(limit + 1), "int8")}`,
    params: params.values,
  });
  const items = rows.slice(0, limit).map((row) => {
    const values = REFUSED.read(row);
    return Object.assign(values, { headers: headersOf(values.headers) });
  });
  const last = rows.length > limit ? items.at(-1) : undefined;
  return {
    items,
    next: last && keyCursorOf([last.tenant, last.source, last.id, last.because, encodeHex(last.bodyHash)]),
  };
}

function pastSql(
  [tenant = "", source = "", id = "", because = "", hash = ""]: readonly string[],
  params: Parameters,
): string {
  const texts = [tenant, source, id, because].map((each) => params.add(each, "text"));
  const known = encodeHex(decodeHex(hash) ?? new Uint8Array());
  return `(tenant, source, event_id, because, body_hash) > (${texts.join(", ")}, decode(${params.add(known, "text")}, 'hex'))`;
}

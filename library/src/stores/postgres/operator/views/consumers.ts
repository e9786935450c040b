import { consumerStanding } from "../../../../operator/inbox-view-store.js";
import type { ConsumerStanding } from "../../../../operator/inbox-view-store.js";
import { columns, instant, number, optional, text } from "../../client/columns.js";
import type { StoreDatabase } from "../../client/own-transaction.js";
import { readHandlers } from "../../outbox/consumer-row.js";
import { countedSql } from "./dead-filter.js";
import { readStandingsOf } from "./standings.js";

interface SeenValues {
  readonly id: string;
  readonly seenAt: Date | undefined;
  readonly dead: number;
}

const SEEN = columns<SeenValues>({
  id: text("public_id"),
  seenAt: optional(instant("seen_at")),
  dead: number("coalesce(dead.count, 0)"),
});

/** Every registered handler, and how much waits for it. */
export async function listConsumers(database: StoreDatabase): Promise<readonly ConsumerStanding[]> {
  const { transactions, tables } = database;
  const handlers = await readHandlers({ query: (asked) => transactions.read(asked) }, undefined, tables);
  if (handlers.length === 0) return [];
  const standings = new Map(
    (await readStandingsOf(database, "handler")).map((each) => [each.endpointId, each]),
  );
  const { rows } = await transactions.read({
    text: `
      select ${SEEN.list} from ${tables.consumer} as consumer
      left join (
        select consumer_id, sum(count) as count from ${countedSql(tables)} as counted group by consumer_id
      ) as dead on dead.consumer_id = consumer.id
      where kind = 'handler' and removed_at is null`,
    params: [],
  });
  const seen = new Map(rows.map((row) => SEEN.read(row)).map((each) => [each.id, each]));
  return handlers.map((handler) => {
    const { seenAt, dead = 0 } = seen.get(handler.id) ?? {};
    return consumerStanding(handler, { standing: standings.get(handler.id), seenAt, dead });
  });
}

import type { DeliveryPlace } from "../../../lanes/delivery-id.js";
import { retried } from "../../../lanes/lane.js";
import { bigint, columns, text } from "../client/columns.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import { NOBODY, writeTurns } from "../lanes/lane-write.js";
import type { Owner } from "../lanes/lock-owners.js";
import { lockOwners, ownerName } from "../lanes/lock-owners.js";
import { unleasedTurn } from "../lanes/run.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";

/** What is to be tried now, after its numbers were judged. */
export type WantedRetry =
  | { readonly endpointId: string }
  | { readonly laneId: bigint }
  | { readonly place: DeliveryPlace };

// So many are locked by one transaction: settlements and claims of the same lanes wait for it.
const PER_TRANSACTION = 500;

/** Makes due what waits for the time of its next attempt. */
export async function retryWaiting(database: StoreDatabase, wanted: WantedRetry): Promise<number> {
  const waiting = await readWaiting(database, wanted);
  let count = 0;
  for (let from = 0; from < waiting.length; from += PER_TRANSACTION) {
    count += await retrySome(database, waiting.slice(from, from + PER_TRANSACTION), wanted);
  }
  return count;
}

function retrySome(
  { transactions, tables }: StoreDatabase,
  owners: readonly Owner[],
  wanted: WantedRetry,
): Promise<number> {
  return transactions.run(async (session) => {
    const locked = await lockOwners(session, owners, { tables, read: "nothing" });
    const turns = owners.flatMap((owner) => {
      const found = locked.get(ownerName(owner));
      // A lane may have gone on since it was found.
      const isMeant = found !== undefined && isHead(found.lane.head, wanted);
      const change = isMeant ? retried(found.lane) : undefined;
      return found === undefined || change === undefined ? [] : [unleasedTurn(found, change)];
    });
    if (turns.length > 0) await session.query(writeTurns(turns, NOBODY, tables));
    return turns.length;
  });
}

function isHead(head: bigint, wanted: WantedRetry): boolean {
  return !("place" in wanted) || wanted.place.kind === "loose" || wanted.place.sequence === head;
}

const OWNER = columns<Owner>({ kind: text("kind"), id: bigint("id") });

async function readWaiting(
  { transactions, tables }: StoreDatabase,
  wanted: WantedRetry,
): Promise<readonly Owner[]> {
  const [statement, param] = askedOf(wanted);
  const rows = await transactions.readKept({ text: statement(tables), params: [param] });
  return rows.map((row) => OWNER.read(row));
}

function askedOf(wanted: WantedRetry): readonly [(tables: Tables) => string, string] {
  if ("endpointId" in wanted) return [AT_ENDPOINT, wanted.endpointId];
  if ("laneId" in wanted) return [IN_LANE, String(wanted.laneId)];
  const { place } = wanted;
  return place.kind === "lane" ? [IN_LANE, String(place.lane)] : [LOOSE, String(place.id)];
}

const WAITS = "ready_at > clock_timestamp() and leased_by is null and attempts > 0";

// Longest waiting first, which is the order in which they are sent.
const AT_ENDPOINT = sqlFor(
  ({ laneState, loose, consumer }) => `
    with meant as materialized (
      select id from ${consumer} where public_id = $1::text and removed_at is null
    )
    select ${OWNER.list} from (
      select 'lane' as kind, lane_id as id, ready_at from ${laneState}
      where consumer_id = (select id from meant) and ${WAITS}
      union all
      select 'loose' as kind, id, ready_at from ${loose}
      where consumer_id = (select id from meant) and ${WAITS}
    ) as waiting
    order by ready_at`,
);

const IN_LANE = sqlFor(
  ({ laneState }) => `
    select ${OWNER.list} from (
      select 'lane' as kind, lane_id as id from ${laneState} where lane_id = $1::text::int8 and ${WAITS}
    ) as waiting`,
);

const LOOSE = sqlFor(
  ({ loose }) => `
    select ${OWNER.list} from (
      select 'loose' as kind, id from ${loose} where id = $1::text::int8 and ${WAITS}
    ) as waiting`,
);

import type { EndpointStanding } from "../../../../operator/view-store.js";
import { MOST_COUNTED } from "../../../../operator/view-store.js";
import { isHandler, ownerOf } from "../../../../outbox/fan-out.js";
import type { OutboxTurn } from "../../outbox/turn.js";

interface StuckColumns {
  readonly consumer: bigint;
  readonly halted: bigint;
  readonly parked: bigint;
  readonly retrying: bigint;
  readonly depth: bigint;
  readonly since: bigint;
}

interface FirstColumns {
  readonly found: bigint;
  readonly depth: bigint;
  readonly since: bigint | null;
}

const NOTHING: FirstColumns = { found: 0n, depth: 0n, since: null };

/** How much waits at each endpoint. Nothing is counted further than a page needs, whatever waits. */
export function standings(turn: OutboxTurn): readonly EndpointStanding[] {
  return standingsOf(turn, "endpoint");
}

/** How much waits at each consumer of a kind. */
export function standingsOf(turn: OutboxTurn, kind: "endpoint" | "handler"): readonly EndpointStanding[] {
  const stuck = new Map(stuckLanes(turn).map((row) => [row.consumer, row]));
  const allStuck = [...stuck.values()].reduce(
    (sum, { halted, parked, retrying }) => sum + Number(halted + parked + retrying),
    0,
  );
  return [...turn.consumers.byNumber]
    .flatMap(([number, consumer]) => {
      if (isHandler(consumer) !== (kind === "handler")) return [];
      const { id } = consumer;
      const lanes = firstOf(turn, number, "posthorn_lane", "next_seq - head_seq");
      const loose = firstOf(turn, number, "posthorn_loose_delivery", "1");
      const blocked = stuck.get(number);
      if (lanes.found === 0n && loose.found === 0n && blocked === undefined) return [];
      const depth = Number(blocked?.depth ?? 0n);
      const since = [lanes.since, loose.since, blocked?.since ?? null].filter((at) => at !== null);
      return [
        {
          endpointId: id,
          tenant: ownerOf(consumer) ?? "",
          waiting: Number(lanes.depth + loose.depth) + depth,
          haltedLanes: Number(blocked?.halted ?? 0n),
          parkedLanes: Number(blocked?.parked ?? 0n),
          retryingLanes: Number(blocked?.retrying ?? 0n),
          blocked: depth,
          oldestMs: since.length === 0 ? undefined : Math.max(...since.map((at) => turn.nowMs - Number(at))),
          exact:
            lanes.found < MOST_COUNTED.perEndpoint &&
            loose.found < MOST_COUNTED.perEndpoint &&
            allStuck < MOST_COUNTED.blocked,
        },
      ];
    })
    .toSorted((one, other) => (one.endpointId < other.endpointId ? -1 : 1));
}

// Lanes that stand still have no ready time: they are found among the blocked ones, in whose index they are.
function stuckLanes({ client }: OutboxTurn): readonly StuckColumns[] {
  return client.allWide(
    `select consumer, sum(state = 'halted') as halted, sum(state = 'parked') as parked, sum(state = 'flowing') as retrying,
       sum(case when state <> 'flowing' then next_seq - head_seq else 0 end) as depth, min(blocked_at) as since
     from (
       select consumer, state, next_seq, head_seq, blocked_at from posthorn_lane indexed by posthorn_lane_blocked
       where blocked_at is not null order by blocked_at limit +?
     ) group by consumer`,
    MOST_COUNTED.blocked,
  ) as StuckColumns[];
}

/** Of what can be claimed, by the index from which claims take it. */
function firstOf(
  { client, nowMs }: OutboxTurn,
  consumer: bigint,
  table: "posthorn_lane" | "posthorn_loose_delivery",
  depth: string,
): FirstColumns {
  const row = client.getWide(
    `select count(*) as found, coalesce(sum(depth), 0) as depth, min(due_at) as since from (
       select ${depth} as depth, case when leased_by is null and ready_at <= ? then ready_at end as due_at
       from ${table} indexed by ${table}_ready where consumer = ? and ready_at is not null order by ready_at limit +?
     )`,
    nowMs,
    consumer,
    MOST_COUNTED.perEndpoint,
  );
  return (row as FirstColumns | undefined) ?? NOTHING;
}

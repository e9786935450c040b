import type { SqliteClient } from "../client/client.js";

/** An endpoint for which something waits, and when the first of it is due. */
export interface WaitingEndpoint {
  readonly endpoint: bigint;
  readonly readyAt: number;
}

/** The endpoint with the next higher number for which something waits. One step in each index, however much waits there. */
export function nextWaiting(client: SqliteClient, after: bigint): WaitingEndpoint | undefined {
  const lane = client.getWide(
    `select endpoint, ready_at from posthorn_lane
     where endpoint > ? and ready_at is not null order by endpoint, ready_at limit 1`,
    after,
  ) as Columns | undefined;
  const loose = client.getWide(
    `select endpoint, ready_at from posthorn_loose_delivery
     where endpoint > ? and ready_at is not null order by endpoint, ready_at limit 1`,
    after,
  ) as Columns | undefined;
  if (lane === undefined || loose === undefined) return waiting(lane ?? loose);
  if (lane.endpoint !== loose.endpoint) return waiting(lane.endpoint < loose.endpoint ? lane : loose);
  return waiting(lane.ready_at < loose.ready_at ? lane : loose);
}

interface Columns {
  readonly endpoint: bigint;
  readonly ready_at: bigint;
}

function waiting(columns: Columns | undefined): WaitingEndpoint | undefined {
  return columns && { endpoint: columns.endpoint, readyAt: Number(columns.ready_at) };
}

/** Every endpoint for which something waits, once around the circle that begins after one of them. */
export function* waitingEndpoints(client: SqliteClient, after: bigint): Generator<WaitingEndpoint> {
  let found = nextWaiting(client, after);
  while (found !== undefined) {
    yield found;
    found = nextWaiting(client, found.endpoint);
  }
  found = nextWaiting(client, 0n);
  while (found !== undefined && found.endpoint <= after) {
    yield found;
    found = nextWaiting(client, found.endpoint);
  }
}

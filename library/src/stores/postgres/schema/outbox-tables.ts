/** The outbox's tables in one schema, quoted. */
export interface OutboxTables {
  readonly event: string;
  readonly key: string;
  readonly name: string;
  readonly stage: string;
  readonly later: string;
  readonly stageDead: string;
  readonly endpoint: string;
  readonly config: string;
  readonly lane: string;
  readonly laneState: string;
  readonly delivery: string;
  readonly attempt: string;
  readonly loose: string;
  readonly looseAttempt: string;
  readonly dead: string;
  readonly cancelled: string;
}

export function outboxTablesIn(schema: string): OutboxTables {
  return {
    event: `${schema}.event`,
    key: `${schema}.outbox_key`,
    name: `${schema}.ingest_name`,
    stage: `${schema}.stage`,
    later: `${schema}.later`,
    stageDead: `${schema}.stage_dead`,
    endpoint: `${schema}.endpoint`,
    config: `${schema}.outbox_config`,
    lane: `${schema}.lane`,
    laneState: `${schema}.lane_state`,
    delivery: `${schema}.delivery`,
    attempt: `${schema}.attempt`,
    loose: `${schema}.loose_delivery`,
    looseAttempt: `${schema}.loose_attempt`,
    dead: `${schema}.dead`,
    cancelled: `${schema}.cancelled`,
  };
}

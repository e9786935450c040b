/** Every table of one schema, quoted. */
export interface Tables {
  readonly inbox: string;
  readonly inboxAttempt: string;
  readonly inboxRefused: string;
  readonly newest: string;
  readonly event: string;
  readonly outboxKey: string;
  readonly stage: string;
  readonly later: string;
  readonly stageDead: string;
  readonly hold: string;
  readonly held: string;
  readonly filled: string;
  readonly consumer: string;
  readonly outboxConfig: string;
  readonly seenTime: string;
  readonly lane: string;
  readonly laneState: string;
  readonly delivery: string;
  readonly attempt: string;
  readonly loose: string;
  readonly looseAttempt: string;
  readonly dead: string;
  readonly deadGroup: string;
  readonly deadChange: string;
  readonly cancelled: string;
  readonly ingestName: string;
  readonly retention: string;
  readonly repairCursor: string;
  readonly step: string;
  readonly ingestRepeat: string;
  /** The function that settles a handler's claim. */
  readonly settle: string;
}

export function tablesIn(schema: string): Tables {
  return {
    inbox: `${schema}.inbox`,
    inboxAttempt: `${schema}.inbox_attempt`,
    inboxRefused: `${schema}.inbox_refused`,
    newest: `${schema}.newest`,
    event: `${schema}.event`,
    outboxKey: `${schema}.outbox_key`,
    stage: `${schema}.stage`,
    later: `${schema}.later`,
    stageDead: `${schema}.stage_dead`,
    hold: `${schema}.hold`,
    held: `${schema}.held`,
    filled: `${schema}.filled`,
    consumer: `${schema}.consumer`,
    outboxConfig: `${schema}.outbox_config`,
    seenTime: `${schema}.seen_time`,
    lane: `${schema}.lane`,
    laneState: `${schema}.lane_state`,
    delivery: `${schema}.delivery`,
    attempt: `${schema}.attempt`,
    loose: `${schema}.loose_delivery`,
    looseAttempt: `${schema}.loose_attempt`,
    dead: `${schema}.dead`,
    deadGroup: `${schema}.dead_group`,
    deadChange: `${schema}.dead_change`,
    cancelled: `${schema}.cancelled`,
    ingestName: `${schema}.ingest_name`,
    retention: `${schema}.retention`,
    repairCursor: `${schema}.repair_cursor`,
    step: `${schema}.step`,
    ingestRepeat: `${schema}.ingest_repeat`,
    settle: `${schema}.settle_1`,
  };
}

/**
 * A text of SQL, made once for each schema: the drivers find a prepared statement by its text, and would hash a new
 * one with each call.
 */
export function sqlFor(make: (tables: Tables) => string): (tables: Tables) => string {
  const made = new WeakMap<Tables, string>();
  return (tables) => {
    const known = made.get(tables);
    if (known !== undefined) return known;
    const text = make(tables);
    made.set(tables, text);
    return text;
  };
}

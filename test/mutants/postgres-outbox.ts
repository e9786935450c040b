import type { Edit, StoreMutant } from "./mutant.js";
import { ANOTHER_HEAD, RACING_CLAIMS, RACING_SEQUENCERS, TENANTS_APART } from "./targeted.js";
import { KEYED_IN_ORDER, SETTLED_IN_ORDER } from "./targeted-postgres.js";

/** A bug of the outbox in Postgres that the conformance kit finds by this case. */
function found(name: string, file: string, edit: Edit | readonly Edit[], caught: string): StoreMutant {
  const edits = Array.isArray(edit) ? edit : [edit];
  const caughtBy = { suite: "outbox", case: caught } as const;
  return {
    name,
    database: "postgres",
    file: file === RULE ? RULE : `stores/postgres/${file}`,
    edits,
    caughtBy,
  };
}

/** What becomes of a lane is decided there, for every store; these bugs are planted there and run on Postgres. */
const RULE = "lanes/lane.ts";

/** One that a case of this folder finds. */
function targeted(name: string, file: string, edit: Edit | readonly Edit[], caught: string): StoreMutant {
  return { ...found(name, file, edit, caught), caughtBy: { suite: "targeted", case: caught } };
}

export const POSTGRES_OUTBOX: readonly StoreMutant[] = [
  // Sequencing.
  found(
    "a hold never ends",
    "lanes/hold.ts",
    { find: "where $1::text::bool and until <=", replace: "where $1::text::bool and false and until <=" },
    "no event is held for longer than it may: what was waited for is given up, and the event says so",
  ),
  found(
    "a duplicate fills no place",
    "outbox/ingest-write.ts",
    { find: "if (filled.length > 0) await", replace: "if (filled.length < 0) await" },
    "a duplicate or a conflict fills its place in the sequence of its key: what comes behind it does not wait",
  ),
  found(
    "a filled place wakes nobody",
    "lanes/stage.ts",
    { find: "exists (select from ${filled} where not judged)", replace: "false" },
    "fill fills the place of an event that was answered and is not stored: what is held behind it goes",
  ),
  found(
    "filled places are never forgotten",
    "retention/remove-holds.ts",
    {
      find: 'select ctid from ${filled} where ${isOldSql("filled_at")}',
      replace: "select ctid from ${filled} where false",
    },
    "a filled place is forgotten when events of its time are",
  ),
  found(
    "the time of a hold is told to nobody",
    "lanes/until-due.ts",
    { find: '"union all select at from longest_held"', replace: '""' },
    "a worker knows until when an event is held, and a dispatcher does not wait for it",
  ),
  found(
    "the stage is polled by a cursor",
    "lanes/stage.ts",
    [
      {
        find: "? { text: TAKE(tables), params: [cursor, String(limit)], prepared: true }",
        replace: `? {
          text: TAKE(tables).replace("= turn.tenant", "= turn.tenant and stage.id > " + (tables.seen ?? 0n)),
          params: [cursor, String(limit)],
        }`,
      },
      {
        find: "const counts: number[] = [];",
        replace: `const counts: number[] = [];
        tables.seen = rows.reduce((last, [, , id]) => (BigInt(id) > last ? BigInt(id) : last), tables.seen ?? 0n);`,
      },
    ],
    "an event whose transaction commits late is not passed over",
  ),
  targeted(
    "the stage is read without its lock",
    "lanes/stage.ts",
    [
      { find: "pg_try_advisory_xact_lock(${lockKey(tables)})::text", replace: "'true'" },
      { find: "limit (select share from share) for update", replace: "limit (select share from share)" },
    ],
    RACING_SEQUENCERS,
  ),
  found(
    "a lane's sequences have gaps",
    "lanes/places.ts",
    {
      find: "next_seq = state.next_seq + locked.count,",
      replace: "next_seq = state.next_seq + locked.count + 1,",
    },
    "a lane keeps the order of publishing, with sequences without a gap",
  ),
  found(
    "a lane that was empty is not armed",
    "lanes/places.ts",
    { find: "and state.head_seq = state.next_seq", replace: "and false" },
    "a lane that was empty goes on with the next sequence",
  ),
  found(
    "deliverAt is not honoured",
    "outbox/write.ts",
    {
      find: "select tenant, id from written, clock where deliver_at is null or deliver_at <= at order by id",
      replace: "select tenant, id from written, clock order by id",
    },
    "an event with deliverAt takes its place when it is due",
  ),
  // Writing.
  targeted(
    "a given id is looked up without its tenant",
    "outbox/keyed-write.ts",
    { find: "where taken.tenant = given.tenant and taken.public_id", replace: "where taken.public_id" },
    TENANTS_APART,
  ),
  found(
    "a given id with another body counts as the same event",
    "outbox/keyed-write.ts",
    { find: "when not same then 'conflict'", replace: "when not same then 'duplicate'" },
    "a second event of a given id with another body is a conflict, and nothing of the call is written",
  ),
  targeted(
    "given ids are inserted in any order",
    "outbox/keyed-write.ts",
    {
      find: "from fresh where id_given order by tenant, public_id",
      replace: "from fresh where id_given order by n",
    },
    KEYED_IN_ORDER,
  ),
  found(
    "what is published in a host's transaction is committed at once",
    "outbox/outbox.ts",
    [
      {
        find: "const session = await sessionOf(tx);",
        replace: `await sessionOf(tx);
    const session = { query: (statement) => transactions.read(statement) };`,
      },
      {
        find: '{ sessionOf, tables }: Pick<OutboxParts, "sessionOf" | "tables">,',
        replace: "{ sessionOf, tables, transactions },",
      },
    ],
    "events written into a transaction of the host never were when it rolls back",
  ),
  // Claims.
  targeted(
    "events are locked by SKIP LOCKED, not lanes",
    "lanes/pick-due.ts",
    {
      find: `select \${LANE_COLUMNS}, ready_at
        \${dueAt(tables.laneState, "turn", readyAt)}
        order by \${readyAt} \${LIMITED}`,
      replace: `select \${LANE_COLUMNS.replace("head_seq", "free_seq as head_seq")}, ready_at
        from (select * \${dueAt(tables.laneState, "turn")}) as due cross join lateral (
          select seq as free_seq from \${tables.delivery} as delivery where delivery.lane_id = due.lane_id
          order by seq limit 1 for update skip locked
        ) as free
        order by ready_at limit least(turn.room, (select lanes from share))`,
    },
    RACING_CLAIMS,
  ),
  targeted(
    "lanes are read without a lock",
    "lanes/pick-due.ts",
    {
      find: `\${dueAt(tables.laneState, "turn", readyAt)}
        order by \${readyAt} \${LIMITED}`,
      replace: `\${dueAt(tables.laneState, "turn")}
        order by ready_at limit least(turn.room, (select lanes from share))`,
    },
    RACING_CLAIMS,
  ),
  found(
    "the epoch is not raised by a claim",
    "lanes/run.ts",
    {
      find: "return 1n + BigInt(Math.floor(Math.random() * MOST_RAISED));",
      replace: "return 0n;",
    },
    "whoever claims after another has a higher epoch",
  ),
  found(
    "the end of a lease is not kept",
    "lanes/lane-write.ts",
    {
      find: "ready_at = at + case when change.leased then lease",
      replace: "ready_at = at + case when change.leased then interval '0'",
    },
    "nothing is claimed twice until its lease ends",
  ),
  found(
    "what waits for a paused endpoint is claimed",
    "lanes/pick-due.ts",
    {
      find: "and known.state = 'active' and known.removed_at is null and known.room",
      replace: "and known.removed_at is null and known.room",
    },
    "nothing of an endpoint that is paused is claimed, and it keeps what waits, in order",
  ),
  found(
    "an endpoint gets more at once than it takes",
    "lanes/pick-due.ts",
    { find: "            max_in_flight,\n", replace: "            1000,\n" },
    "an endpoint gets at most maxInFlight less what the worker has of it",
  ),
  found(
    "an endpoint gets more than its share",
    "lanes/pick-due.ts",
    {
      find: "->> consumer.public_id)::int4, $6::text::int4)",
      replace: "->> consumer.public_id)::int4 + $6::text::int4, 1000)",
    },
    "of an endpoint a worker gets no more than its share, less what it holds already",
  ),
  found(
    "a brief claim gets longer lanes too",
    "lanes/pick-due.ts",
    {
      find: 'endpoint: sqlFor((tables) => dueSql("endpoint", "brief_at", tables)),',
      replace: 'endpoint: sqlFor((tables) => dueSql("endpoint", "ready_at", tables)),',
    },
    "a brief claim gets loose deliveries and lanes that hold at most eight, and nothing else",
  ),
  found(
    "expiresAt is ignored",
    "lanes/lane-row.ts",
    {
      find: 'optional(milliseconds("expires_at - clock_timestamp()"))',
      replace: 'optional(milliseconds("null::interval"))',
    },
    "a claim says how long until its event expires, and an expired one is still claimed",
  ),
  found(
    "sequences go through numbers that round them",
    "lanes/lane-row.ts",
    { find: 'head: bigint("head_seq"),', replace: 'head: bigint("head_seq::float8::int8"),' },
    "sequences beyond 2^53 are kept to the last digit",
  ),
  // Lapses.
  found(
    "a lapse spends the retry budget",
    RULE,
    { find: "draft.lapses += 1;", replace: "draft.lapses += 1; draft.failures += 1;" },
    "a claim whose lease has ended writes a lapsed attempt, which spends no failure",
  ),
  found(
    "lapses are not counted",
    RULE,
    { find: "draft.lapses += 1;", replace: "" },
    "what lapsed three times is claimed alone",
  ),
  found(
    "an attempt that returns does not end the count of lapses",
    RULE,
    { find: "draft.lapses = 0;", replace: "" },
    "an attempt that returns ends the count of lapses: the next one runs beside others",
  ),
  found(
    "a run is claimed after a lapse",
    RULE,
    [
      {
        find: 'lane.lease === undefined ? leasableOf(draft, lane) : "head"',
        replace: "leasableOf(draft, lane)",
      },
      { find: 'kind === "loose" || attempts > 0 || suspect', replace: 'kind === "loose" || attempts > 0' },
    ],
    "a run that lapsed writes no attempt, and each that it held goes by itself from then on",
  ),
  // Settlements.
  found(
    "the epoch is not compared by a settlement",
    RULE,
    { find: "lane.epoch === claim.epoch && ", replace: "" },
    "a settlement whose claim has passed to another changes nothing",
  ),
  found(
    "the epoch of a delivery without a lane is not compared",
    "lanes/settle.ts",
    {
      find: "!isCurrent(locked.lane, claim)",
      replace:
        '!isCurrent(locked.lane, claim.kind === "loose" ? { ...claim, epoch: locked.lane.epoch } : claim)',
    },
    "a stale settlement of a delivery without a lane changes nothing",
  ),
  targeted(
    "the head is not compared by a settlement",
    RULE,
    { find: " && lane.head === claim.run[0].sequence", replace: "" },
    ANOTHER_HEAD,
  ),
  found(
    "a claim is settled again after its lease was given back",
    RULE,
    { find: "lane.lease !== undefined && lane.epoch", replace: "lane.epoch" },
    "a claim is settled once: a second settlement of it changes nothing",
  ),
  targeted(
    "lanes are locked in the order of the call",
    "lanes/settle.ts",
    {
      find: "settlements.toSorted((a, b) => (a.claim.id < b.claim.id ? -1 : 1))",
      replace: "settlements",
    },
    SETTLED_IN_ORDER,
  ),
  found(
    "a retry moves the lane's head",
    RULE,
    { find: "draft.readyAfterMs = rest.afterMs;", replace: "passHead(draft);" },
    "a delivery that failed is tried again later at the head of its lane: later ones wait",
  ),
  found(
    "attempts are written outside of the settlement",
    "lanes/settle.ts",
    {
      find: 'reach("settle.before_record");',
      replace: `
  const outside = \`insert into \${tables.attempt} (lane_id, seq, round, no, event_id, started_at, duration_ms, outcome)
    select lane_id, seq, $3::text::int4, $4::text::int4, event_id, clock_timestamp(), 0, $5::text from \${tables.delivery}
    where lane_id = $1::text::int8 and seq = $2::text::int8 on conflict do nothing\`;
  for (const { claim, attempts } of sorted) {
    for (const { sequence, round, number, outcome } of attempts) {
      const params = [claim.id, sequence, round, number, outcome].map(String);
      await transactions.run((session) => session.query({ text: outside, params }));
    }
  }`,
    },
    "a settlement of what was released changes nothing",
  ),
  found(
    "a late settlement makes the process forget what its worker has claimed again",
    "lanes/settle.ts",
    {
      find: 'reach("settle.after_record");',
      replace: `
  const forget = \`update \${tables.laneState} set leased_by = null where lane_id = $1::text::int8\`;
  for (const settlement of settlements) {
    if (turns.has(settlement)) continue;
    const params = [String(settlement.claim.id)];
    await transactions.run((session) => session.query({ text: forget, params }));
  }`,
    },
    "release gives back what the worker has claimed again, though it settles the claim before too late",
  ),
  // Ends.
  found(
    "skipped without a record",
    "lanes/record-ended.ts",
    {
      find: "change.cancelled ? [{ locked, end: change.cancelled }] : []",
      replace: 'change.cancelled?.because === "expired" ? [{ locked, end: change.cancelled }] : []',
    },
    "what was skipped is recorded",
  ),
  found(
    "dead under skip without a record",
    "lanes/record-ended.ts",
    {
      find: "(change.dead ? [",
      replace: '(change.dead && change.state !== "flowing" ? [',
    },
    "a dead letter whose lane went on is redriven at the end of the lane",
  ),
  found(
    "a dead letter is redriven twice",
    "operator/redrive.ts",
    {
      find: "dead.lane_id = given.lane_id and dead.seq = given.seq and (${UNDECIDED})",
      replace: "dead.lane_id = given.lane_id and dead.seq = given.seq",
    },
    "a second redrive changes nothing",
  ),
  {
    ...found(
      "what waits for its time is not set aside where it waits",
      "lanes/stage.ts",
      {
        find: "if (rows.length > 0 || !waited) return rows.length > 0;",
        replace: "return rows.length > 0;",
      },
      "an event that cannot be sequenced is set aside, and stops no other",
    ),
    // It is tried again and again.
    shows: "lateness",
  },
  found(
    "what was set aside is listed oldest first",
    "operator/set-aside.ts",
    {
      find: "order by aside.id desc limit",
      replace: "order by aside.id limit",
    },
    "events that were set aside are listed newest first, page by page, and counted",
  ),
  found(
    "what was set aside is redriven twice",
    "operator/set-aside.ts",
    {
      find: "where id = $1::text::int8 and resolved_at is null",
      replace: "where id = $1::text::int8",
    },
    "an event that was set aside and is redriven takes its place at the end of its lane; a second call changes nothing",
  ),
  found(
    "what was set aside is resolved and not staged",
    "operator/set-aside.ts",
    {
      find: "from known where is_there",
      replace: "from known where not is_there",
    },
    "an event that cannot be sequenced once more is set aside once more",
  ),
  found(
    "an event that was set aside goes with the others",
    "retention/remove-events.ts",
    {
      find: "aside.event_id = old.id and aside.resolved_at is null",
      replace: "aside.event_id = old.id and aside.resolved_at is not null",
    },
    "an event that was set aside stays until it is redriven and its own window has passed",
  ),
  found(
    "a redrive of many forgets the rounds",
    "operator/redrive.ts",
    {
      find: 'round: numbers("int4", ({ round }) => round),',
      replace: 'round: numbers("int4", () => undefined),',
    },
    "many are redriven each in its round, in the given order; one that died again since then is in another round, and stays",
  ),
  found(
    "a cancelled lane keeps its dead letter",
    "operator/cancel.ts",
    { find: "if (range.dead === undefined) return;", replace: "return;" },
    "a cancelled lane resolves the dead letter of its head, and is empty where all of it was cancelled",
  ),
  found(
    "a redrive stays in its round",
    RULE,
    { find: "draft.round += 1;", replace: "" },
    "a dead letter that is redriven at the head of its lane keeps its place, in a new round with a fresh retry budget",
  ),
  found(
    "a retry reaches every endpoint",
    "operator/retry.ts",
    {
      find: "where consumer_id = (select id from meant) and ${WAITS}\n      union all",
      replace: "where ${WAITS}\n      union all",
    },
    "retry of an endpoint makes all that has failed there due now, each lane in its order, and nothing of another endpoint",
  ),
  found(
    "a retry of a delivery takes the head of its lane instead",
    "operator/retry.ts",
    {
      find: "const isMeant = found !== undefined && isHead(found.lane.head, wanted);",
      replace: "const isMeant = found !== undefined;",
    },
    "retry of a delivery makes it due where it is the head of its lane, and changes nothing where others are before it",
  ),
  // Endpoints.
  found(
    "a pause touches the epochs",
    "outbox/endpoints.ts",
    {
      find: "return secrets.opened(storedEndpointOf(written[0] ?? row).endpoint);",
      replace: `await session.query({
      text: \`update \${consumer.replace("consumer", "lane_state")} set epoch = epoch + 1
        where consumer_id = (select id from \${consumer} where public_id = $1::text and removed_at is null)\`,
      params: [id],
    });
    return secrets.opened(storedEndpointOf(written[0] ?? row).endpoint);`,
    },
    "a claim of an endpoint that is paused meanwhile is settled, and gives no next",
  ),
  found(
    "a removed endpoint leaves its lanes behind",
    "outbox/remove-endpoint.ts",
    {
      find: "where ctid = any (array(select at from picked)) returning",
      replace: "where ctid = any (array(select at from picked)) and false returning",
    },
    "each delivery of an endpoint that is removed is recorded as cancelled",
  ),
  // Retention.
  found(
    "retention removes what waits in a lane",
    "retention/remove-events.ts",
    {
      find: "        and not exists (select from ${tables.delivery} as held where held.event_id = old.id)\n",
      replace: "",
    },
    "an event stays while a delivery of it waits, is under way or is not due yet",
  ),
  found(
    "retention removes what waits without a lane",
    "retention/remove-events.ts",
    { find: "        and not exists (select from loose where loose.event_id = old.id)\n", replace: "" },
    "an event stays while a delivery of it waits, is under way or is not due yet",
  ),
  found(
    "retention removes an unresolved dead letter's event",
    "retention/remove-events.ts",
    {
      find: "        and not exists (select from ${tables.dead} as dead where dead.event_id = old.id)\n",
      replace: "",
    },
    "a dead letter goes only after it was resolved and its own window has passed, and holds its event until then",
  ),
  found(
    "a lane comes back in its old generation",
    "retention/remove-lanes.ts",
    { find: "set generation = generation + 1", replace: "set generation = generation" },
    "a lane that is gone and comes back begins above its old sequences, in a higher generation",
  ),
  found(
    "retention removes a lane of which something is told",
    "retention/remove-lanes.ts",
    {
      find: "not exists (select from ${attempt} as told where told.lane_id = ${lane}.lane_id)\n        and ",
      replace: "",
    },
    "a lane of which something is told keeps its generation",
  ),
  found(
    "retention looks for no lane of a handler",
    "retention/remove-events.ts",
    { find: "          union select lane_id from handled\n", replace: "" },
    "a lane of a handler goes with its event, though the handler left no attempt, and comes back in a higher generation",
  ),
  found(
    "what nobody names is staged with what somebody does",
    "lanes/unclaimed.ts",
    { find: ".filter(matcherOf(sources));", replace: ";" },
    "what no handler names stays set aside, and is sequenced no second time, where handlers register other words or sources",
  ),
];

import type { Edit, StoreMutant, SuiteName } from "./mutant.js";
import { ANOTHER_HEAD, TENANTS_APART, WINDOW_SHORTENED } from "./targeted.js";
import { CLOCK_SET_BACK, LEASE_ENDS_ONCE, WAITS_FOR_DISK } from "./targeted-sqlite.js";

/** A bug of a store in SQLite that this suite finds. */
function bug(name: string, file: string, edit: Edit | readonly Edit[], caught: Caught): StoreMutant {
  const edits = Array.isArray(edit) ? edit : [edit];
  const [suite, found] = caught;
  return { name, database: "sqlite", file: `stores/sqlite/${file}`, edits, caughtBy: { suite, case: found } };
}

/** A bug of the lane rule that this store's suite finds, because the store has no other rule. */
function ruleBug(name: string, edit: Edit, [suite, found]: Caught): StoreMutant {
  return { name, database: "sqlite", file: "lanes/lane.ts", edits: [edit], caughtBy: { suite, case: found } };
}

type Caught = readonly [SuiteName, string];

export const SQLITE: readonly StoreMutant[] = [
  // Commits.
  bug(
    "synchronous is normal",
    "client/durability.ts",
    { find: "const FULL = 2;", replace: "const FULL = 1;" },
    ["targeted", WAITS_FOR_DISK],
  ),
  bug(
    "a caller's part of a group has no savepoint",
    "client/group.ts",
    { find: "const saved = undoable && !undoesAll;", replace: "const saved = false;" },
    ["inbox", "what the handler wrote is gone when it throws"],
  ),
  bug(
    "an event is remembered outside of what its handler undoes",
    "inbox/accept.ts",
    {
      find: 'const attempt = claimRow(client, arrival, { nowMs, consumer: "", storedAs: undefined })?.attempts;',
      replace: `const attempt = claimRow(client, arrival, { nowMs, consumer: "", storedAs: undefined })?.attempts;
  client.run("release posthorn_part");
  client.run("savepoint posthorn_part");`,
    },
    ["inbox", "a handler that throws leaves nothing behind, and what it threw is handed back"],
  ),
  bug(
    "a handler may begin and end transactions",
    "client/guard.ts",
    { find: "check(transactionCommand(String(args[0])))", replace: "check(undefined)" },
    ["inbox", "what a handler writes after a rollback of its own is there with its event, or not at all"],
  ),
  bug(
    "a hold never ends",
    "lanes/hold.ts",
    { find: "where until <= ? order by until", replace: "where until <= ? and 0 order by until" },
    [
      "outbox",
      "no event is held for longer than it may: what was waited for is given up, and the event says so",
    ],
  ),
  bug(
    "a duplicate fills no place",
    "outbox/ingest.ts",
    { find: "if (place !== undefined) fillPlace(turn, place);", replace: "" },
    [
      "outbox",
      "a duplicate or a conflict fills its place in the sequence of its key: what comes behind it does not wait",
    ],
  ),
  bug(
    "a filled place wakes nobody",
    "lanes/stage.ts",
    { find: "from posthorn_filled where judged = 0", replace: "from posthorn_filled where 0" },
    [
      "outbox",
      "fill fills the place of an event that was answered and is not stored: what is held behind it goes",
    ],
  ),
  bug(
    "filled places are never forgotten",
    "retention/remove-holds.ts",
    {
      find: "from posthorn_filled where filled_at <= ?",
      replace: "from posthorn_filled where filled_at <= ? and 0",
    },
    ["outbox", "a filled place is forgotten when events of its time are"],
  ),
  bug(
    "what was given up is not kept with its event",
    "lanes/hold.ts",
    { find: "if (gap) decide(turn, held, { gap });", replace: "" },
    [
      "outbox",
      "no event is held for longer than it may: what was waited for is given up, and the event says so",
    ],
  ),
  // Inbox.
  bug(
    "a failed event counts as known",
    "inbox/accept.ts",
    { find: "where outcome in ('failed', 'skipped', 'pending')", replace: "where 0" },
    ["inbox", "a row that says failed is taken over, and attempts go on counting"],
  ),
  bug(
    "a skipped event counts as known",
    "inbox/accept.ts",
    { find: "where outcome in ('failed', 'skipped', 'pending')", replace: "where outcome = 'failed'" },
    ["inbox", "a row that says skipped is taken over whatever its body, because nothing of it was applied"],
  ),
  bug(
    "a window ends with the purge",
    "inbox/find.ts",
    { find: "and (keep_until is null or keep_until > ?)", replace: "and ? > 0" },
    ["inbox", "an event whose window has passed is new again, though no purge has removed it"],
  ),
  bug(
    "a failure overwrites another delivery's success",
    "inbox/records.ts",
    {
      find: "ordering_key = excluded.ordering_key\n     where outcome in ('failed', 'skipped', 'pending') or",
      replace: "ordering_key = excluded.ordering_key where true or",
    },
    ["inbox", "a failure that comes after another delivery's success changes nothing"],
  ),
  bug(
    "failed rows are purged",
    "inbox/records.ts",
    [
      {
        find: "received_at, last_received_at, headers, body_hash, body, error,",
        replace: "received_at, last_received_at, keep_until, headers, body_hash, body, error,",
      },
      { find: "'failed', 1, 1, ?, ?, ?, ?, ?, ?, ?)", replace: "'failed', 1, 1, ?, ?, ?, ?, ?, ?, ?, ?)" },
      { find: "arrivalValues(arrival, nowMs, { window: false })", replace: "arrivalValues(arrival, nowMs)" },
    ],
    ["inbox", "purge never removes a row that says failed"],
  ),
  bug(
    "the window counts from the first receipt",
    "inbox/touch.ts",
    { find: "keep_until = max(keep_until, ?)", replace: "keep_until = min(keep_until, ?)" },
    ["inbox", "a duplicate that was noted starts the window again"],
  ),
  bug(
    "a duplicate makes the window shorter",
    "inbox/touch.ts",
    { find: "keep_until = max(keep_until, ?)", replace: "keep_until = ?" },
    ["targeted", WINDOW_SHORTENED],
  ),
  bug(
    "an id is looked up and written in two steps",
    "dedup/dedup.ts",
    {
      find: "const write = (): DedupVerdict => this.#write(key, ttlSeconds);",
      replace: `const isKnown = (): boolean => {
      try {
        const sql = "select 1 from posthorn_dedup where id = ? and expires_at > ?";
        return this.#connection.client.get(sql, key, this.#clock.now()) !== undefined;
      } catch {
        return false;
      }
    };
    const duplicate = isKnown();
    await new Promise((resolve) => setImmediate(resolve));
    const write = (): DedupVerdict => (this.#write(key, ttlSeconds), { duplicate });`,
    },
    ["dedup", "of all concurrent calls with one id, exactly one gets duplicate: false"],
  ),
  // Writing and sequencing.
  bug(
    "a given id is looked up without its tenant",
    "outbox/write.ts",
    { find: "where tenant = ? and public_id = ?", replace: "where ? <> '' and public_id = ?" },
    ["targeted", TENANTS_APART],
  ),
  bug(
    "given ids of one call are compared without their tenants",
    "outbox/write.ts",
    { find: "const name = JSON.stringify([tenant, id]);", replace: "const name = id;" },
    ["outbox", "the same given id of another tenant is another event"],
  ),
  bug(
    "a given id with another body counts as the same event",
    "outbox/write.ts",
    { find: 'equalBytes(known, contentHash) ? "duplicate" : "conflict"', replace: '"duplicate"' },
    [
      "outbox",
      "a second event of a given id with another body is a conflict, and nothing of the call is written",
    ],
  ),
  bug(
    "deliverAt is not honoured",
    "outbox/write.ts",
    { find: "deliverAt !== undefined && deliverAt.getTime() > turn.nowMs", replace: "deliverAt === null" },
    ["outbox", "an event with deliverAt takes its place when it is due"],
  ),
  bug(
    "a lane's sequences have gaps",
    "lanes/places.ts",
    { find: "set next_seq = next_seq + ? where", replace: "set next_seq = next_seq + 1 + ? where" },
    ["outbox", "a lane keeps the order of publishing, with sequences without a gap"],
  ),
  bug(
    "a lane that was empty is not armed",
    "lanes/places.ts",
    { find: "if (known !== undefined) armIfEmpty(turn, known, count);", replace: "" },
    ["outbox", "a lane that was empty goes on with the next sequence"],
  ),
  // Claims.
  bug(
    "the epoch is not raised by a claim",
    "lanes/lane-write.ts",
    { find: "return [change.epoch + 1n, until,", replace: "return [change.epoch, until," },
    ["outbox", "whoever claims after another has a higher epoch"],
  ),
  bug(
    "the end of a lease is not kept",
    "lanes/lane-write.ts",
    { find: "return [change.epoch + 1n, until,", replace: "return [change.epoch + 1n, nowMs," },
    ["outbox", "nothing is claimed twice until its lease ends"],
  ),
  bug(
    "what waits for a paused endpoint is claimed",
    "outbox/turn.ts",
    { find: 'this.stateOf(number) === "active"', replace: "true" },
    ["outbox", "nothing of an endpoint that is paused is claimed, and it keeps what waits, in order"],
  ),
  bug(
    "an endpoint gets more than its share",
    "lanes/claim.ts",
    { find: "roomOf(consumer, request)", replace: "roomOf(consumer, { ...request, shares: undefined })" },
    ["outbox", "of an endpoint a worker gets no more than its share, less what it holds already"],
  ),
  bug(
    "a brief claim gets longer lanes too",
    "lanes/claim.ts",
    { find: "const { brief } = taking.request;", replace: "const brief = false;" },
    ["outbox", "a brief claim gets loose deliveries and lanes that hold at most eight, and nothing else"],
  ),
  bug(
    "expiresAt is ignored",
    "lanes/run.ts",
    { find: "expiresAt === undefined ? undefined : expiresAt - nowMs", replace: "undefined" },
    ["outbox", "a claim says how long until its event expires, and an expired one is still claimed"],
  ),
  bug(
    "sequences go through numbers that round them",
    "lanes/lane-row.ts",
    { find: "head: headSeq,", replace: "head: BigInt(Number(headSeq))," },
    ["outbox", "sequences beyond 2^53 are kept to the last digit"],
  ),
  ruleBug(
    "a run is claimed after a lapse",
    { find: "attempts > 0 || suspect ?", replace: "attempts > 0 ?" },
    ["outbox", "a run that lapsed writes no attempt, and each that it held goes by itself from then on"],
  ),
  ruleBug(
    "a lapse spends the retry budget",
    { find: "draft.lapses += 1;", replace: "draft.lapses += 1;\n  draft.failures += 1;" },
    ["outbox", "a claim whose lease has ended writes a lapsed attempt, which spends no failure"],
  ),
  ruleBug("lapses are not counted", { find: "draft.lapses += 1;", replace: "" }, [
    "outbox",
    "what lapsed three times is claimed alone",
  ]),
  ruleBug(
    "an attempt that returns does not end the count of lapses",
    { find: "draft.lapses = 0;", replace: "" },
    ["outbox", "an attempt that returns ends the count of lapses: the next one runs beside others"],
  ),
  bug(
    "what waits is not moved when the clock was set back",
    "lanes/seen-time.ts",
    { find: "moveBack(turn, turn.seenAt + passedMs - turn.nowMs);", replace: "" },
    ["targeted", CLOCK_SET_BACK],
  ),
  bug(
    "every lease ends when the clock was set back",
    "lanes/seen-time.ts",
    { find: " and (leased_by is null or leased_at > ?)`", replace: " and ? > 0`" },
    ["targeted", LEASE_ENDS_ONCE],
  ),
  // Settlements.
  ruleBug(
    "the epoch is not compared by a settlement",
    { find: "lane.epoch === claim.epoch && ", replace: "" },
    ["outbox", "a settlement whose claim has passed to another changes nothing"],
  ),
  bug(
    "the epoch of a delivery without a lane is not compared",
    "lanes/settle.ts",
    {
      find: "!isCurrent(row.lane, claim)",
      replace: '!isCurrent(claim.kind === "loose" ? { ...row.lane, epoch: claim.epoch } : row.lane, claim)',
    },
    ["outbox", "a stale settlement of a delivery without a lane changes nothing"],
  ),
  ruleBug(
    "the head is not compared by a settlement",
    { find: " && lane.head === claim.run[0].sequence", replace: "" },
    ["targeted", ANOTHER_HEAD],
  ),
  ruleBug(
    "a claim is settled again after its lease was given back",
    { find: "return lane.lease !== undefined && lane.epoch", replace: "return lane.epoch" },
    ["outbox", "a claim is settled once: a second settlement of it changes nothing"],
  ),
  ruleBug(
    "a retry moves the lane's head",
    { find: "draft.readyAfterMs = rest.afterMs;", replace: "passHead(draft);" },
    ["outbox", "a delivery that failed is tried again later at the head of its lane: later ones wait"],
  ),
  bug(
    "attempts are written before the fence",
    "lanes/settle.ts",
    [
      {
        find: 'import { changeLane } from "./lane-write.js";',
        replace: `import { insertAttempt } from "./attempt-rows.js";
import { changeLane } from "./lane-write.js";`,
      },
      {
        find: "const row = readRow(turn.client, claim.kind, claim.id);",
        replace: `const row = readRow(turn.client, claim.kind, claim.id);
  const event = row?.headEvent;
  for (const each of event === undefined ? [] : settlement.attempts)
    insertAttempt(turn.client, { lane: claim.id, seq: each.sequence, event }, each);`,
      },
    ],
    ["outbox", "a settlement of what was released changes nothing"],
  ),
  // Ends.
  bug(
    "skipped without a record",
    "lanes/lane-write.ts",
    {
      find: "else if (cancelled !== undefined) insertCancelled(turn, { ...delivery, consumer }, cancelled.because);",
      replace: "",
    },
    ["outbox", "what was skipped is recorded"],
  ),
  bug(
    "dead under skip without a record",
    "lanes/lane-write.ts",
    {
      find: "if (dead !== undefined) insertDead(",
      replace: 'if (dead !== undefined && change.state !== "flowing") insertDead(',
    },
    ["outbox", "a dead letter whose lane went on is redriven at the end of the lane"],
  ),
  bug(
    "a dead letter is redriven twice",
    "operator/redrive.ts",
    { find: "resolve(turn, dead.id);", replace: "" },
    ["outbox", "a second redrive changes nothing"],
  ),
  bug(
    "a redrive of many forgets the rounds",
    "operator/redrive.ts",
    {
      find: 'if (dead?.how === "redriven") return "before";',
      replace: 'if (dead?.how === "redriven") return redriveDead(turn, id);',
    },
    [
      "outbox",
      "many are redriven each in its round, in the given order; one that died again since then is in another round, and stays",
    ],
  ),
  bug(
    "a cancelled lane keeps its dead letter",
    "operator/cancel.ts",
    { find: "if (range.dead !== undefined) {", replace: "if (nowMs < 0 && range.dead !== undefined) {" },
    [
      "outbox",
      "a cancelled lane resolves the dead letter of its head, and is empty where all of it was cancelled",
    ],
  ),
  ruleBug("a redrive stays in its round", { find: "draft.round += 1;", replace: "" }, [
    "outbox",
    "a dead letter that is redriven at the head of its lane keeps its place, in a new round with a fresh retry budget",
  ]),
  bug(
    "a retry of a delivery takes the head of its lane instead",
    "operator/retry.ts",
    {
      find: "head === undefined || head === row.lane.head ? retried(row.lane) : undefined",
      replace: "retried(row.lane)",
    },
    [
      "outbox",
      "retry of a delivery makes it due where it is the head of its lane, and changes nothing where others are before it",
    ],
  ),
  // Endpoints.
  bug(
    "a pause touches the epochs",
    "outbox/endpoints.ts",
    {
      find: "save(turn, row, { ...before, ...change,",
      replace: `turn.client.run("update posthorn_lane set epoch = epoch + 1 where consumer = ?", row.id);
  save(turn, row, { ...before, ...change,`,
    },
    ["outbox", "a claim of an endpoint that is paused meanwhile is settled, and gives no next"],
  ),
  bug(
    "a removed endpoint leaves its lanes behind",
    "outbox/remove-endpoint.ts",
    {
      find: "if (removed === undefined) return { cancelled: 0, more: false };",
      replace: "return { cancelled: 0, more: false };",
    },
    ["outbox", "each delivery of an endpoint that is removed is recorded as cancelled"],
  ),
  // Retention.
  bug(
    "what waits is removed",
    "retention/remove-events.ts",
    {
      find: "places.some((place) => isOpen(client, place) || hasDead(client, place)) ||",
      replace: "places.some((place) => hasDead(client, place)) ||",
    },
    ["outbox", "an event stays while a delivery of it waits, is under way or is not due yet"],
  ),
  bug(
    "the event of an unresolved dead letter is removed",
    "retention/remove-events.ts",
    { find: "isOpen(client, place) || hasDead(client, place)", replace: "isOpen(client, place)" },
    [
      "outbox",
      "a dead letter goes only after it was resolved and its own window has passed, and holds its event until then",
    ],
  ),
  bug(
    "a lane that is gone comes back in its old generation",
    "retention/remove-lanes.ts",
    { find: "set generation = generation + 1", replace: "set generation = generation" },
    ["outbox", "a lane that is gone and comes back begins above its old sequences, in a higher generation"],
  ),
  bug(
    "a lane of which something is told is removed",
    "retention/remove-lanes.ts",
    {
      find: "         and not exists (select 1 from posthorn_attempt where lane = posthorn_lane.id)\n",
      replace: "",
    },
    ["outbox", "a lane of which something is told keeps its generation"],
  ),
  bug(
    "a version is kept without its event",
    "inbox/newest.ts",
    { find: "event_id = excluded.event_id, ", replace: "" },
    [
      "outbox",
      "an equal version is the newest again where the same event brought it, and stale once another event brings a newer one",
    ],
  ),
];

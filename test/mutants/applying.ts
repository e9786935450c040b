import type { DatabaseName, Edit, StoreMutant } from "./mutant.js";

/** A bug of handlers as consumers, which the conformance kit finds by this case. */
function bug(
  name: string,
  [database, file]: readonly [DatabaseName, string],
  edits: readonly Edit[],
  caught: string,
): StoreMutant {
  // What is shared by the stores is named from the top.
  const path = file.startsWith("/") ? file.slice(1) : `stores/${database}/${file}`;
  return { name, database, file: path, edits, caughtBy: { suite: "outbox", case: caught } };
}

const THROWS = "an apply whose handler throws changes nothing, and its claim is still held";
const RUN_ENDS = "a run ends before an event that was applied before, or that it has already";
const OTHER_LANE =
  "where nothing waits behind, an apply may lease another lane of the same consumer: due, leased by nobody, its head never tried";
const EXTENDED = "an extended lease is claimed by nobody else until it ends";
const CLAIMED_APART =
  "a dispatcher claims no handler, and a worker claims no endpoint and no handler that it does not name";
const REQUEST_FIRST =
  "an event that comes once in each mode is applied once, where it was applied in its request first";
const STORE_FIRST =
  "an event that comes once in each mode is applied once, where it was applied from the store first";
const PAUSED =
  "a settlement as paused pauses the handler: its attempt spends no failure, its delivery stays at the head, and nothing is leased";

export const APPLYING: readonly StoreMutant[] = [
  bug(
    "an apply settles outside of its transaction",
    ["postgres", "lanes/apply.ts"],
    [
      {
        find: "const draft = await this.#run(scope,",
        replace: `closed = await this.#pool.query(settle(arrivals.length, undefined), 5000);
            const draft = await this.#run(scope,`,
      },
      { find: "scope.closing = settle(draft.count, scope.backend?.xid);", replace: "" },
      { find: "scope.onClosed = (last) => (closed = last);", replace: "" },
    ],
    THROWS,
  ),
  bug(
    "an apply settles outside of what its handler undoes",
    ["sqlite", "lanes/apply.ts"],
    [
      {
        find: 'reach("apply.after_enter");',
        replace: `const early = { attempts: [], acknowledged: count, rest: undefined, next: false };
    changeLane(turn, row, settled(row.lane, early, { active: true }), undefined);
    client.run("release posthorn_part");
    client.run("savepoint posthorn_part");`,
      },
      {
        find: 'reach("apply.before_settle");',
        replace: 'if (count > 0) return { kind: "applied", count, next: undefined };',
      },
    ],
    THROWS,
  ),
  bug(
    "an apply acknowledges more than it applied",
    ["postgres", "lanes/apply.ts"],
    [{ find: "settle(draft.count,", replace: "settle(claim.run.length," }],
    RUN_ENDS,
  ),
  bug(
    "an apply takes another lane as if it were its own",
    ["postgres", "lanes/settle-run.ts"],
    [{ find: "lane ??= { id: laneId, lane: named,", replace: "lane ??= { id: claim.id, lane: named," }],
    OTHER_LANE,
  ),
  bug(
    "an apply acknowledges more than it applied",
    ["sqlite", "lanes/apply.ts"],
    [{ find: "const acknowledged = Math.max(1, count);", replace: "const acknowledged = claim.run.length;" }],
    RUN_ENDS,
  ),
  bug(
    "an apply is not fenced",
    ["sqlite", "lanes/apply.ts"],
    [{ find: "!isCurrent(row.lane, claim)", replace: "false" }],
    "an apply of a claim that has passed to another changes nothing",
  ),
  bug(
    "handlers without a name have rows of their own",
    ["postgres", "lanes/enter-run.ts"],
    [{ find: "params: [consumer, ", replace: 'params: [consumer || "default", ' }],
    REQUEST_FIRST,
  ),
  bug(
    "handlers without a name have rows of their own",
    ["sqlite", "lanes/apply.ts"],
    [
      {
        find: "const consumer = inboxConsumer(claim);",
        replace: 'const consumer = inboxConsumer(claim) || "default";',
      },
    ],
    REQUEST_FIRST,
  ),
  bug(
    "a request takes over what was applied from the store",
    ["postgres", "inbox/accept.ts"],
    [
      {
        find: "where known.outcome in ('failed', 'skipped', 'pending')",
        replace: "where known.outcome in ('failed', 'skipped', 'pending') or known.stored_as is not null",
      },
    ],
    STORE_FIRST,
  ),
  bug(
    "a request takes over what was applied from the store",
    ["sqlite", "inbox/accept.ts"],
    [
      {
        find: "where outcome in ('failed', 'skipped', 'pending')",
        replace:
          "where outcome in ('failed', 'skipped', 'pending') or excluded.stored_as is null and stored_as is not null",
      },
    ],
    STORE_FIRST,
  ),
  {
    ...bug(
      "handlers without a name have a lock of their own",
      ["postgres", "lanes/enter-run.ts"],
      [{ find: "case when $1::text = '' then", replace: "case when false then" }],
      "an event is busy in one mode while it is applied in the other",
    ),
    // Whoever comes second waits at the row for the first.
    shows: "lateness",
  },
  bug(
    "a heartbeat keeps nothing",
    ["postgres", "lanes/extend.ts"],
    [
      {
        find: "update ${laneState} set leased_until = lease_end, ready_at = lease_end",
        replace: "update ${laneState} set leased_until = leased_until",
      },
    ],
    EXTENDED,
  ),
  bug(
    "a heartbeat keeps nothing",
    ["sqlite", "lanes/extend.ts"],
    [{ find: "turn.nowMs + Math.ceil(leaseMs)", replace: "turn.nowMs" }],
    EXTENDED,
  ),
  bug(
    "a dispatcher claims handlers",
    ["postgres", "lanes/pick-due.ts"],
    [{ find: "where known.kind = '${kind}' and known.state", replace: "where known.state" }],
    CLAIMED_APART,
  ),
  bug(
    "a dispatcher claims handlers",
    ["sqlite", "/lanes/lane-store.ts"],
    [
      {
        find: 'if (of.kind === "endpoint") return consumer.kind === undefined;',
        replace: 'if (of.kind === "endpoint") return true;',
      },
    ],
    CLAIMED_APART,
  ),
  bug(
    "a settlement forgets the pause",
    ["postgres", "lanes/pause.ts"],
    [{ find: 'await session.query(pauseSql("id = $4::text::int8", [String(number)], given));', replace: "" }],
    PAUSED,
  ),
  bug(
    "a settlement forgets the pause",
    ["sqlite", "lanes/pause.ts"],
    [{ find: "if (row !== undefined) pauseRow(turn, row, pause);", replace: "" }],
    PAUSED,
  ),
];

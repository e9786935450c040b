import { FAULT_POINTS } from "../../library/src/fault-point.js";
import type { FaultPoint } from "../../library/src/fault-point.js";
import type { Database } from "./database.js";

const ONE_STATEMENT = "a record is one statement, and a transaction of its own";
const WITH_INSERT = "`begin` goes out with the insert, in one message";
const WITH_COMMIT = "the settlement goes out with the commit, in one message";
const NO_LOCK = "the write lock of the file is taken with `begin immediate`";
const NO_ANSWER = "there is no connection on which an answer could be lost";
const NO_GUARD =
  "the commit's tag, and the transaction's id, betray a handler that has ended the transaction";

/** Points that do not exist on one of the stores, and why. Every other point is hit on both. */
export const ABSENT: Readonly<Record<Database["name"], Readonly<Partial<Record<FaultPoint, string>>>>> = {
  sqlite: {
    "dedup.before_lock": NO_LOCK,
    "dedup.before_resolve": NO_ANSWER,
    "dedup.after_resolve": NO_ANSWER,
  },
  postgres: {
    "accept.before_begin": WITH_INSERT,
    "accept.after_begin": WITH_INSERT,
    "accept.after_guard": NO_GUARD,
    "accept.before_unguard": NO_GUARD,
    "fail.before_attempt": ONE_STATEMENT,
    "write.before_begin": ONE_STATEMENT,
    "write.after_begin": ONE_STATEMENT,
    "write.before_commit": ONE_STATEMENT,
    "write.after_commit": ONE_STATEMENT,
    "apply.after_settle": WITH_COMMIT,
  },
};

/** What a point begins with where an event goes out. */
const OUTGOING = new Set(["publish", "append", "sequence", "claim", "post", "settle"]);

/** Points that only an event on its way out passes. */
export const OUTBOX_POINTS: readonly FaultPoint[] = FAULT_POINTS.filter((point) =>
  OUTGOING.has(point.slice(0, point.indexOf("."))),
);

/** Points that nothing passes but the removal of old records; test/crash/retention.test.ts hits them. */
export const REMOVAL_POINTS: readonly FaultPoint[] = FAULT_POINTS.filter((point) =>
  point.startsWith("remove."),
);

/** Points that only an event passes which is stored first: its receiver comes to them. */
export const STORING_POINTS = pointsOf("ingest");

/** Points that workers and operators come to; test/crash/stored/scenes.ts kills somebody at each of a row, in one run. */
export const SCENE_POINTS = {
  // Who has registered its handlers does not come to the points of registering again.
  starting: [...pointsOf("register"), ...pointsOf("sequence")],
  claiming: pointsOf("claim", "settle", "pause"),
  applying: pointsOf("apply"),
  steps: pointsOf("step"),
  extending: pointsOf("extend"),
  operating: pointsOf("stage_again", "redrive", "forget"),
  deciding: pointsOf("mark", "release"),
  removing: pointsOf("remove_handler"),
  filling: pointsOf("fill"),
} as const;

/** Verbs without points of their own, by their files in each store: they run inside of a transaction that has points before and behind them. */
export const WITHIN: Readonly<Record<string, string>> = {
  "inbox/newest.ts": "in the transaction of a handler, between `apply.after_enter` and `apply.before_settle`",
  "lanes/hold.ts":
    "in the transaction of the sequencer, between `sequence.after_read` and `sequence.before_places`; in that of a release, between its points",
  "lanes/filled.ts":
    "in the transactions of those who fill, `ingest` and `fill`; in that of the sequencer, which forgets what was filled",
};

/** Points that only workers, operators and receivers come to which store first. */
export const STORED_POINTS: readonly FaultPoint[] = [
  ...STORING_POINTS,
  ...Object.values(SCENE_POINTS).flat(),
].filter((point) => !OUTBOX_POINTS.includes(point));

/** Points that an event on its way in passes. */
export const INBOX_POINTS: readonly FaultPoint[] = FAULT_POINTS.filter(
  (point) => ![...OUTBOX_POINTS, ...REMOVAL_POINTS, ...STORED_POINTS].includes(point),
);

function pointsOf(...verbs: readonly string[]): readonly FaultPoint[] {
  return FAULT_POINTS.filter((point) => verbs.includes(point.slice(0, point.indexOf("."))));
}

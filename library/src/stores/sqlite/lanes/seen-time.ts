import type { Clock } from "../../../clock.js";
import type { SqliteClient } from "../client/client.js";
import { markChanged } from "../outbox/consumer-book.js";
import type { OutboxTurn } from "../outbox/turn.js";
import { waitingConsumers } from "./until-due.js";

// Clocks are set by fractions of a second all the time, and a process may be held up between its clock and the table.
// No time is written down more often than this, either: most turns only compare.
const SLACK_MS = 1000;

/**
 * Notices a wall clock that was set back. What was put off by the clock as it stood before would else wait for the
 * length of the jump. The latest time that anybody has seen is in the database, so that every process notices, and one
 * of them moves what waits.
 */
export class SeenTime {
  readonly #clock: Clock;
  // What stood in the database when it was last looked at, and since when at the latest, by the monotonic clock.
  #seenAt = 0;
  #since = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether what waits must be moved. Without the write lock it is a guess: a process that was stopped between clock and table finds others ahead. */
  isSetBack({ nowMs, seenAt }: OutboxTurn): boolean {
    this.#know(seenAt);
    return nowMs < seenAt - SLACK_MS;
  }

  /** To be called first in every turn that writes and has the write lock: its times must not lie among those of a clock that is no more. */
  keep(turn: OutboxTurn): void {
    if (!this.isSetBack(turn)) return this.note(turn);
    // Time has passed since the other was seen: a lease that ended meanwhile must not begin anew.
    const passedMs = Math.floor(this.#clock.monotonic() - this.#since);
    moveBack(turn, turn.seenAt + passedMs - turn.nowMs);
    this.#write(turn);
  }

  /** Writes a later time down, together with what is put off by it: apart, one could be kept and the other lost. */
  note(turn: OutboxTurn): void {
    if (turn.nowMs >= turn.seenAt + SLACK_MS) this.#write(turn);
  }

  #write({ client, nowMs }: OutboxTurn): void {
    client.run("update posthorn_outbox_config set seen_at = ? where one = 1", nowMs);
    this.#know(nowMs);
  }

  #know(seenAt: number): void {
    if (seenAt === this.#seenAt) return;
    this.#seenAt = seenAt;
    this.#since = this.#clock.monotonic();
  }
}

/** Moves whatever is due in the future by as much as the clock was set back. By consumer, as the indexes have them: lanes in which nothing waits are not looked at. */
function moveBack(turn: OutboxTurn, byMs: number): void {
  const { client, nowMs } = turn;
  movePauses(turn, byMs);
  for (const { consumer } of waitingConsumers(client, 0n)) {
    moveIn(client, "posthorn_lane", { consumer, byMs, nowMs });
    moveIn(client, "posthorn_loose_delivery", { consumer, byMs, nowMs });
  }
  client.run("update posthorn_held set until = max(until - ?, ?) where until > ?", byMs, nowMs, nowMs);
}

/** A handler that was paused for a minute must not rest for an hour because the clock was an hour ahead. */
function movePauses(turn: OutboxTurn, byMs: number): void {
  const { client, nowMs } = turn;
  const moved = client.run(
    "update posthorn_consumer set paused_until = max(paused_until - ?, ?) where paused_until > ?",
    byMs,
    nowMs,
    nowMs,
  );
  if (moved === 0) return;
  markChanged(client);
  turn.forgetConsumers();
}

function moveIn(
  client: SqliteClient,
  table: "posthorn_lane" | "posthorn_loose_delivery",
  { consumer, byMs, nowMs }: { readonly consumer: bigint; readonly byMs: number; readonly nowMs: number },
): void {
  client.run(
    // A lease that began before this moment ends soon enough by itself; ended now, it would be sent twice at once. Of one
    // that is moved, the beginning is moved too: left behind, its lapse would have lasted less than nothing.
    `update ${table} set ready_at = max(ready_at - ?, ?), leased_until = max(leased_until - ?, ?), leased_at = leased_at - ?
     where consumer = ? and ready_at > ? and (leased_by is null or leased_at > ?)`,
    byMs,
    nowMs,
    byMs,
    nowMs,
    byMs,
    consumer,
    nowMs,
    nowMs,
  );
}

import { reach } from "#faults";
import { pausedBy, stateAt } from "../../../lanes/handler-consumer.js";
import type { HandlerPause, Standing } from "../../../lanes/handler-consumer.js";
import { markChanged } from "../outbox/consumer-book.js";
import type { EndpointColumns } from "../outbox/endpoint-row.js";
import type { OutboxTurn } from "../outbox/turn.js";
import { withoutNul } from "../inbox/inbox-row.js";

/** Pauses the handler of an id; false where there is none. */
export function pauseHandler(turn: OutboxTurn, id: string, pause: HandlerPause): boolean {
  const number = turn.consumers.numbers.get(id);
  const row = number === undefined ? undefined : readHandler(turn, number);
  if (row === undefined) return false;
  pauseRow(turn, row, pause);
  return true;
}

/** Pauses the consumer of a number, where that is a handler. */
export function pauseConsumer(turn: OutboxTurn, number: bigint, pause: HandlerPause): void {
  const row = readHandler(turn, number);
  if (row !== undefined) pauseRow(turn, row, pause);
}

function pauseRow(turn: OutboxTurn, row: EndpointColumns, pause: HandlerPause): void {
  const before = {
    state: row.state,
    untilMs: row.paused_until === null ? undefined : Number(row.paused_until),
  };
  const paused = pausedBy(before, pause, turn.nowMs);
  if (paused === undefined) return;
  // One that had ended by itself was no pause any more: this one begins now.
  const isNew = stateAt(before, turn.nowMs) === "active";
  reach("pause.before_record");
  save(turn, row.id, { ...paused, stoppedAt: isNew ? turn.nowMs : Number(row.stopped_at) });
  reach("pause.after_record");
}

/** Ends a pause; false where there is none to end. */
export function resumeHandler(turn: OutboxTurn, id: string): boolean {
  const number = turn.consumers.numbers.get(id);
  const row = number === undefined ? undefined : readHandler(turn, number);
  if (row === undefined || turn.stateOf(row.id) === "active") return false;
  save(turn, row.id, {
    state: "active",
    untilMs: undefined,
    because: undefined,
    by: undefined,
    stoppedAt: null,
  });
  return true;
}

function readHandler({ client }: OutboxTurn, number: bigint): EndpointColumns | undefined {
  return client.getWide(
    "select * from posthorn_consumer where id = ? and kind = 'handler' and removed_at is null",
    number,
  ) as EndpointColumns | undefined;
}

function save(
  turn: OutboxTurn,
  number: bigint,
  { state, untilMs, because, by, stoppedAt }: Standing & { readonly stoppedAt: number | null },
): void {
  turn.client.run(
    `update posthorn_consumer set state = ?, because = ?, paused_until = ?, paused_by = ?, stopped_at = ?, version = version + 1
     where id = ?`,
    state,
    because === undefined ? null : withoutNul(because),
    untilMs === undefined ? null : Math.ceil(untilMs),
    by === undefined ? null : withoutNul(by),
    stoppedAt,
    number,
  );
  markChanged(turn.client);
  turn.forgetConsumers();
}

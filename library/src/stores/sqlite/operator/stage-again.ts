import { reach } from "#faults";
import type { InboxOutcome } from "../../../inbox/inbox-store.js";
import { handlerId } from "../../../consumer-name.js";
import { handledAgain, MARKED_S } from "../../../operator/replay-store.js";
import type { ReplayStore, StagedAgain, WantedAgain } from "../../../operator/replay-store.js";
import { placeIn } from "../../../outbox/fan-out.js";
import { placeAgain } from "../lanes/places.js";
import type { OutboxTurn } from "../outbox/turn.js";

interface RowColumns {
  readonly outcome: InboxOutcome;
  readonly round: bigint;
  readonly event: bigint | null;
  readonly key: string | null;
}

/** Lets events be handled again: their rows are pending, and they have their places at the ends of their lanes. */
export function stageAgain(turn: OutboxTurn, wanted: readonly WantedAgain[]): readonly StagedAgain[] {
  return wanted.map((each) => stageOne(turn, each));
}

function stageOne(turn: OutboxTurn, wanted: WantedAgain): StagedAgain {
  const { client, consumers } = turn;
  const { tenant, source, id, consumer: name } = wanted;
  const row = client.getWide(
    `select i.outcome, i.round, e.id as event, e.key from posthorn_inbox i
     left join posthorn_event e on e.id = (
       select max(id) from posthorn_event where public_id = i.stored_as and tenant = i.tenant)
     where i.tenant = ? and i.source = ? and i.event_id = ? and i.consumer = ?`,
    tenant,
    source,
    id,
    name,
  ) as RowColumns | undefined;
  if (row === undefined) return "unknown";
  const number = consumers.numbers.get(handlerId(name));
  const handler = number === undefined ? undefined : consumers.byNumber.get(number);
  const { outcome, event } = row;
  const known = {
    outcome,
    round: Number(row.round),
    hasEvent: event !== null,
    hasConsumer: handler !== undefined,
  };
  const again = handledAgain(wanted, known);
  if (typeof again === "string" || event === null || handler === undefined) return again as StagedAgain;
  reach("stage_again.before_record");
  // Without a time, so that no purge removes the round of what is still to be handled.
  client.run(
    `update posthorn_inbox set outcome = 'pending', keep_until = null, round = ?
     where tenant = ? and source = ? and event_id = ? and consumer = ?`,
    again,
    tenant,
    source,
    id,
    name,
  );
  const place = placeIn(handler, { tenant, source, key: row.key ?? undefined });
  placeAgain(turn, place, { event, round: 1 });
  reach("stage_again.after_record");
  return "staged";
}

/** Calls a row applied. */
export function markApplied(
  { client, nowMs }: OutboxTurn,
  { tenant, source, id, consumer, round }: Parameters<ReplayStore["markApplied"]>[0],
): boolean {
  const marked = client.run(
    `update posthorn_inbox set outcome = 'success', keep_until = ?
     where tenant = ? and source = ? and event_id = ? and consumer = ? and round = ? and outcome <> 'success'`,
    nowMs + MARKED_S * 1000,
    tenant,
    source,
    id,
    consumer,
    round,
  );
  return marked > 0;
}

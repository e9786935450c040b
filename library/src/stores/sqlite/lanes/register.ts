import { reach } from "#faults";
import { gainedSources, registered, stateAt } from "../../../lanes/handler-consumer.js";
import type { HandlerConsumer, RegisteredHandler } from "../../../lanes/handler-consumer.js";
import { markChanged } from "../outbox/consumer-book.js";
import { handlerOf } from "../outbox/endpoint-row.js";
import type { EndpointColumns } from "../outbox/endpoint-row.js";
import type { OutboxSession } from "../outbox/session.js";
import type { OutboxTurn } from "../outbox/turn.js";
import { stageUnclaimed } from "./stage.js";

/** Registers handlers; those that are registered so are noted as seen. */
export async function register(session: OutboxSession, consumers: readonly HandlerConsumer[]): Promise<void> {
  await session.write((turn) => {
    const changes = changesOf(turn, consumers);
    if (changes.length === 0) return noteSeen(turn, consumers);
    const gained = gainedSources(readHandlers(turn), changes);
    reach("register.before_record");
    for (const handler of changes) save(turn, handler);
    markChanged(turn.client);
    turn.forgetConsumers();
    // Every half hour each version says its words again: that must not stage again what nobody names.
    if (gained.length > 0) stageUnclaimed(turn, gained);
    noteSeen(turn, consumers);
    reach("register.after_record");
  });
  reach("register.after_commit");
}

function noteSeen({ client, nowMs }: OutboxTurn, consumers: readonly HandlerConsumer[]): void {
  client.run(
    `update posthorn_consumer set seen_at = ? where kind = 'handler' and removed_at is null
       and public_id in (select value from json_each(?))`,
    nowMs,
    JSON.stringify(consumers.map(({ id }) => id)),
  );
}

function changesOf(turn: OutboxTurn, consumers: readonly HandlerConsumer[]): RegisteredHandler[] {
  return consumers.flatMap((wanted) => {
    const [before] = readHandlers(turn, [wanted.id]);
    return registered(before, wanted, turn.nowMs) ?? [];
  });
}

function save({ client }: OutboxTurn, handler: RegisteredHandler): void {
  const { id, sources, versions, order, dead, state, because, version } = handler;
  client.run(
    `insert into posthorn_consumer
       (public_id, kind, tenant, url, secrets, sources, types, versions, ordered_by, retry, dead, state, because, version)
     values (?, 'handler', '', '', '[]', ?, '[]', ?, ?, '{}', ?, ?, ?, ?)
     on conflict (public_id) where removed_at is null do update set
       sources = excluded.sources, versions = excluded.versions, ordered_by = excluded.ordered_by,
       dead = excluded.dead, version = excluded.version`,
    id,
    JSON.stringify(sources),
    JSON.stringify(versions),
    order,
    dead ?? null,
    state,
    because ?? null,
    version,
  );
}

/** In the order of their ids; all of them where no ids are given. */
export function readHandlers({ client, nowMs }: OutboxTurn, ids?: readonly string[]): RegisteredHandler[] {
  const rows = client.allWide(
    `select * from posthorn_consumer where kind = 'handler' and removed_at is null
       and (? is null or public_id in (select value from json_each(?)))
     order by public_id`,
    ids === undefined ? null : "given",
    JSON.stringify(ids ?? []),
  ) as EndpointColumns[];
  return rows.map(handlerOf).map((handler) => standing(handler, nowMs));
}

/** As it is now: a pause whose end has passed is over. */
function standing(handler: RegisteredHandler, nowMs: number): RegisteredHandler {
  const { state, pausedUntil } = handler;
  if (stateAt({ state, untilMs: pausedUntil?.getTime() }, nowMs) === state) return handler;
  return { ...handler, state: "active", because: undefined, pausedUntil: undefined, pausedBy: undefined };
}

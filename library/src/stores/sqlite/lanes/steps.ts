import { reach } from "#faults";
import type { InboxKey, InboxOutcome } from "../../../inbox/inbox-store.js";
import type { InboxRound, StepKey, StepState } from "../../../inbox/handler/step-store.js";
import type { SqliteClient, SqliteValue } from "../client/client.js";
import type { OutboxTurn } from "../outbox/turn.js";

/** The round of an event for a consumer, and its outcome in it. */
export function roundOf(
  { client }: OutboxTurn,
  { tenant, source, id }: InboxKey,
  consumer: string,
): InboxRound {
  const row = client.get(
    "select round, outcome from posthorn_inbox where tenant = ? and source = ? and event_id = ? and consumer = ?",
    tenant,
    source,
    id,
    consumer,
  ) as { round: number; outcome: InboxOutcome } | undefined;
  return { round: row?.round ?? 1, outcome: row?.outcome };
}

/** Notes that a step begins, and says what was known of it before. */
export function beginStep({ client, nowMs }: OutboxTurn, key: StepKey, storedAs: string): StepState {
  reach("step.before_begin");
  const { tries, finished_at, result } = client.get(
    `insert into posthorn_step (tenant, source, event_id, consumer, round, step, stored_as, begun_at)
     values (?, ?, ?, ?, ?, ?, ?, ?)
     on conflict (tenant, source, event_id, consumer, round, step) do update set tries = tries + 1
     returning tries, finished_at, result`,
    ...keyValues(key),
    storedAs,
    nowMs,
  ) as { tries: number; finished_at: number | null; result: string | null };
  reach("step.after_begin");
  if (finished_at !== null) return { kind: "done", result: result ?? undefined };
  return { kind: tries === 1 ? "new" : "begun" };
}

/** Keeps a step's result, where none is kept. */
export function keepStep({ client, nowMs }: OutboxTurn, key: StepKey, result: string | undefined): void {
  reach("step.before_keep");
  client.run(
    `update posthorn_step set finished_at = ?, result = ?
     where tenant = ? and source = ? and event_id = ? and consumer = ? and round = ? and step = ?
       and finished_at is null`,
    nowMs,
    result ?? null,
    ...keyValues(key),
  );
  reach("step.after_keep");
}

/** Removes the steps of an event that was stored; says how many. */
export function removeSteps(client: SqliteClient, tenant: string, storedAs: string): number {
  return client.run("delete from posthorn_step where stored_as = ? and tenant = ?", storedAs, tenant);
}

/** Removes the steps of an event at all consumers, in all rounds; says how many. */
export function forgetSteps(client: SqliteClient, { tenant, source, id }: InboxKey): number {
  return client.run(
    "delete from posthorn_step where tenant = ? and source = ? and event_id = ?",
    tenant,
    source,
    id,
  );
}

function keyValues({ tenant, source, id, consumer, round, step }: StepKey): SqliteValue[] {
  return [tenant, source, id, consumer, round, step];
}

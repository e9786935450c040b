import { reach } from "#faults";
import { equalBytes } from "../../../bytes.js";
import type { InboxErrorCode } from "../../../inbox/inbox-errors.js";
import type {
  Acceptance,
  AcceptLimits,
  Arrival,
  Handled,
  InboxKey,
  StoredPayload,
} from "../../../inbox/inbox-store.js";
import { isPosthornError, PosthornError } from "../../../posthorn-error.js";
import { storableBytes } from "../client/client.js";
import type { SqliteClient, SqliteDatabase, SqliteValue } from "../client/client.js";
import type { Connection } from "../client/connection.js";
import { refusalOf, storeError } from "../client/failure.js";
import { guardHandle } from "../client/guard.js";
import { readKnown } from "./find.js";
import { keepUntil, withoutNul } from "./inbox-row.js";

/** What the handler's part of an accept does; on SQLite it must not await. */
export type Work<Tx, T = Handled> = (tx: Tx) => Promise<T> | T;

/** Carries what a handler threw past the group, whose own errors mean something else. */
export class HandlerThrew extends Error {}

/** Applies an arrival in the next group: its row and the handler's writes commit together, or neither is there. */
export async function accept<Db extends SqliteDatabase>(
  { connection, db }: { readonly connection: Connection; readonly db: Db },
  { arrival, work, now }: { readonly arrival: Arrival; readonly work: Work<Db>; readonly now: () => number },
  { acquireMs, signal }: AcceptLimits,
): Promise<Acceptance> {
  const { client, handlers } = connection;
  try {
    return await handlers.join<Acceptance>({
      run: () => {
        // Its deadline passed while it waited for the lock: nothing has begun, so there is nothing to undo.
        if (signal.aborted) return { kind: "failed", error: signal.reason };
        return apply(client, arrival, { nowMs: now(), run: () => runHandler(db, work) });
      },
      undoable: true,
      waitMs: acquireMs,
      expired: () => ({ kind: "saturated" }),
    });
  } catch (error) {
    return failedOrThrow(error);
  }
}

function apply(
  client: SqliteClient,
  arrival: Arrival,
  { nowMs, run }: { readonly nowMs: number; readonly run: () => Handled },
): Acceptance {
  reach("accept.before_insert");
  const attempt = claimRow(client, arrival, { nowMs, consumer: "", storedAs: undefined })?.attempts;
  if (attempt === undefined) return knownAlready(client, arrival, nowMs);
  reach("accept.after_insert");
  const handled = run();
  // Outside its transaction, the next statement would be committed by itself.
  if (!client.inTransaction) return { kind: "applied", attempt };
  if (handled.outcome !== "success" || handled.result !== undefined)
    noteResult(client, arrival, { handled, consumer: "" });
  return { kind: "applied", attempt };
}

/** For whom a row is written, and of which stored event; undefined where it is handled within its request. */
export interface ClaimedBy {
  readonly nowMs: number;
  readonly consumer: string;
  readonly storedAs: string | undefined;
}

/** What is told of a row that was written. */
export interface ClaimedRow {
  readonly attempts: number;
  readonly round: number;
}

/** Writes the event's row as if all had gone well, before the handler runs; undefined where another delivery has. */
export function claimRow(
  client: SqliteClient,
  arrival: Arrival | StoredPayload,
  { nowMs, consumer, storedAs }: ClaimedBy,
): ClaimedRow | undefined {
  return client.get(
    // In one statement with the look: another process may have applied it since `find`. A failed or
    // skipped row is taken over with the body that now succeeds, because nothing of the earlier one was applied; and one
    // whose window has passed, because a purge would have removed it, and may never run.
    `insert into posthorn_inbox
       (tenant, source, event_id, id_preview, type, event_at, outcome, attempts, receipts,
        received_at, last_received_at, keep_until, headers, body_hash, body, consumer, stored_as)
     values (?, ?, ?, ?, ?, ?, 'success', 1, 1, ?, ?, ?, ?, ?, ?, ?, ?)
     on conflict (tenant, source, event_id, consumer) do update set
       id_preview = excluded.id_preview, type = excluded.type, event_at = excluded.event_at, outcome = 'success',
       attempts = attempts + 1, receipts = receipts + 1, last_received_at = excluded.last_received_at,
       keep_until = excluded.keep_until, headers = excluded.headers, body_hash = excluded.body_hash,
       body = excluded.body, result = case when excluded.stored_as is null then null else result end,
       stored_as = coalesce(excluded.stored_as, stored_as)
     where outcome in ('failed', 'skipped', 'pending')
       or (excluded.stored_as is null and keep_until <= excluded.last_received_at)
     returning attempts, round`,
    ...arrivalValues(arrival, nowMs),
    consumer,
    storedAs ?? null,
  ) as ClaimedRow | undefined;
}

function knownAlready(client: SqliteClient, arrival: Arrival, nowMs: number): Acceptance {
  reach("accept.before_known");
  const known = readKnown(client, arrival, nowMs);
  reach("accept.after_known");
  if (known === undefined) throw new Error("the row of a known event is gone within one transaction");
  return { kind: equalBytes(known.bodyHash, arrival.bodyHash) ? "duplicate" : "conflict", known };
}

export function runHandler<Db extends SqliteDatabase, T>(db: Db, work: Work<Db, T>): T {
  const { tx, close, refusal } = guardHandle(db);
  let handled: Promise<T> | T;
  reach("accept.before_handler");
  try {
    handled = work(tx);
  } catch (error) {
    throw new HandlerThrew("handler", { cause: error });
  } finally {
    close();
  }
  reach("accept.after_handler");
  if (refusal() !== undefined) throw new HandlerThrew("handler", { cause: refusal() });
  if (!isThenable(handled)) return handled;
  // Nobody will ever await it; its rejection must not end the process.
  handled.then(undefined, () => undefined);
  throw new HandlerThrew("handler", {
    cause: new PosthornError<InboxErrorCode>(
      "handler_returned_promise",
      "The handler returned a promise from inside the transaction; it was rolled back, and what it writes after its first await " +
        "lands outside. Await first, then write: `async (event) => { …await…; return (tx) => { …write… }; }`.",
    ),
  });
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === "function";
}

export function noteResult(
  client: SqliteClient,
  { tenant, source, id }: InboxKey,
  {
    handled: { outcome, result, because },
    consumer,
  }: { readonly handled: Handled; readonly consumer: string },
): void {
  reach("accept.before_note");
  client.run(
    `update posthorn_inbox set outcome = ?, result = ?, error = coalesce(?, error)
     where tenant = ? and source = ? and event_id = ? and consumer = ?`,
    outcome,
    result ?? null,
    because === undefined ? null : withoutNul(because),
    tenant,
    source,
    id,
    consumer,
  );
  reach("accept.after_note");
}

/** What a row keeps of an arrival, in the order in which every insert names its columns; `window`: whether `keep_until` is among them. */
export function arrivalValues(
  arrival: StoredPayload & Partial<Arrival>,
  nowMs: number,
  { window }: { readonly window: boolean } = { window: true },
): SqliteValue[] {
  const { tenant, source, id, idPreview, type, eventAt, windowS, headers, bodyHash, body } = arrival;
  return [
    tenant,
    source,
    id,
    idPreview ?? null,
    withoutNul(type),
    eventAt?.getTime() ?? null,
    nowMs,
    nowMs,
    ...(window ? [keepUntil(windowS, nowMs)] : []),
    headers ?? null,
    bodyHash,
    body === undefined ? null : storableBytes(body),
  ];
}

/** What a failed group means to an event: its handler failed, or the store did. */
export function failedOrThrow(error: unknown): { readonly kind: "failed"; readonly error: unknown } {
  if (error instanceof HandlerThrew) return { kind: "failed", error: error.cause };
  const ended = isPosthornError(error) && error.code === "store_transaction_aborted";
  // A constraint that SQLite checks at the commit is the handler's as much as one that it checks at once.
  if (ended || refusalOf(error) === "constraint") return { kind: "failed", error };
  throw storeError(error);
}

import type { LongContext, ReceivedEvent, TransactionMode } from "posthorn";
import type { WorkerHandler } from "../../../library/src/inbox/worker/worker-options.js";
import type { Store } from "../../../library/src/operator/store.js";

/** A row that a handler writes into the host's own table. */
export interface EffectRow {
  readonly consumer: string;
  readonly round: number;
  readonly source: string;
  readonly id: string;
  readonly body: Uint8Array;
}

/** A row of the inbox, as somebody reads it who has not written it. */
export interface ReadRow {
  readonly tenant: string;
  readonly source: string;
  readonly id: string;
  readonly consumer: string;
  readonly round: number;
  readonly outcome: string;
  /** As the row says; the other is of the bytes that are stored. */
  readonly hashColumn: string;
  readonly bodyHash: string;
}

/** Writes a row that is there when the handler's transaction commits. */
export type Write = (row: EffectRow) => void;

/** Which event a handler has, and the name of this time: the same for each try of a round. */
export type Work = (event: ReceivedEvent, occasion: string, write: Write) => void;

/** Handlers, as a store of this mode wants them. */
export interface HandlerForms<Tx, Mode extends TransactionMode> {
  one(work: Work): WorkerHandler<Tx, Mode>;
  batch(max: number, work: (events: readonly ReceivedEvent[], write: Write) => void): WorkerHandler<Tx, Mode>;
  /** `before` runs without a transaction, `work` in the end. */
  long(
    deadlineMs: number,
    before: (event: ReceivedEvent, context: LongContext) => Promise<unknown>,
    work: Work,
  ): WorkerHandler<Tx, Mode>;
}

/** A database of a run. */
export interface Ground<Tx, Mode extends TransactionMode> {
  readonly forms: HandlerForms<Tx, Mode>;
  /** The store of another process on the same database. */
  store(): Store<Tx, Mode>;
  /** In the order of their commits. */
  effects(): readonly EffectRow[];
  rows(): Promise<readonly ReadRow[]>;
  close(): void;
}

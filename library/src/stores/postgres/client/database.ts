/**
 * What the stores need of a driver, and no more. Every column is read as text, and bytea as bytes: a host may have
 * changed its driver's parsers or column names, and a global parser rounds int8 above 2^53.
 */
export interface Session {
  query(statement: Statement): Promise<Answer>;
}

export interface Statement {
  readonly text: string;
  /** Without parameters the simple protocol is used, which takes several statements at once. */
  readonly params?: readonly Parameter[];
  /** Several statements, whose rows nobody reads: some ORMs have another verb for these. */
  readonly script?: true;
  /**
   * Keeps its plan with the connection, unless `prepare` is off. Only for statements that read no table by choice
   * of the planner: a plan that was made while a table was small scans it from end to end when it has grown.
   */
  readonly prepared?: boolean;
}

/** No booleans, dates or arrays: the drivers write those in ways of their own, which hosts may have changed. */
export type Parameter = string | number | null | Uint8Array;

/** Bytes of a bytea column, text of any other; undefined where the row has no such column. */
export type Value = string | Uint8Array | null | undefined;

export type Row = readonly Value[];

export interface Answer {
  readonly rows: readonly Row[];
  /** The command's tag. A COMMIT that is answered with ROLLBACK has not committed. */
  readonly command: string;
}

/** A pool of either driver; `Tx` is the driver's own transaction, as the host's handler gets it. */
export interface Pool<Tx> {
  /**
   * Runs one statement in a transaction of its own. Throws what {@link saturated} makes when there was no
   * connection within `acquireMs`: then nothing was sent.
   */
  query(statement: Statement, acquireMs: number): Promise<Answer>;
  /**
   * Runs a first statement and then `work` in one transaction, read committed, and commits it. Throws when it never
   * began, or its first statement met a connection that was lost.
   */
  transaction<T>(first: Statement, work: Work<Tx, T>, limits: TransactionLimits): Promise<TransactionEnd<T>>;
  /**
   * Runs one prepared statement in a transaction, read committed, and commits it: all in one message where the driver can,
   * so that the server does not hold locks while this process is busy. The value is the statement's answer. Throws when nothing
   * was sent.
   */
  write(statement: Statement, limits: WriteLimits): Promise<TransactionEnd<Answer>>;
}

/** What is done after a transaction's first statement was answered. */
export type Work<Tx, T> = (scope: Scope<Tx>, answer: Answer) => Promise<T>;

export interface TransactionLimits {
  readonly acquireMs: number;
  /** Ends the transaction by force when it aborts. */
  readonly signal: AbortSignal;
  /** Settings of this transaction: run before the first statement, in the same message where the driver can. */
  readonly settings?: Statement;
}

export interface WriteLimits extends TransactionLimits {
  readonly settings: Statement;
}

/** One open transaction. */
export interface Scope<Tx> extends Session {
  /** For the handler; refuses every use after the end. */
  readonly tx: Tx;
  /** The server process of this transaction, by which it can be terminated; undefined until the caller has asked for it. */
  backend: Backend | undefined;
  /** A last statement: run before the commit, in the same message where the driver can. */
  closing?: Statement;
  /** Called with the answer to `closing`; what it says counts only if the transaction commits. */
  onClosed?: (answer: Answer) => void;
}

export interface Backend {
  readonly pid: string;
  /** Together with the process id it identifies the transaction: a process id alone is soon reused. */
  readonly xid: string;
}

export type TransactionEnd<T> =
  | { readonly kind: "committed"; readonly value: T }
  | { readonly kind: "rolled_back"; readonly error: unknown }
  /** The answer to the commit was lost. */
  | { readonly kind: "unknown"; readonly error: unknown };

/** Named, because a host may have changed the default. */
export const BEGIN_OPTIONS = "isolation level read committed";

/** Terminates the server process of a transaction whose connection was destroyed: it would hold its locks until its statement ends. */
export function terminateStatement({ pid, xid }: Backend): Statement {
  return {
    text: `
      select pg_terminate_backend(pid)::text as terminated from pg_stat_activity
      where pid = $1::text::int4 and backend_xid::text = $2::text::xid8::xid::text`,
    params: [pid, xid],
  };
}

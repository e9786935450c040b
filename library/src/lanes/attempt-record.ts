/** What an attempt came to. `lapsed`: its claim ended by expiry, and nobody knows what came of it. */
export type AttemptOutcome = "acknowledged" | "refused" | "unreachable" | "unknown" | "forbidden" | "lapsed";

/** One attempt, as history keeps it. */
export interface AttemptRecord {
  readonly sequence: bigint;
  readonly round: number;
  /** 1 for the first of its round. */
  readonly number: number;
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly outcome: AttemptOutcome;
  readonly status: number | undefined;
  /** The class of the error: `timeout`, `dns`, `private_address` …; undefined where a status says it all. */
  readonly error: string | undefined;
  /** The first bytes of the answer. */
  readonly answer: Uint8Array | undefined;
}

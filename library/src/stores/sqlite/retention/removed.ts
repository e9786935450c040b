/** What one step has done, before its lanes were looked at. */
export interface Removed {
  readonly rows: number;
  /** Where the pass goes on; undefined at its end. */
  readonly next: string | undefined;
  /** Lanes of which a record is gone. */
  readonly lanes: ReadonlySet<bigint>;
  /** Events that are done with, where the next pass begins behind them. */
  readonly upTo?: bigint | undefined;
}

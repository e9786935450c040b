import type { RetentionKind } from "../../../retention/retention-store.js";
import type { LaneRow } from "../lanes/lane-row.js";
import type { Publications } from "../outbox/publications.js";
import type { MemoryParts } from "../parts.js";

/** What one step has done, before its lanes were looked at. */
export interface Removed {
  readonly rows: number;
  /** Where the pass goes on; undefined at its end. */
  readonly next: string | undefined;
  /** Lanes of which a record is gone. */
  readonly lanes: ReadonlySet<LaneRow>;
}

/** What retention works on. */
export interface RetentionParts extends MemoryParts {
  readonly publications: Publications;
  /** Events whose attempts, or whose answers, were looked at. */
  readonly upTo: Map<RetentionKind, bigint>;
}

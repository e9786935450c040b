import type { EventName, HistoryRecord, RecordOf } from "./record.js";
import type { Meaning } from "./reply-meaning.js";

/** The invariants that can be judged so far, by their number in the catalogue of faults. */
export type InvariantName = "I1" | "I2" | "I3" | "I4" | "I5" | "I12";

/** A broken promise, with the fewest records that prove it. */
export interface Violation {
  readonly invariant: InvariantName;
  /** What is promised. */
  readonly promise: string;
  /** Undefined where it concerns no single event. */
  readonly event: EventName | undefined;
  readonly found: string;
  readonly witness: readonly HistoryRecord[];
}

export type Sent = RecordOf<"send", "invoke">;
export type Effect = RecordOf<"effect", "ok">;
export type Stored = RecordOf<"stored", "ok">;

/** A record together with what the ones before it say about it. */
export type Seen =
  | { readonly kind: "sent"; readonly key: string; readonly record: Sent }
  | {
      readonly kind: "answered";
      readonly key: string;
      readonly sent: Sent;
      readonly record: RecordOf<"send", "ok">;
      readonly meaning: Meaning;
    }
  /** Sent, and never answered. */
  | { readonly kind: "unanswered"; readonly key: string; readonly sent: Sent }
  | {
      readonly kind: "looked";
      readonly key: string;
      readonly asked: RecordOf<"look", "invoke">;
      readonly record: RecordOf<"look", "ok">;
    }
  | { readonly kind: "effect"; readonly key: string; readonly record: Effect }
  | { readonly kind: "stored"; readonly key: string; readonly record: Stored }
  | { readonly kind: "effects_read"; readonly record: RecordOf<"effects_read", "ok"> }
  | { readonly kind: "inbox_read"; readonly record: RecordOf<"inbox_read", "ok"> };

/** What a watch says when its promise is broken. */
export type Complain = (
  event: EventName | undefined,
  found: string,
  witness: readonly HistoryRecord[],
) => void;

/** Watches one run for one promise. It keeps a few records per event, never the history. */
export interface Watch {
  see(seen: Seen): void;
  /** Called once, when the last record was seen. */
  end(): void;
}

/** A promise, and how a run is watched for it. */
export interface Invariant {
  readonly name: InvariantName;
  readonly promise: string;
  watch(complain: Complain): Watch;
}

import type { ConsumerOperations, Handling } from "./consumer-record.js";
import type { OutboxOperations } from "./outbox-record.js";
import type { EventName, SeenBytes, Why } from "./seen.js";

export type { EventName };

/** How far an operation has come. `unknown`: its answer was lost, so it may have been done or not. */
export type Phase = "invoke" | "ok" | "fail" | "unknown";

/**
 * What can be told of a run, by operation and phase. Operations with an `invoke` take time and end in one of the
 * other phases; the others are sightings.
 */
export interface Operations extends OutboxOperations, ConsumerOperations {
  /** One signed request, as its sender saw it. `fail`: it never left, so that nothing can have come of it. */
  readonly send: {
    readonly invoke: EventName &
      SeenBytes & {
        /** False for a request that nobody who knows the secret has signed. */
        readonly genuine: boolean;
        /** What orders it among the events of its source; undefined where nothing does. */
        readonly key?: string | undefined;
        /** Its place among those of its key, a decimal; undefined where the order of storing counts. */
        readonly sequence?: string | undefined;
      };
    readonly ok: {
      readonly status: number;
      /** The header by which Posthorn tells what it made of the event. */
      readonly verdict?: string | undefined;
    };
    readonly fail: Why;
    readonly unknown: Why;
  };
  /** A look into the host's database while the run goes on. */
  readonly look: {
    readonly invoke: EventName;
    readonly ok: { readonly effects: number };
    readonly fail: Why;
    readonly unknown: Why;
  };
  /** A row of the host's effect table, which has no unique key: work done twice is two rows. In the order of their commits. */
  readonly effect: {
    readonly ok: EventName &
      SeenBytes &
      Handling & {
        readonly by?: string | undefined;
        /** Its handler was told that what stands behind it may have come before it. */
        readonly late?: boolean | undefined;
      };
  };
  /** The whole effect table was read: so many rows, and so many counted by increments beside them. */
  readonly effects_read: { readonly ok: { readonly rows: number; readonly counted: number } };
  /** A row of the inbox. `bodyHash` is of the stored bytes, `hashColumn` what the row says of them. */
  readonly stored: {
    readonly ok: EventName & SeenBytes & Handling & { readonly outcome: string; readonly hashColumn: string };
  };
  /** The whole inbox was read. Other sources of the same host may do without one: of them it says nothing. */
  readonly inbox_read: { readonly ok: { readonly rows: number; readonly sources: readonly string[] } };
  /** What was done to the system on purpose: a kill at a named point, a cut connection. */
  readonly fault: { readonly ok: { readonly what: string } };
}

/** The names of what a history records. */
export type Operation = keyof Operations;

/** Operations that take time. */
export type TimedOperation = {
  [Op in Operation]: "invoke" extends keyof Operations[Op] ? Op : never;
}[Operation];

/** Operations that are seen and over. */
export type Sighting = Exclude<Operation, TimedOperation>;

/** One line of a history. */
export type RecordOf<Op extends Operation, P extends keyof Operations[Op]> = {
  /** Its place; no two have the same, and later ones have higher ones. */
  readonly n: number;
  /** Who has seen it. One `proc` has one operation under way at a time. */
  readonly proc: string;
  /** How often whoever has seen it had been started anew. */
  readonly incarnation: number;
  /** Milliseconds that only grow. */
  readonly mono: number;
  /** Milliseconds since 1970. */
  readonly wall: number;
  readonly op: Op;
  readonly phase: P;
  readonly fields: Operations[Op][P];
};

/** One line of a history: what was done, and how it ended. */
export type HistoryRecord = {
  [Op in Operation]: { [P in keyof Operations[Op]]: RecordOf<Op, P> }[keyof Operations[Op]];
}[Operation];

/** The event's name as one text. With its lengths, because ("a:b", "c") and ("a", "b:c") must not be one event. */
export function keyOf({ tenant, source, id }: EventName): string {
  return `${tenant.length}:${source.length}:${tenant}${source}${id}`;
}

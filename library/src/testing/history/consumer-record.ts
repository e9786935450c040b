import type { EventName, Why } from "./seen.js";

/** Who handles an event, and which time. */
export interface Handling {
  /** Undefined: the handler that runs within the request. */
  readonly consumer?: string | undefined;
  /** One more with each replay. @default 1 */
  readonly round?: number | undefined;
}

/** What can be told of events that are stored first, and of the consumers that handle them. */
export interface ConsumerOperations {
  /** A consumer of a source whose events are stored first, as the run has registered it: it is to have all that is sent from then on. */
  readonly consumer: {
    readonly ok: {
      readonly consumer: string;
      readonly source: string;
      /** Whether the events of one key come in their order. */
      readonly order: "key" | "none";
    };
  };
  /** A person lets a consumer have an event again, in this round. `staged`: it is promised. */
  readonly replay: {
    readonly invoke: EventName & { readonly consumer: string; readonly round: number };
    readonly ok: { readonly answer: string };
    readonly fail: Why;
    readonly unknown: Why;
  };
  /** Why a consumer has not applied an event, as the store keeps it. Dead letters that were redriven are none of these. */
  readonly handling_row: {
    readonly ok: EventName &
      Handling & {
        readonly consumer: string;
        readonly state: "due" | "skipped" | "dropped" | "dead" | "cancelled" | "set_aside";
        /** Of a due one: what it waits for that time alone does not bring. */
        readonly because?: string | undefined;
      };
  };
}

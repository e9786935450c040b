import type { Observer, Signal } from "posthorn";
import type { Logger } from "./log.js";

type Level = "debug" | "info" | "warn" | "error";
type Line = readonly [level: Level, message: string];

/** Writes a line for every signal of the library; one for each attempt. Signals carry no secret and no payload. */
export function signalLog(log: Logger): Observer {
  return (signal) => {
    const [level, message] = lineOf(signal);
    const { kind: _, ...fields } = signal;
    log[level](fields, message);
  };
}

function lineOf(signal: Signal): Line {
  switch (signal.kind) {
    case "delivery_attempted":
      return [signal.outcome === "acknowledged" ? "info" : "warn", "attempt"];
    case "delivery_dead":
      return ["warn", "delivery given up"];
    case "endpoint_disabled":
      return ["warn", "endpoint disabled"];
    case "sequence_failed":
      return ["error", "event could not be given its places"];
    case "store_failed":
      return ["error", "store failed"];
    case "store_promise_lost":
      return ["warn", "a setting of the database takes back durability"];
    case "store_not_durable":
      return ["warn", "store is not durable"];
    case "wal_growing":
      return ["warn", "write-ahead log grows"];
    default:
      return receivingLineOf(signal);
  }
}

type ReceivingSignal = Exclude<
  Signal,
  {
    kind:
      | "delivery_attempted"
      | "delivery_dead"
      | "endpoint_disabled"
      | "sequence_failed"
      | "store_failed"
      | "store_promise_lost"
      | "store_not_durable"
      | "wal_growing";
  }
>;

function receivingLineOf(signal: ReceivingSignal): Line {
  switch (signal.kind) {
    case "signature_refused":
      return ["info", "signature refused"];
    case "request_refused":
      return ["info", "request refused"];
    case "signature_accepted":
      return ["debug", "signature accepted"];
    case "event_received":
      return ["debug", "event received"];
    case "dedup_verdict":
      return ["debug", "dedup verdict"];
    case "secret_weak":
      return ["warn", "secret is weak"];
    case "stale_untold":
      return ["warn", "source carries no time"];
    case "dedup_evicted":
      return ["warn", "an id was forgotten before its time"];
    case "handler_log":
      return [signal.level, signal.message];
  }
}

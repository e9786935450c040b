import type { Observer, Signal } from "posthorn";
import type { Logger } from "./log.js";

type Line = readonly [level: "debug" | "info" | "warn" | "error", message: string];

/** One row per signal: the compiler refuses a new signal without a row. */
const LINES: Readonly<Record<Exclude<Signal["kind"], "delivery_attempted" | "handler_log">, Line>> = {
  delivery_dead: ["warn", "delivery given up"],
  handler_paused: ["warn", "handler paused"],
  endpoint_disabled: ["warn", "endpoint disabled"],
  sequence_failed: ["error", "event could not be given its places"],
  store_failed: ["error", "store failed"],
  store_promise_lost: ["warn", "a setting of the database takes back durability"],
  store_not_durable: ["warn", "store is not durable"],
  wal_growing: ["warn", "write-ahead log grows"],
  signature_refused: ["info", "signature refused"],
  request_refused: ["info", "request refused"],
  signature_accepted: ["debug", "signature accepted"],
  event_received: ["debug", "event received"],
  event_handled: ["debug", "event handled"],
  key_missing: ["debug", "event has no key"],
  worker_missing: ["warn", "event waits for a worker that is not there"],
  gap_given_up: ["warn", "events of a key were waited for in vain"],
  event_late: ["warn", "event came after its place was passed"],
  dedup_verdict: ["debug", "dedup verdict"],
  repair_done: ["info", "log of the provider read"],
  repair_failed: ["warn", "log of the provider could not be read"],
  operator_acted: ["info", "operator acted"],
  secret_weak: ["warn", "secret is weak"],
  stale_untold: ["warn", "source carries no time"],
  dedup_evicted: ["warn", "an id was forgotten before its time"],
};

/** Writes a line for every signal of the library; one for each attempt. Signals carry no secret and no payload. */
export function signalLog(log: Logger): Observer {
  return (signal) => {
    const [level, message] = lineOf(signal);
    const { kind: _, ...fields } = signal;
    // Rounded: the digits of a duration would be a fifth of the line.
    const told =
      "durationMs" in fields ? { ...fields, durationMs: Math.round(fields.durationMs * 10) / 10 } : fields;
    log[level](told, message);
  };
}

function lineOf(signal: Signal): Line {
  if (signal.kind === "delivery_attempted") {
    return [signal.outcome === "acknowledged" ? "info" : "warn", "attempt"];
  }
  return signal.kind === "handler_log" ? [signal.level, signal.message] : LINES[signal.kind];
}

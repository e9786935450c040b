import type { ServerOutbox } from "../parts.js";
import type { Metrics } from "./metrics.js";

/** The methods that are timed: those that query the database outside of a host's transaction. */
const TIMED: ReadonlySet<string | symbol> = new Set([
  "append",
  "ingest",
  "forgetNames",
  "sequence",
  "claim",
  "settle",
  "release",
  "untilDue",
  "addEndpoint",
  "changeEndpoint",
  "removeEndpoint",
  "readEndpoints",
  "listEndpoints",
  "blockedLanes",
  "deadLetters",
  "redrive",
  "setAside",
  "redriveEvent",
  "skip",
  "retry",
  "attempts",
  "events",
  "event",
  "deliveriesOf",
  "delivery",
  "lanes",
  "lane",
  "census",
  "removeOld",
  "retention",
  "recordRepeats",
  "standings",
  "queue",
  "ends",
  "repeats",
  "namedEvents",
  "eventIds",
  "tenantsOf",
  "inboxRows",
  "inboxByPrefix",
  "inboxRowsOf",
  "inboxFailures",
  "refusedEvents",
  "consumers",
  "heldEvents",
  "heldEvent",
  "releaseHeld",
]);

type Asked = (...given: unknown[]) => Promise<unknown>;

/** Wraps an outbox so that each call is timed. */
export function timedOutbox(outbox: ServerOutbox, metrics: Pick<Metrics, "timed">): ServerOutbox {
  const wrapped = new Map<string | symbol, unknown>();
  return new Proxy(outbox, {
    get(target, name) {
      const known = wrapped.get(name);
      if (known !== undefined) return known;
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      // Bound to the store: a proxy has no access to its private fields.
      const bound = value.bind(target) as Asked;
      const asked = TIMED.has(name)
        ? (...given: unknown[]) => metrics.timed(String(name), () => bound(...given))
        : bound;
      wrapped.set(name, asked);
      return asked;
    },
  });
}

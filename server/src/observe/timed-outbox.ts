import type { ServerOutbox } from "../parts.js";
import type { Metrics } from "./metrics.js";

/** What is timed: every question that goes to the database and is not asked inside of a host's transaction. */
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
  "skip",
  "attempts",
  "events",
  "event",
  "deliveriesOf",
  "delivery",
  "lanes",
  "lane",
  "census",
]);

type Asked = (...given: unknown[]) => Promise<unknown>;

/** The same outbox, with the time that each question took. */
export function timedOutbox(outbox: ServerOutbox, metrics: Pick<Metrics, "timed">): ServerOutbox {
  const wrapped = new Map<string | symbol, unknown>();
  return new Proxy(outbox, {
    get(target, name) {
      const known = wrapped.get(name);
      if (known !== undefined) return known;
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      // Bound: the store's private fields are its own, not the proxy's.
      const bound = value.bind(target) as Asked;
      const asked = TIMED.has(name)
        ? (...given: unknown[]) => metrics.timed(String(name), () => bound(...given))
        : bound;
      wrapped.set(name, asked);
      return asked;
    },
  });
}

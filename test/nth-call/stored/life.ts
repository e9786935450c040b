import { createReceiver, createWorker, standardWebhooks } from "posthorn";
import type { Receiver, TransactionMode, Worker } from "posthorn";
import { createOperator } from "posthorn/operator";
import type { QuickClock } from "../quick-clock.js";
import type { StoreCalls } from "../store-calls.js";
import { SECRET } from "../life.js";
import type { Deeds } from "./deeds.js";
import type { Ground } from "./form.js";

export interface StoredLifeParts<Tx, Mode extends TransactionMode> {
  readonly ground: Ground<Tx, Mode>;
  readonly deeds: Deeds;
  readonly clock: QuickClock;
  readonly calls: StoreCalls;
}

/** One process that stores events and handles them, and whoever operates it. Three names for one store, so that each verb of each part fails. */
export interface StoredLife {
  readonly receiver: Receiver;
  readonly worker: Worker;
  readonly operator: Pick<
    ReturnType<typeof operatorOf>,
    "pause" | "resume" | "deadLetters" | "redrive" | "replay"
  >;
}

export function storedLife<Tx, Mode extends TransactionMode>(parts: StoredLifeParts<Tx, Mode>): StoredLife {
  const { ground, deeds, clock, calls } = parts;
  const store = ground.store();
  const verifier = standardWebhooks({ secrets: SECRET, clock });
  const quiet = { clock, observer: () => undefined };
  return {
    receiver: createReceiver({
      ...quiet,
      mode: "store_first",
      // One of its own, as in another process: of a store in SQLite no hint comes across, and a hint lets the worker look,
      // which is a call that fails in a run of its own.
      store: calls.counted("inbox", ground.store()),
      sources: { shop: { verifier, key: { json: "/key" } } },
    }),
    worker: createWorker<Tx, Mode>({
      ...quiet,
      store: calls.counted("worker", store),
      consumers: deeds.consumers(ground.forms),
      handlerDeadlineMs: 1000,
      acquireMs: 500,
      leaseMs: 7000,
      pollMs: 5000,
      stopGraceMs: 1000,
    }),
    operator: operatorOf(calls.counted("operator", store)),
  };
}

function operatorOf<Tx, Mode extends TransactionMode>(store: ReturnType<Ground<Tx, Mode>["store"]>) {
  return createOperator({ store });
}

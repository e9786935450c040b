import type { Database } from "better-sqlite3";
import { createReceiver, createSender, standardWebhooks } from "posthorn";
import type { Receiver, Sender } from "posthorn";
import { createDispatcher } from "posthorn/dispatch";
import type { Dispatcher } from "posthorn/dispatch";
import { createOperator } from "posthorn/operator";
import type { Operator } from "posthorn/operator";
import { sqliteStore } from "posthorn/sqlite";
import type { Egress } from "../../library/src/delivery/egress/egress.js";
import type { QuickClock } from "./quick-clock.js";
import type { StoreCalls } from "./store-calls.js";

export const SECRET = "whsec_cG9zdGhvcm4gbnRoIGNhbGwgdGVzdHMgb25seSEhISE=";

/** What a process is made of. */
export interface LifeParts {
  readonly db: Database;
  readonly clock: QuickClock;
  readonly calls: StoreCalls;
  /** The way out of this life. */
  readonly egressOf: (life: Life) => Egress;
  /** Refs whose handler has failed once already. */
  readonly flaky: Set<string>;
}

/** One process with everything that is shipped: it receives, publishes, delivers and is operated. */
export class Life {
  readonly sender: Sender<Database, "synchronous">;
  readonly receiver: Receiver;
  readonly dispatcher: Dispatcher;
  readonly operator: Operator;

  constructor(parts: LifeParts) {
    const { db, clock, calls } = parts;
    // In memory: nothing of it would survive a loss of power, and nobody loses it.
    const settings = { db, clock, durability: "as_is" } as const;
    const inbox = calls.counted("inbox", sqliteStore(settings));
    const outbox = calls.counted("outbox", sqliteStore(settings));
    // One of its own, as in another process: hints of a transaction under way let the dispatcher look every 5 ms, and
    // every look is a call that fails in a run of its own.
    this.sender = createSender({ store: calls.counted("outbox", sqliteStore(settings)), clock });
    this.operator = createOperator({ store: outbox });
    this.dispatcher = createDispatcher({
      store: outbox,
      clock,
      egress: parts.egressOf(this),
      deadlineMs: 1000,
      leaseMs: 7000,
      pollMs: 500,
    });
    const verifier = standardWebhooks({ secrets: SECRET, clock });
    this.receiver = createReceiver({
      store: inbox,
      clock,
      sources: { shop: { verifier }, loop: { verifier } },
      publisher: this.sender,
      handlerDeadlineMs: 2000,
      acquireMs: 500,
      handlers: {
        "shop:*":
          ({ id, source, body }) =>
          (tx: Database, context) => {
            const ref = `from-${id}`;
            tx.prepare("insert into effect (source, id, body) values (?, ?, ?)").run(source, id, body);
            tx.prepare("insert into business (ref) values (?)").run(ref);
            context.publish({ id: ref, type: "relay", key: "relay", body: bodyOf(ref) });
            if (!id.startsWith("flaky") || parts.flaky.has(id)) return;
            parts.flaky.add(id);
            throw new Error("as asked");
          },
        "loop:*":
          ({ id, source, body }) =>
          (tx: Database) => {
            tx.prepare("insert into effect (source, id, body) values (?, ?, ?)").run(source, id, body);
          },
      },
    });
  }
}

/** The bytes of an event that everybody knows by this name. */
export function bodyOf(ref: string): Uint8Array {
  return Buffer.from(JSON.stringify({ type: "plain", ref }));
}

export function refOf(body: Uint8Array): string {
  return (JSON.parse(Buffer.from(body).toString()) as { readonly ref: string }).ref;
}

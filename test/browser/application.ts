import { join } from "node:path";
import Database from "better-sqlite3";
import { createReceiver, createSigner, createWorker, signSync } from "posthorn";
import { standardWebhooks } from "posthorn/providers";
import { sqliteStore } from "posthorn/sqlite";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/** What a handler of the application does with an event, by the event's id: returns, or throws. */
export type Deeds = Readonly<Record<string, Error | Readonly<Record<string, string | number>>>>;

/** An application of the library in this process, on the database file of a server that runs. */
export interface Application {
  /** Receives an event of the source `shop`, or of `orders`, which holds by `n`, and says what became of it. */
  receive(
    id: string,
    event?: Readonly<Record<string, unknown>>,
    source?: "shop" | "orders",
  ): Promise<string | undefined>;
  /** Runs the handlers of `billing` and `crm` until nothing is due; an `Error` among the deeds of `billing` is thrown. */
  work(deeds?: Deeds): Promise<void>;
  close(): void;
}

/** A handler that does what it is told. */
const handle = (deeds: Deeds) => (event: { readonly id: string }) => () => {
  const deed = deeds[event.id];
  if (deed instanceof Error) throw deed;
  return deed;
};

export function startApplication(dataDir: string): Application {
  const db = new Database(join(dataDir, "posthorn.db"));
  const store = sqliteStore({ db });
  const receiver = createReceiver({
    mode: "store_first",
    store,
    sources: {
      shop: { verifier: standardWebhooks({ secrets: SECRET }), key: { json: "/order" } },
      orders: {
        verifier: standardWebhooks({ secrets: SECRET }),
        key: { json: "/order" },
        order: { policy: "hold", sequence: { json: "/n" }, maxMs: 3_600_000 },
      },
    },
  });
  return {
    async receive(id, event = {}, source = "shop") {
      const body = new TextEncoder().encode(JSON.stringify({ type: "order.paid", order: "1", ...event }));
      const headers = signSync(createSigner({ secrets: SECRET }), { id, body });
      return (await receiver.receive(source, { headers, body })).verdict;
    },
    async work(deeds = {}) {
      const worker = createWorker({
        store,
        consumers: {
          billing: {
            handlers: { "order.paid": handle(deeds), "order.packed": handle(deeds) },
            retry: { waitsMs: [] },
          },
          crm: { handlers: { "order.paid": handle({}) }, retry: { waitsMs: [] } },
        },
      });
      await worker.drain();
    },
    close: () => void db.close(),
  };
}

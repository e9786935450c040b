import { createReceiver, createSigner, createWorker, signSync } from "posthorn";
import type { WorkerOptions } from "posthorn";
import { standardWebhooks } from "posthorn/providers";
import { apiBench } from "./api-bench.js";
import type { ApiBench } from "./api-bench.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/** A server's API on the database of an application that stores first, in the same process. */
export interface InboxBench extends ApiBench {
  /** Receives an event of the source `shop`, or of `orders`, which holds what comes before its turn by `n`; says what became of it. */
  post(id: string, data?: object, source?: "shop" | "orders"): Promise<string>;
  /** Runs handlers until nothing is due; what they throw is by the id of the event. */
  work(throws?: Readonly<Record<string, Error>>, consumers?: readonly string[]): Promise<void>;
  /** `consumer id` of each handler that committed, in order. */
  readonly effects: string[];
}

export async function inboxBench(): Promise<InboxBench> {
  const bench = await apiBench();
  const { clock } = bench;
  const store = bench.parts.outbox as never as WorkerOptions<unknown, "synchronous">["store"];
  const sources = {
    shop: { verifier: standardWebhooks({ secrets: SECRET, clock }), key: { json: "/order" } },
    orders: {
      verifier: standardWebhooks({ secrets: SECRET, clock }),
      key: { json: "/order" },
      order: { policy: "hold", sequence: { json: "/n" } },
    },
  } as const;
  const receiver = createReceiver({ mode: "store_first", store: store as never, clock, sources });
  const effects: string[] = [];
  return Object.assign(bench, {
    effects,
    async post(id: string, data: object = {}, source: "shop" | "orders" = "shop") {
      const body = new TextEncoder().encode(JSON.stringify({ type: "order.paid", order: "1", ...data }));
      const headers = signSync(createSigner({ secrets: SECRET, clock }), { id, body });
      return (await receiver.receive(source, { headers, body })).verdict ?? "rejected";
    },
    async work(throws: Readonly<Record<string, Error>> = {}, consumers: readonly string[] = ["billing"]) {
      const handlerOf = (name: string) => ({
        handlers: {
          "order.paid": (event: { readonly id: string }) => () => {
            const error = throws[event.id];
            if (error !== undefined) throw error;
            effects.push(`${name} ${event.id}`);
            return { by: name };
          },
        },
        retry: { waitsMs: [] },
      });
      const options = {
        store,
        clock,
        consumers: Object.fromEntries(consumers.map((name) => [name, handlerOf(name)])),
      };
      await createWorker(options as never).drain();
    },
  });
}

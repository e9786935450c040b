import { describe, expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import { createSigner, signSync } from "../../signature/sign.js";
import { standardWebhooks } from "../../signature/schemes/standard.js";
import { memoryStore } from "../../stores/memory/store.js";
import { createFakeClock } from "../../testing/fake-clock.js";
import { createReceiver } from "../receiver.js";
import { createWorker } from "./worker.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const HANDLER_MS = 50;

function observer(): void {}

/** A worker of two slots, beside two keys whose every handled event brings the next one. */
function setUp() {
  const clock = createFakeClock({ at: Date.UTC(2026, 10, 19) });
  const store = memoryStore({ clock, environment: "test" });
  const sources = { shop: { verifier: standardWebhooks({ secrets: SECRET, clock }), key: { json: "/key" } } };
  const receiver = createReceiver({ mode: "store_first", store, clock, observer, sources });
  let posted = 0;
  const post = async (key: string | undefined, type = "order.paid"): Promise<void> => {
    const body = utf8(JSON.stringify({ type, key }));
    const id = `evt_${++posted}`;
    await receiver.receive("shop", {
      headers: signSync(createSigner({ secrets: SECRET, clock }), { id, body }),
      body,
    });
  };
  const handled: string[] = [];
  const handler = async (name: string): Promise<void> => {
    await clock.sleep(HANDLER_MS);
    handled.push(name);
    if (name.startsWith("endless")) await post(name);
  };
  const worker = createWorker({
    store,
    clock,
    observer,
    slots: 2,
    consumers: {
      orders: {
        handlers: {
          "order.paid": ({ data }) => handler((data as { readonly key?: string }).key ?? "no key"),
        },
      },
      others: { handlers: { "shop.closed": () => handler("another consumer") } },
    },
  });
  const until = async (isDone: () => boolean): Promise<void> => {
    for (let turn = 0; turn < 2000 && !isDone(); turn++) {
      await clock.advance(10);
      await new Promise((next) => setTimeout(next));
    }
  };
  return { worker, post, handled, until };
}

describe("lanes that never end", () => {
  it.each([
    ["another key", "cold", "order.paid"],
    ["an event without a key", undefined, "order.paid"],
    ["another consumer", "cold", "shop.closed"],
  ])("leave a slot within a second to %s", async (name, key, type) => {
    const { worker, post, handled, until } = setUp();
    for (const endless of ["endless 1", "endless 2"]) for (let n = 0; n < 20; n++) await post(endless);
    await worker.start();
    await until(() => handled.length >= 10);
    await post(key, type);
    const before = handled.length;
    const isThere = (): boolean => handled.some((each) => !each.startsWith("endless"));
    await until(isThere);
    const others = handled.slice(before).findIndex((each) => !each.startsWith("endless"));
    expect([name, isThere()]).toEqual([name, true]);
    // Two slots, each for a second and the run that is under way then.
    expect(others).toBeLessThanOrEqual((2 * 1500) / HANDLER_MS);
    const stopped = worker.stop();
    let isStopped = false;
    void stopped.then(() => (isStopped = true));
    await until(() => isStopped);
  });
});

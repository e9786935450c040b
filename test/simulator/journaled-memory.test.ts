import { createFakeClock } from "posthorn/testing";
import { createReceiver, createWorker, standardWebhooks } from "posthorn";
import { createSigner, signSync } from "../../library/src/signature/sign.js";
import { expect, it } from "vitest";
import { JournaledMemory } from "./journaled-memory.js";

const secrets = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/** A store with a receiver that stores into it. */
function opened() {
  const clock = createFakeClock();
  const journaled = new JournaledMemory(clock);
  const { store } = journaled;
  const sources = { shop: { verifier: standardWebhooks({ secrets, clock }), key: { json: "/key" } } };
  const receiver = createReceiver({ mode: "store_first", store, clock, sources });
  const post = async (id: string): Promise<void> => {
    const body = new TextEncoder().encode(JSON.stringify({ type: "counted", key: "k" }));
    const headers = signSync(createSigner({ secrets, clock }), { id, body });
    await receiver.receive("shop", { headers, body });
  };
  return { clock, journaled, store, post };
}

it("a store that is brought back is as it was, and knows nothing of what came later", async () => {
  const { clock, journaled, store, post } = opened();
  const seen = async () => ({
    rows: await store.inboxRows({}, { limit: 100 }),
    lanes: await store.lanes({}, { limit: 100 }),
    dropped: await store.inboxRows({ outcome: "dropped" }, { limit: 100 }),
  });
  const versions = new Map([
    ["evt_1", 2n],
    ["evt_2", 1n],
  ]);
  const handlers = {
    counted: async (
      event: { id: string },
      ctx: { newest(resource: string, version: bigint): Promise<boolean> },
    ) => void (await ctx.newest("r", versions.get(event.id) ?? 3n)),
  };
  const worker = createWorker({ store, clock, handlers });
  await worker.drain();
  await post("evt_1");
  await post("evt_2");
  await worker.drain();
  await clock.advance(5000);
  await post("evt_3");
  const [before, bringBack] = [await seen(), journaled.snapshot()];
  await clock.advance(5000);
  await worker.drain();
  await post("evt_4");
  expect(await seen()).not.toEqual(before);
  await bringBack();
  expect(await seen()).toEqual(before);
  expect(before.dropped.items.map(({ id }) => id)).toEqual(["evt_2"]);
  expect(await worker.drain()).toMatchObject({ handled: 1 });
});

it("what was refused while a handler ran is not made again in a store that is brought back", async () => {
  const { clock, journaled, store, post } = opened();
  const refused: unknown[] = [];
  const named = (): Promise<readonly string[]> => store.namedEvents("default", ["shop/id/evt_2"]);
  const batch = async (): Promise<void> => {
    refused.push(await store.markStored("default", (await named())[0] ?? "", ""));
    refused.push((await store.forgetEvent("default", "shop", "evt_2")).kind);
  };
  const worker = createWorker({ store, clock, handlers: { counted: { by: "key", max: 3, batch } } });
  await worker.drain();
  for (const id of ["evt_1", "evt_2", "evt_3"]) await post(id);
  await worker.drain();
  expect(refused).toEqual([false, "busy"]);
  await journaled.snapshot()();
  expect(await worker.drain()).toMatchObject({ handled: 0 });
  expect(await named()).toHaveLength(1);
});

import { createFakeClock } from "posthorn/testing";
import { createReceiver, createWorker, standardWebhooks } from "posthorn";
import { createSigner, signSync } from "../../library/src/signature/sign.js";
import { expect, it } from "vitest";
import { JournaledMemory } from "./journaled-memory.js";

const secrets = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

it("a store that is brought back is as it was, and knows nothing of what came later", async () => {
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

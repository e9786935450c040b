import { describe, expect, it } from "vitest";
import { utf8 } from "../bytes.js";
import { createReceiver } from "../inbox/receiver.js";
import { createWorker } from "../inbox/worker/worker.js";
import { createRetention } from "../retention/retention.js";
import { standardWebhooks } from "../signature/schemes/standard.js";
import { createSigner, signSync } from "../signature/sign.js";
import { memoryStore } from "../stores/memory/store.js";
import { createFakeClock } from "../testing/fake-clock.js";
import { createOperator } from "./operator.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const DAY_MS = 86_400_000;
const BECAUSE = "it is called invoicing now";

/** An application whose handler was called billing, and is called invoicing now. */
async function renamed() {
  const clock = createFakeClock({ at: Date.parse("2026-11-15T12:00:00Z") });
  const store = memoryStore({ clock, environment: "test" });
  const sources = { shop: standardWebhooks({ secrets: SECRET, clock }) };
  const receiver = createReceiver({ mode: "store_first", store, clock, sources });
  const handled: string[] = [];
  const drain = async (name: string, { fails = false } = {}): Promise<void> => {
    const paid = ({ id }: { id: string }): void => {
      if (fails) throw new Error("down");
      handled.push(`${name} ${id}`);
    };
    const consumers = { [name]: { handlers: { paid }, retry: { waitsMs: [] } } };
    await createWorker({ store, clock, consumers, observer: () => undefined }).drain();
  };
  const post = async (id: string): Promise<void> => {
    const body = utf8('{"type":"paid"}');
    const headers = signSync(createSigner({ secrets: SECRET, clock }), { id, body });
    await receiver.receive("shop", { headers, body });
  };
  await post("evt_1");
  await drain("billing");
  await drain("invoicing");
  return { clock, store, operator: createOperator({ store }), handled, drain, post };
}

describe("a handler that was renamed", () => {
  it("is removed once no worker has it: nothing waits for it any more, and its events are removed in their time", async () => {
    const { clock, store, operator, drain, post } = await renamed();
    await post("evt_2");
    await drain("invoicing");
    await clock.advance(DAY_MS);
    expect((await operator.census()).oldestDueMs).toBeGreaterThanOrEqual(DAY_MS);
    const removed = await operator.remove("billing", { because: BECAUSE, cancelWaiting: true });
    expect(removed).toEqual({ kind: "removed", waiting: 1, exact: true });
    expect((await operator.census()).oldestDueMs ?? 0).toBe(0);
    expect((await operator.consumers()).map(({ id }) => id)).toEqual(["hnd_invoicing"]);
    await clock.advance(40 * DAY_MS);
    await createRetention({ store, clock }).remove();
    expect((await operator.events()).items).toEqual([]);
  });

  it("is not removed while a worker has it, and the error says what to do first", async () => {
    const { clock, operator } = await renamed();
    await clock.advance(170_000);
    await expect(operator.remove("hnd_billing", { because: BECAUSE })).rejects.toMatchObject({
      code: "consumer_in_use",
      message: expect.stringMatching(/2026-11-15T12:00:00.000Z.*stop its workers, or deploy/) as string,
    });
    await clock.advance(10_000);
    expect(await operator.remove("hnd_billing", { because: BECAUSE })).toMatchObject({ kind: "removed" });
    expect(await operator.remove("hnd_billing", { because: BECAUSE })).toEqual({ kind: "unknown" });
  });

  it("is not removed while something waits for it, unless that is to be cancelled: the error says how much", async () => {
    const { clock, operator, handled, drain, post } = await renamed();
    await clock.advance(200_000);
    await post("evt_2");
    await drain("invoicing");
    await expect(operator.remove("billing", { because: BECAUSE })).rejects.toMatchObject({
      code: "consumer_not_empty",
      message: expect.stringMatching(
        /hnd_billing.*wait for it: 1;.*resolved: 0\..*cancelWaiting: true/,
      ) as string,
      detail: { waiting: 1, dead: 0 },
    });
    await drain("billing");
    expect(handled.at(-1)).toBe("billing evt_2");
    await clock.advance(200_000);
    expect(await operator.remove("billing", { because: BECAUSE })).toMatchObject({ waiting: 0 });
  });

  it("is not removed while a dead letter of it is unresolved, though nothing waits", async () => {
    const { clock, operator, drain, post } = await renamed();
    await post("evt_2");
    await drain("billing", { fails: true });
    await clock.advance(200_000);
    expect((await operator.consumers())[0]).toMatchObject({ waiting: 0, dead: 1 });
    await expect(operator.remove("billing", { because: BECAUSE })).rejects.toMatchObject({
      code: "consumer_not_empty",
      detail: { waiting: 0, dead: 1 },
    });
    const removed = await operator.remove("billing", { because: BECAUSE, cancelWaiting: true });
    expect(removed).toMatchObject({ kind: "removed" });
    expect((await operator.deadLetters()).items).toEqual([]);
  });

  it("is made anew by a worker that registers it again, and gets what is stored from then on", async () => {
    const { clock, operator, handled, drain, post } = await renamed();
    await clock.advance(200_000);
    await operator.remove("billing", { because: BECAUSE });
    await post("evt_2");
    await drain("billing");
    await post("evt_3");
    await drain("billing");
    expect(handled).toEqual(["billing evt_1", "billing evt_3"]);
  });

  it("is not removed without a reason", async () => {
    const { operator } = await renamed();
    const without = { because: " " };
    await expect(operator.remove("billing", without)).rejects.toMatchObject({
      code: "operator_option_invalid",
    });
  });
});

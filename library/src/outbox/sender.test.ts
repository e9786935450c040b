import { beforeEach, describe, expect, it } from "vitest";
import { generateSecret } from "../signature/keys/secret.js";
import { memoryStore } from "../stores/memory/store.js";
import type { MemoryStore } from "../stores/memory/store.js";
import { MemoryTransaction } from "../stores/memory/client/transaction.js";
import { createFakeClock } from "../testing/fake-clock.js";
import { createSender } from "./sender.js";
import type { Sender } from "./sender.js";
import type { MemoryTx } from "../stores/memory/client/transaction.js";

let store: MemoryStore;
let sender: Sender<MemoryTx, "asynchronous">;
const clock = createFakeClock();

beforeEach(async () => {
  store = memoryStore({ clock, environment: "test" });
  sender = createSender({ store, clock });
  await sender.endpoints.create({ id: "ep_1", url: "https://example.com/", secrets: generateSecret() });
});

/** The ids of what a dispatcher would find. */
async function waiting(): Promise<string[]> {
  while ((await store.sequence()).more);
  const { claims } = await store.claim({
    worker: "test",
    limit: 100,
    leaseMs: 1000,
    of: { kind: "endpoint" } as const,
    inFlight: new Map(),
    run: { maxEvents: 8, maxBytes: 1000 },
    alone: false,
  });
  return claims.flatMap(({ run }) => run.map(({ event }) => event.id));
}

describe("a sender", () => {
  it("publishes one or many, and says under which ids", async () => {
    expect(await sender.publish({ type: "t", id: "one", data: 1 })).toEqual({ id: "one", duplicate: false });
    const many = await sender.publish([
      { type: "t", data: 1 },
      { type: "t", id: "two", data: 2 },
    ]);
    expect(many).toMatchObject([{ duplicate: false }, { id: "two", duplicate: false }]);
    expect(many[0]?.id).toMatch(/^evt_/);
    expect(await sender.publish([])).toEqual([]);
    expect(await waiting()).toHaveLength(3);
  });

  it("publishes with a transaction, or not at all", async () => {
    const kept = new MemoryTransaction(1);
    const lost = new MemoryTransaction(2);
    await sender.publish({ type: "t", id: "kept", data: 1 }, { tx: kept });
    await sender.publish({ type: "t", id: "lost", data: 1 }, { tx: lost });
    expect(await waiting()).toEqual([]);
    kept.commit();
    lost.rollback();
    expect(await waiting()).toEqual(["kept"]);
  });

  it("sends an id once, and says that it was known", async () => {
    const event = { type: "t", id: "same", body: new Uint8Array([1]) };
    expect(await sender.publish(event)).toMatchObject({ duplicate: false });
    expect(await sender.publish(event)).toMatchObject({ duplicate: true });
    expect(await sender.publish({ ...event, tenant: "other" })).toMatchObject({ duplicate: false });
    expect(await waiting()).toEqual(["same"]);
  });

  it("sends an id once though its data is published again at another moment", async () => {
    const event = { type: "t", id: "same", data: { amount: 1 } };
    expect(await sender.publish(event)).toMatchObject({ duplicate: false });
    await clock.advance(5000);
    expect(await sender.publish(event)).toMatchObject({ duplicate: true });
    for (const other of [{ data: { amount: 2 } }, { type: "u" }, { time: new Date(clock.now()) }]) {
      await expect(sender.publish({ ...event, ...other })).rejects.toMatchObject({ code: "id_conflict" });
    }
    expect(await waiting()).toEqual(["same"]);
  });

  it("refuses an id that is known with another type, though its body is the same", async () => {
    const event = { type: "t", id: "same", body: new Uint8Array([1]) };
    await sender.publish(event);
    await expect(sender.publish({ ...event, type: "u" })).rejects.toMatchObject({ code: "id_conflict" });
    expect(await waiting()).toEqual(["same"]);
  });

  it("refuses an id that is known with another body, and writes nothing of that call", async () => {
    await sender.publish({ type: "t", id: "same", body: new Uint8Array([1]) });
    const again = sender.publish([
      { type: "t", id: "new", data: 1 },
      { type: "t", id: "same", body: new Uint8Array([2]) },
    ]);
    await expect(again).rejects.toMatchObject({ code: "id_conflict", detail: { ids: ["same"] } });
    expect(await waiting()).toEqual(["same"]);
  });

  it("says that there is work when it has committed, and that there will be when the host commits", async () => {
    const hints: string[] = [];
    store.wake.listen((hint) => hints.push(hint));
    await sender.publish({ type: "t", data: 1 });
    await sender.publish({ type: "t", data: 1 }, { tx: new MemoryTransaction(1) });
    sender.wake();
    expect(hints).toEqual(["committed", "written", "committed"]);
  });

  it("refuses options without a transaction, which would have committed by themselves", async () => {
    const forgotten = {} as { tx: MemoryTx };
    await expect(async () => sender.publish({ type: "t", data: 1 }, forgotten)).rejects.toMatchObject({
      code: "outbox_option_invalid",
    });
  });

  it("refuses a limit that is none", () => {
    expect(() => createSender({ store, maxBodyBytes: Number.NaN })).toThrow("maxBodyBytes");
  });
});

describe("the endpoints of a sender", () => {
  it("are made, read, changed, paused, resumed, listed and removed", async () => {
    const { endpoints } = sender;
    expect(await endpoints.update("ep_1", { types: ["order.*"] })).toMatchObject({
      types: ["order.*"],
      version: 2,
    });
    expect(await endpoints.pause("ep_1")).toMatchObject({ state: "paused" });
    expect(await endpoints.resume("ep_1")).toMatchObject({ state: "active" });
    expect((await endpoints.list()).map(({ id }) => id)).toEqual(["ep_1"]);
    await endpoints.remove("ep_1");
    expect(await endpoints.get("ep_1")).toBeUndefined();
  });

  it("are shown without their secrets, which are given only where they are asked for", async () => {
    const { endpoints } = sender;
    const secret = generateSecret();
    const shown = [
      await endpoints.create({ id: "ep_2", url: "https://example.com/", secrets: [secret] }),
      await endpoints.get("ep_2"),
      await endpoints.update("ep_2", { maxInFlight: 3 }),
      await endpoints.pause("ep_2"),
      ...(await endpoints.list()),
    ];
    expect(JSON.stringify(shown)).not.toContain("whsec_");
    expect(shown[1]).toMatchObject({ id: "ep_2", secretCount: 1 });
    expect(await endpoints.secretsOf("ep_2")).toEqual([secret]);
    expect(await endpoints.secretsOf("ep_3")).toBeUndefined();
  });

  it("that are not there are told so", async () => {
    for (const call of [sender.endpoints.pause("ep_2"), sender.endpoints.remove("ep_2")]) {
      await expect(call).rejects.toMatchObject({ code: "endpoint_unknown" });
    }
  });

  it("that a host names at each start are made once, and changed where it says something else", async () => {
    const { endpoints } = sender;
    const said = {
      id: "ep_erp",
      url: "https://example.com/erp",
      secrets: generateSecret(),
      types: ["order.*"],
    };
    const both = await Promise.all([endpoints.put(said), endpoints.put(said)]);
    expect(both.map(({ version }) => version)).toEqual([1, 1]);
    await endpoints.pause("ep_erp");
    expect(await endpoints.put(said)).toMatchObject({ state: "paused", version: 2 });
    const { types: _, ...rest } = said;
    const changed = { ...rest, secrets: generateSecret(), retry: { firstMs: 5, maxAttempts: 2 } };
    expect(await endpoints.put(changed)).toMatchObject({ types: ["*"], state: "paused", version: 3 });
    expect(await endpoints.secretsOf("ep_erp")).toEqual([changed.secrets]);
    expect(await endpoints.list()).toHaveLength(2);
  });

  it("cannot be put without an id, or as those of another tenant", async () => {
    const said = { url: "https://example.com/erp", secrets: generateSecret() };
    await expect(sender.endpoints.put(said as never)).rejects.toThrow(/`put` has no `id`/);
    const others = sender.endpoints.put({ ...said, id: "ep_1", tenant: "other" });
    await expect(others).rejects.toThrow(/of the tenant "default"/);
  });

  it("are not made twice under one id", async () => {
    const again = sender.endpoints.create({
      id: "ep_1",
      url: "https://example.com/",
      secrets: generateSecret(),
    });
    await expect(again).rejects.toThrow(/There is an endpoint ep_1 already/);
  });
});

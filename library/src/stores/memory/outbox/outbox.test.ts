import { describe, expect, it } from "vitest";
import { utf8 } from "../../../bytes.js";
import type { Claim, ClaimRequest } from "../../../lanes/lane-store.js";
import { endpointFor, eventOf } from "../../../testing/conformance/outbox/steps.js";
import { createFakeClock } from "../../../testing/fake-clock.js";
import { memoryStore } from "../store.js";
import type { MemoryStore } from "../store.js";
import type { Signal } from "../../../observer.js";
import { storedEvent } from "../../../testing/conformance/outbox/workers/handlers.js";
import { MemoryTransaction } from "../client/transaction.js";

// What every outbox promises is in test/conformance; here stands what only this one does.

const REQUEST: ClaimRequest = {
  worker: "worker_1",
  limit: 10,
  leaseMs: 30_000,
  of: { kind: "endpoint" } as const,
  inFlight: new Map(),
  run: { maxEvents: 1, maxBytes: 1_048_576 },
  alone: false,
};

async function claimAll(outbox: MemoryStore): Promise<readonly Claim[]> {
  return (await outbox.claim(REQUEST)).claims;
}

describe("the outbox of memoryStore", () => {
  it("refuses at the commit what another transaction has committed with another body meanwhile", async () => {
    const outbox = memoryStore();
    await outbox.addEndpoint(endpointFor());
    const [one, two] = [new MemoryTransaction(1), new MemoryTransaction(2)];
    await outbox.write([await eventOf({ idGiven: true })], one);
    await outbox.write([await eventOf({ idGiven: true, body: utf8("other") })], two);
    expect(one.commit()).toBeUndefined();
    expect(two.commit()?.thrown).toMatchObject({ code: "id_conflict" });
    expect(await claimAll(outbox)).toHaveLength(1);
  });

  it("writes once what two transactions wrote at the same time with the same body", async () => {
    const outbox = memoryStore();
    await outbox.addEndpoint(endpointFor());
    const open = [new MemoryTransaction(1), new MemoryTransaction(2)];
    for (const tx of open) await outbox.write([await eventOf({ idGiven: true, key: undefined })], tx);
    for (const tx of open) expect(tx.commit()).toBeUndefined();
    expect(await claimAll(outbox)).toHaveLength(1);
  });

  it("tells once of an event that no handler names, however often handlers are registered", async () => {
    const signals: Signal[] = [];
    const outbox = memoryStore({ observer: (signal) => signals.push(signal) });
    const event = await storedEvent("s1");
    const names = [{ name: "stripe/id/s1", bodyHash: undefined }] as const;
    await outbox.ingest({ event, names, windowS: undefined });
    const handler = { id: "hnd_a", sources: ["shop"], types: ["*"], order: "key", dead: undefined } as const;
    for (const types of [["*"], ["*"], ["paid"]]) await outbox.register([{ ...handler, types }]);
    expect(signals).toMatchObject([{ kind: "sequence_failed", id: "s1" }]);
  });

  it("refuses events of a handler that goes on after its end", async () => {
    const tx = new MemoryTransaction(1);
    tx.rollback();
    const late = memoryStore().write([await eventOf()], tx);
    await expect(late).rejects.toMatchObject({ code: "store_transaction_finished" });
  });

  it("ends no lease when the wall clock jumps", async () => {
    const clock = createFakeClock();
    const outbox = memoryStore({ clock });
    await outbox.addEndpoint(endpointFor());
    await outbox.append([await eventOf()]);
    expect(await claimAll(outbox)).toHaveLength(1);
    clock.set(clock.now() + 365 * 86_400_000);
    expect(await claimAll(outbox)).toHaveLength(0);
    await clock.advance(30_000);
    expect(await claimAll(outbox)).toHaveLength(1);
  });

  it("keeps a lease that is extended, and no other", async () => {
    const clock = createFakeClock({ at: 0 });
    const store = memoryStore({ clock });
    await store.addEndpoint(endpointFor());
    await store.append([await eventOf(), await eventOf({ id: "loose", key: undefined })]);
    const [lane, loose] = await claimAll(store);
    if (lane === undefined || loose === undefined) throw new Error("nothing was leased");
    await clock.advance(20_000);
    const older = { ...loose, epoch: loose.epoch - 1n };
    expect(await store.extend("worker_1", [lane, older], 30_000)).toEqual([true, false]);
    expect(await store.extend("worker_2", [loose], 30_000)).toEqual([false]);
    await clock.advance(10_000);
    expect((await claimAll(store)).map(({ kind, id }) => ({ kind, id }))).toEqual([
      { kind: loose.kind, id: loose.id },
    ]);
    await clock.advance(20_000);
    expect((await claimAll(store)).map(({ kind }) => kind)).toEqual([lane.kind]);
    const [lapsed] = await store.attempts(`dlv_${lane.id}_${lane.run[0].sequence}`);
    expect(lapsed).toMatchObject({ outcome: "lapsed", startedAt: new Date(0), durationMs: 50_000 });
  });
});

import { describe, expect, it } from "vitest";
import { utf8 } from "../../../bytes.js";
import type { Claim, ClaimRequest } from "../../../lanes/lane-store.js";
import type { Signal } from "../../../observer.js";
import { endpointFor, eventOf } from "../../../testing/conformance/outbox/steps.js";
import { createFakeClock } from "../../../testing/fake-clock.js";
import { memoryOutbox } from "./outbox.js";
import type { MemoryOutbox } from "./outbox.js";
import { MemoryTransaction } from "../client/transaction.js";

// What every outbox promises is in test/conformance; here stands what only this one does.

const REQUEST: ClaimRequest = {
  worker: "worker_1",
  limit: 10,
  leaseMs: 30_000,
  inFlight: new Map(),
  run: { maxEvents: 1, maxBytes: 1_048_576 },
  alone: false,
};

async function claimAll(outbox: MemoryOutbox): Promise<readonly Claim[]> {
  return (await outbox.claim(REQUEST)).claims;
}

describe("memoryOutbox", () => {
  it("refuses at the commit what another transaction has committed with another body meanwhile", async () => {
    const outbox = memoryOutbox();
    await outbox.addEndpoint(endpointFor());
    const [one, two] = [new MemoryTransaction(1), new MemoryTransaction(2)];
    await outbox.write([await eventOf({ idGiven: true })], one);
    await outbox.write([await eventOf({ idGiven: true, body: utf8("other") })], two);
    expect(one.commit()).toBeUndefined();
    expect(two.commit()?.thrown).toMatchObject({ code: "id_conflict" });
    expect(await claimAll(outbox)).toHaveLength(1);
  });

  it("writes once what two transactions wrote at the same time with the same body", async () => {
    const outbox = memoryOutbox();
    await outbox.addEndpoint(endpointFor());
    const open = [new MemoryTransaction(1), new MemoryTransaction(2)];
    for (const tx of open) await outbox.write([await eventOf({ idGiven: true, key: undefined })], tx);
    for (const tx of open) expect(tx.commit()).toBeUndefined();
    expect(await claimAll(outbox)).toHaveLength(1);
  });

  it("refuses events of a handler that goes on after its end", async () => {
    const tx = new MemoryTransaction(1);
    tx.rollback();
    const late = memoryOutbox().write([await eventOf()], tx);
    await expect(late).rejects.toMatchObject({ code: "store_transaction_finished" });
  });

  it("ends no lease when the wall clock jumps", async () => {
    const clock = createFakeClock();
    const outbox = memoryOutbox({ clock });
    await outbox.addEndpoint(endpointFor());
    await outbox.append([await eventOf()]);
    expect(await claimAll(outbox)).toHaveLength(1);
    clock.set(clock.now() + 365 * 86_400_000);
    expect(await claimAll(outbox)).toHaveLength(0);
    await clock.advance(30_000);
    expect(await claimAll(outbox)).toHaveLength(1);
  });

  it("warns where it is used in production", () => {
    const signals: Signal[] = [];
    const observer = (signal: Signal): void => void signals.push(signal);
    memoryOutbox({ observer, environment: "development" });
    expect(signals).toEqual([]);
    memoryOutbox({ observer, environment: "production" });
    expect(signals).toEqual([{ kind: "store_not_durable", store: "memoryOutbox" }]);
  });
});

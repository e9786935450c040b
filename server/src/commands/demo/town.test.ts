import { describe, expect, it } from "vitest";
import { POISONED_CUSTOMER, TOWN } from "./character.js";
import type { Behaviour, DemoRequest } from "./character.js";
import { OrderLedger } from "./town.js";
import { openTown } from "./town.js";

function behaviour(name: string, request: Partial<DemoRequest> = {}): Behaviour | undefined {
  return TOWN.find((character) => character.name === name)?.behave({
    customer: 1,
    before: 0,
    chance: 0.5,
    ...request,
  });
}

describe("the town", () => {
  it("has a healthy one, a slow one, one that fails, one that is silent, one that goes and one that chokes", () => {
    expect(behaviour("bakery")).toMatchObject({ status: 200 });
    expect(behaviour("library")).toMatchObject({ status: 200, afterMs: 750 });
    expect(behaviour("market", { chance: 0.1 })).toMatchObject({ status: 500 });
    expect(behaviour("market")).toMatchObject({ status: 200 });
    expect(behaviour("ferry", { chance: 0 })).toBe("silence");
    expect(behaviour("circus", { before: 40 })).toMatchObject({ status: 410 });
    expect(behaviour("pharmacy", { customer: POISONED_CUSTOMER })).toMatchObject({ status: 500 });
    expect(behaviour("pharmacy")).toMatchObject({ status: 200 });
  });

  it("answers on loopback and counts what it took", async () => {
    const town = await openTown(() => 0.5);
    try {
      const house = town.houses.find(({ character }) => character.name === "bakery");
      const post = (data: unknown): Promise<Response> =>
        fetch(house?.url ?? "", { method: "POST", body: JSON.stringify({ data }) });
      expect((await post({ customer: 1, number: 1 })).status).toBe(200);
      expect((await post({ customer: 1, number: 1 })).status).toBe(200);
      expect((await post("nonsense")).status).toBe(400);
      expect(house?.report()).toEqual({ requests: 2, failed: 0, taken: 1, repeated: 1, outOfOrder: 0 });
    } finally {
      await town.stop();
    }
  });

  it("closes even while one of it is silent", async () => {
    const town = await openTown(() => 0);
    const ferry = town.houses.find(({ character }) => character.name === "ferry");
    const asked = fetch(ferry?.url ?? "", {
      method: "POST",
      body: JSON.stringify({ data: { customer: 1, number: 1 } }),
    }).catch(() => "closed");
    while (ferry?.report().failed === 0) await new Promise((resolve) => setImmediate(resolve));
    await town.stop();
    expect(await asked).toBe("closed");
  });
});

it("the ledger tells a repetition from a broken order", () => {
  const ledger = new OrderLedger();
  for (const number of [1, 2, 2, 4, 3]) ledger.take(7, number);
  ledger.take(8, 1);
  expect(ledger.report()).toEqual({ taken: 4, repeated: 1, outOfOrder: 1 });
});

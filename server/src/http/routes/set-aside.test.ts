import { afterAll, describe, expect, it } from "vitest";
import { apiBench, closeBenches } from "../../../../test/server/api-bench.js";

afterAll(closeBenches);

const AT = new Date("2026-11-18T08:00:00.000Z");

describe("events that were set aside", () => {
  it("are listed page by page, and redriven once by their ids", async () => {
    const bench = await apiBench();
    const asked: unknown[] = [];
    const listed = [
      { number: 12n, tenant: "acme", eventId: "evt_1", type: "order.paid", error: "refused", setAsideAt: AT },
      { number: 9n, tenant: "acme", eventId: undefined, type: undefined, error: "gone", setAsideAt: AT },
    ];
    Object.assign(bench.parts.outbox, {
      setAside: (page: unknown) => {
        asked.push(page);
        return Promise.resolve({ items: listed, next: "9" });
      },
      redriveEvent: (number: bigint) =>
        Promise.resolve(number === 12n && asked.push(number) === 2 ? "staged" : "unknown"),
    });
    const client = bench.client();
    expect(await client.setAside.list({ limit: 2, after: "20" })).toEqual({
      items: [
        {
          id: "12",
          tenant: "acme",
          eventId: "evt_1",
          type: "order.paid",
          error: "refused",
          setAsideAt: AT.toISOString(),
        },
        { id: "9", tenant: "acme", eventId: null, type: null, error: "gone", setAsideAt: AT.toISOString() },
      ],
      next: "9",
    });
    expect(await client.setAside.redrive("12")).toEqual({ result: "staged" });
    expect(asked).toEqual([{ limit: 2, after: "20" }, 12n]);
    await expect(client.setAside.redrive("12")).rejects.toMatchObject({ code: "api_not_found" });
    await expect(client.setAside.redrive("evt_1")).rejects.toMatchObject({ code: "api_not_found" });
  });

  it("are none in a healthy outbox, and a cursor that no page gave is refused", async () => {
    const bench = await apiBench();
    expect(await bench.client().setAside.list()).toEqual({ items: [], next: null });
    expect((await bench.call("GET", "/api/v1/set-aside?after=zz")).statusCode).toBe(400);
  });
});

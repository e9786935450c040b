import type { Ingested } from "posthorn";
import { createFakeClock } from "posthorn/testing";
import { describe, expect, it } from "vitest";
import type { NamedEvent } from "./incoming-event.js";
import type { ReceivedRequest } from "./received-request.js";
import { RepeatedEvents } from "./repeated-events.js";

const silent = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
const request = {
  method: "POST",
  url: "/in/shop",
  headers: { "content-type": "text/plain", authorization: "Bearer canary" },
  body: new Uint8Array(),
} as unknown as ReceivedRequest;

interface Recorded {
  readonly eventId: string;
  readonly kind: string;
  readonly body: Uint8Array;
  readonly bodyHash: Uint8Array;
  readonly headers: object;
}

function bench(fails = false) {
  const clock = createFakeClock({ at: 0 });
  const recorded: Recorded[][] = [];
  const repeated = new RepeatedEvents({
    clock,
    log: silent,
    outbox: {
      recordRepeats: (repeats: readonly Recorded[]) => {
        if (fails) return Promise.reject(new Error("the database is away"));
        recorded.push([...repeats]);
        return Promise.resolve();
      },
    },
  });
  const add = (kind: Ingested["kind"], body: string | Uint8Array): void => {
    const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
    const event = { tenant: "default", source: "shop", body: bytes };
    repeated.add(
      { kind, id: "evt_1" },
      { incoming: { event, windowS: 60 } } as unknown as NamedEvent,
      request,
    );
  };
  return { clock, recorded, repeated, add };
}

describe("duplicates and conflicts", () => {
  it("are recorded in one batch after their answers, with their bytes and without credentials", async () => {
    const { recorded, repeated, add } = bench();
    const reused = new TextEncoder().encode("first");
    add("stored", "new");
    add("duplicate", reused);
    reused.fill(0);
    add("conflict", "other");
    expect(recorded).toEqual([]);
    await repeated.flush();
    await repeated.flush();
    expect(recorded).toHaveLength(1);
    expect(recorded[0]?.map(({ kind, body }) => [kind, new TextDecoder().decode(body)])).toEqual([
      ["duplicate", "first"],
      ["conflict", "other"],
    ]);
    expect(recorded[0]?.[0]?.bodyHash).toHaveLength(32);
    expect(JSON.stringify(recorded[0]?.[0]?.headers)).not.toContain("canary");
  });

  it("that come in a flood are kept in part: neither their number nor their bytes fill the memory", async () => {
    const { recorded, repeated, add } = bench();
    for (let n = 0; n < 3000; n++) add("duplicate", "x");
    await repeated.flush();
    expect(recorded[0]).toHaveLength(500);
    const large = bench();
    for (let n = 0; n < 20; n++) large.add("conflict", new Uint8Array(1024 * 1024));
    await large.repeated.flush();
    expect(large.recorded[0]).toHaveLength(8);
  });

  it("are dropped while the database is away, and nothing throws", async () => {
    const { repeated, add } = bench(true);
    add("duplicate", "x");
    await expect(repeated.flush()).resolves.toBeUndefined();
  });
});

import { describe, expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import { github } from "../../signature/schemes/github.js";
import { stripe } from "../../signature/schemes/stripe.js";
import type { Event } from "../../event.js";
import { idempotencyBase, identify, isStale } from "./arrival.js";
import { createSource } from "../source.js";
import type { Source } from "../source.js";

const source = createSource("github", github({ secrets: "a secret of some length" }), undefined);
const varying = createSource("stripe", stripe({ secrets: "whsec_a_secret_of_some_length" }), undefined);

function event(fields: Partial<Event> = {}): Event {
  const body = utf8('{"a":1}');
  return { id: "evt_1", source: "x", type: "a", time: undefined, stamp: undefined, body, ...fields };
}

async function hashOf(from: Source, body: string): Promise<string> {
  return (await identify(from, event({ body: utf8(body) }), "{}")).arrival.bodyHash.join();
}

async function eventAt(ms: number): Promise<string | undefined> {
  return (await identify(source, event({ time: new Date(ms) }), "{}")).arrival.eventAt?.toISOString();
}

describe("the identity of an event", () => {
  it("is its id, in its source and tenant", async () => {
    const { id, arrival } = await identify(source, event(), "{}");
    expect(id).toBe("evt_1");
    expect(arrival).toMatchObject({ tenant: "default", source: "github", id: "evt_1", idPreview: undefined });
  });

  it("is the hash of its body where the provider sends no id", async () => {
    const { id } = await identify(source, event({ id: undefined }), "{}");
    expect(id).toBe("body_015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862");
  });

  it("holds the hash of its body, so that another body under the same id is told", async () => {
    expect(await hashOf(source, "1")).not.toBe(await hashOf(source, "2"));
  });

  it("does not depend on a body that its provider writes anew for every delivery", async () => {
    expect(await hashOf(varying, "1")).toBe(await hashOf(varying, "2"));
  });

  it("holds a time that every database takes", async () => {
    expect(await eventAt(-8.64e15)).toBe("1970-01-01T00:00:00.000Z");
    expect(await eventAt(8.64e15)).toBe("9000-01-01T00:00:00.000Z");
    expect(await eventAt(Number.NaN)).toBeUndefined();
    expect(await eventAt(0)).toBe("1970-01-01T00:00:00.000Z");
  });
});

describe("a stale event", () => {
  it("happened before its window began, to the millisecond", async () => {
    const { arrival } = await identify(source, event({ time: new Date(0) }), "{}");
    const windowMs = (source.windowS ?? 0) * 1000;
    expect(isStale(source, arrival, windowMs)).toBe(false);
    expect(isStale(source, arrival, windowMs + 1)).toBe(true);
  });

  it("cannot be told without a time, nor where events are kept for ever or stale ones are accepted", async () => {
    const { arrival: timeless } = await identify(source, event(), "{}");
    const { arrival } = await identify(source, event({ time: new Date(0) }), "{}");
    expect(isStale(source, timeless, 8.64e15)).toBe(false);
    expect(isStale({ ...source, windowS: undefined }, arrival, 8.64e15)).toBe(false);
    expect(isStale({ ...source, stale: "accept" }, arrival, 8.64e15)).toBe(false);
  });
});

it("the base of idempotency keys differs by tenant, source and id", async () => {
  const { arrival } = await identify(source, event(), "{}");
  const others = [
    { ...arrival, tenant: "t" },
    { ...arrival, source: "s" },
    { ...arrival, id: "i" },
  ];
  const bases = await Promise.all([arrival, ...others].map((each) => idempotencyBase(each)));
  expect(new Set(bases).size).toBe(4);
});

import { describe, expect, it } from "vitest";
import { createSender } from "../outbox/sender.js";
import { createDispatcher } from "../delivery/dispatcher.js";
import { stripe } from "../signature/schemes/stripe.js";
import { memoryStore } from "../stores/memory/store.js";
import { signedRequest } from "../testing/signed-request/signed-request.js";
import { createReceiver } from "./receiver.js";
import type { Receiver } from "./receiver.js";
import { createWorker } from "./worker/worker.js";
import type { Signal } from "../observer.js";

const SECRET = "whsec_one_endpoint";
const SOURCES = { stripe: stripe({ secrets: SECRET }) };

/** As a host without a compiler calls it. */
function made(given: object): Receiver {
  const store = memoryStore({ environment: "test" });
  return createReceiver({ store, sources: SOURCES, handlers: {}, ...given } as never);
}

const handler = (): void => {};

class Pool {
  query(): void {}
}

describe("a receiver that could not work is refused when it is made", () => {
  it("says what to make of a pool in the place of a store, at every part that has one", () => {
    const store = new Pool() as never;
    const words = /is a Pool; expected .*postgresStore\(\{ client: pool \}\)/;
    expect(() => made({ store })).toThrow(words);
    expect(() => createSender({ store })).toThrow(words);
    expect(() => createDispatcher({ store })).toThrow(words);
    expect(() => createWorker({ store, handlers: { a: () => {} } })).toThrow(words);
    expect(() => made({ store: undefined })).toThrow(/is of type undefined; expected/);
    expect(() => made({ store: Promise.resolve() })).toThrow(/is a promise: await it/);
  });

  it("never shows what stands in the place of a store", () => {
    const client = { connectionString: "postgres://user:password@host" };
    expect(() => made({ store: client })).toThrow(/^(?!.*password)/);
  });

  it("says how a source is made", () => {
    expect(() => made({ sources: undefined })).toThrow(/stripe\(\{ secrets \}\)/);
    const words = /The source "stripe" is .*; expected a verifier, as stripe\(\{ secrets: …? ?/;
    for (const each of ["whsec_one_endpoint", stripe, undefined, {}, { verifier: stripe }])
      expect(() => made({ sources: { stripe: each } })).toThrow(words);
    expect(() => made({ sources: { stripe: SECRET } })).toThrow(/^(?!.*one_endpoint)/);
  });

  it("names the two modes where it was given another", () => {
    expect(() => made({ mode: "store-first" })).toThrow(/mode is "store-first"; expected "store_first"/);
  });

  it("sends the handlers of a store_first receiver to a worker", () => {
    expect(() => made({ mode: "store_first" })).toThrow(/give them to createWorker/);
  });

  it("asks for handlers", () => {
    expect(() => made({ handlers: undefined })).toThrow(/handlers is missing/);
  });

  it("names the sources where a handler's key names another", () => {
    const words = /"strpe:invoice.paid" is for a source "strpe", and the sources are "stripe"/;
    expect(() => made({ handlers: { "strpe:invoice.paid": () => {} } })).toThrow(words);
  });
});

describe("a type that has a colon itself", () => {
  it("has a handler under its source, or by a schema that names it", () => {
    expect(() => made({ handlers: { "stripe:user:created": handler } })).not.toThrow();
    expect(() =>
      made({ handlers: { "user:created": handler }, schemas: { "user:created": {} } }),
    ).not.toThrow();
  });
});

it("a request for an unknown source is refused with the names of those that there are", async () => {
  const signals: Signal[] = [];
  const receiver = made({ observer: (signal: Signal) => signals.push(signal) });
  const request = await signedRequest("stripe", { secrets: SECRET });
  expect((await receiver.receive("strip", request)).status).toBe(404);
  expect(signals).toEqual([
    expect.objectContaining({ why: 'no source is called "strip"; there is "stripe"' }),
  ]);
});

it("a handler in SQLite's form fails where nothing would call its function, and is not acknowledged", async () => {
  const signals: Signal[] = [];
  const handlers = { "invoice.paid": () => () => {} };
  const receiver = made({ handlers, observer: (signal: Signal) => signals.push(signal) });
  const request = await signedRequest("stripe", { type: "invoice.paid", secrets: SECRET });
  expect((await receiver.receive("stripe", request)).verdict).toBe("failed");
  expect(signals).toContainEqual(
    expect.objectContaining({ why: expect.stringContaining("`async (event, { tx }) => { … }`") as string }),
  );
});

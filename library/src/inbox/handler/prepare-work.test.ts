import { describe, expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import type { Arrival } from "../inbox-store.js";
import type { Schema } from "./handlers.js";
import { TypeTable } from "./handlers.js";
import { prepareBatch } from "./prepare-batch.js";
import { runLong } from "./prepare-long.js";
import { HandlerFailure, prepareWork } from "./prepare-work.js";
import type { Occasion, WorkParts } from "./prepare-work.js";

const NEVER: Schema = {
  "~standard": { version: 1, vendor: "test", validate: () => new Promise(() => undefined) },
};

function setUp(transactions: "synchronous" | "asynchronous") {
  const over = new AbortController();
  const arrival: Arrival = {
    tenant: "default",
    source: "shop",
    id: "evt_1",
    idPreview: undefined,
    type: "order.paid",
    eventAt: undefined,
    body: utf8("{}"),
    bodyHash: new Uint8Array(32),
    headers: "{}",
    windowS: undefined,
  };
  const { id, source, type, body } = arrival;
  const event = { id, source, type, time: undefined, stamp: undefined, body };
  const occasion: Occasion = { event, identified: { id, arrival }, signal: over.signal };
  const parts: WorkParts<unknown> = {
    store: { transactions },
    schemas: new TypeTable({ "*": NEVER }, new Set(["shop"])),
    publisher: undefined,
    observer: undefined,
  };
  return { over, occasion, parts };
}

const handler = () => () => undefined;
const steps = () => ({ once: () => Promise.reject(new Error("no step is taken here")) });

const PREPARED: Readonly<
  Record<string, (parts: WorkParts<unknown>, occasion: Occasion) => Promise<unknown>>
> = {
  "of one event": (parts, occasion) => prepareWork(parts, handler, occasion),
  "of a batch": (parts, occasion) => prepareBatch(parts, handler, [occasion]),
  "that is long": (parts, occasion) => runLong(parts, handler, { occasion, steps }),
};

describe.each(["synchronous", "asynchronous"] as const)("where transactions are %s, a handler", (mode) => {
  it.each(Object.entries(PREPARED))("%s waits for its schema up to its deadline", async (_, prepare) => {
    const { over, occasion, parts } = setUp(mode);
    const ended = prepare(parts, occasion).catch((error: unknown) => error);
    const late = new Error("the deadline has passed");
    over.abort(late);
    const turn = new Promise((resolve) => setImmediate(() => resolve("it still waits")));
    const error = await Promise.race([ended, turn]);
    expect(error).toBeInstanceOf(HandlerFailure);
    expect((error as HandlerFailure).cause).toBe(late);
  });
});

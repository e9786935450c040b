import { describe, expect, it } from "vitest";
import { fetchHandler } from "./fetch.js";
import { nodeListener } from "./node.js";
import { webhooks as express } from "./express.js";
import { webhooks as fastify } from "./fastify.js";
import { webhooks as hono } from "./hono.js";
import { lambdaHandler } from "./lambda.js";

describe("what is no receiver is refused when it is mounted", () => {
  const source = { source: "stripe" };
  it.each([
    ["fetchHandler", (given: never) => fetchHandler(given, source)],
    ["nodeListener", (given: never) => nodeListener(given, source)],
    ["Express", express],
    ["Fastify", fastify],
    ["Hono", hono],
    ["lambdaHandler", lambdaHandler],
  ])("by %s", (_, mount) => {
    for (const given of [undefined, Promise.resolve(), () => {}])
      expect(() => mount(given as never)).toThrow(/no receiver; expected what createReceiver makes/);
  });
});

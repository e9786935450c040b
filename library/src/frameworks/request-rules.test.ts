import { describe, expect, it } from "vitest";
import { createReceiver } from "../inbox/receiver.js";
import { stripe } from "../signature/schemes/stripe.js";
import { memoryStore } from "../stores/memory/store.js";
import { fetchHandler } from "./fetch.js";
import { nodeListener } from "./node.js";
import { webhookErrors, webhooks as express } from "./express.js";
import { webhooks as fastify } from "./fastify.js";
import { webhooks as hono } from "./hono.js";
import { lambdaHandler } from "./lambda.js";

const verifier = stripe({ secrets: "whsec_one_endpoint" });
const receiver = createReceiver({
  store: memoryStore({ environment: "test" }),
  sources: { stripe: verifier, billing: verifier },
  handlers: { "*": () => undefined },
});

describe("what is no receiver is refused when it is mounted", () => {
  const source = { source: "stripe" };
  it.each([
    ["fetchHandler", (given: never) => fetchHandler(given, source)],
    ["nodeListener", (given: never) => nodeListener(given, source)],
    ["Express", express],
    ["Express, for errors", webhookErrors],
    ["Fastify", fastify],
    ["Hono", hono],
    ["lambdaHandler", lambdaHandler],
  ])("by %s", (_, mount) => {
    for (const given of [undefined, Promise.resolve(), () => {}])
      expect(() => mount(given as never)).toThrow(/no receiver; expected what createReceiver makes/);
  });
});

const refused = (message: string): object =>
  expect.objectContaining({ code: "inbox_option_invalid", message }) as object;

type Mount = (given: typeof receiver, ...options: readonly unknown[]) => unknown;

describe("options by which no request would find its source are refused when they are given", () => {
  const doors = [
    ["nodeListener", nodeListener as Mount, "nodeListener"],
    ["fetchHandler", fetchHandler as Mount, "fetchHandler"],
    ["Hono", hono as Mount, "webhooks of posthorn/hono"],
    ["lambdaHandler", lambdaHandler as Mount, "lambdaHandler"],
  ] as const;
  it.each(doors)("to %s: a misspelt one", (_, mount, name) => {
    expect(() => mount(receiver, { sourc: "stripe" })).toThrow(
      refused(`"sourc" is no option of ${name}; did you mean "source"?`),
    );
  });

  it.each(doors)(
    "to %s: a source that the receiver does not have, with those that it has",
    (_, mount, name) => {
      expect(() => mount(receiver, { source: "strpe" })).toThrow(
        refused(
          `source of ${name} is "strpe", which the receiver does not have; it has "stripe", "billing".`,
        ),
      );
      expect(() => mount(receiver, { source: "billing" })).not.toThrow();
    },
  );

  it.each(doors)("to %s: a text in the place of options, and a source that is no name", (_, mount, name) => {
    expect(() => mount(receiver, "stripe")).toThrow(
      `The options of ${name} are of type string; expected { source`,
    );
    expect(() => mount(receiver, { source: 5 })).toThrow(
      `source of ${name} is of type number; expected { source`,
    );
  });

  it.each(doors.slice(0, 2))("to %s: none", (_, mount, name) => {
    const expected = 'expected { source: "stripe" }, or { source: (request) => … }.';
    expect(() => mount(receiver)).toThrow(refused(`The options of ${name} are missing; ${expected}`));
    expect(() => mount(receiver, {})).toThrow(refused(`source of ${name} is missing; ${expected}`));
  });

  it.each(doors.slice(2))("to %s: not none, because the path names the source", (_, mount) => {
    expect(() => mount(receiver)).not.toThrow();
    expect(() => mount(receiver, {})).not.toThrow();
  });

  it("to Hono: a function, which its route's parameter is there for", () => {
    expect(() => (hono as Mount)(receiver, { source: () => "stripe" })).toThrow(
      refused(
        'source of webhooks of posthorn/hono is of type function; expected { source: "stripe" }, or nothing: the route\'s parameter `source` names it then.',
      ),
    );
  });

  it.each([
    ["Express", express as Mount, "posthorn/express"],
    ["Fastify", fastify as Mount, "posthorn/fastify"],
  ])("to %s: any, because the path alone names the source", (_, mount, door) => {
    expect(() => mount(receiver, { source: "stripe" })).toThrow(
      refused(`webhooks of ${door} takes a receiver and no options; the path of a request names its source.`),
    );
  });
});

it("what stands for a receiver may have any source: its receiver knows them", () => {
  const wrapped = { ...receiver, receive: () => Promise.resolve({ status: 204 }) } as typeof receiver;
  expect(() => nodeListener(wrapped, { source: "other" as never })).not.toThrow();
});

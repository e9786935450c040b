import { describe, expect, it } from "vitest";
import { createDispatcher } from "./delivery/dispatcher.js";
import { batch } from "./inbox/handler/batch.js";
import { long } from "./inbox/handler/long.js";
import { createReceiver } from "./inbox/receiver.js";
import { createWorker } from "./inbox/worker/worker.js";
import { unknownOption } from "./known-options.js";
import { createSender } from "./outbox/sender.js";
import { stripe } from "./signature/schemes/stripe.js";
import { memoryStore } from "./stores/memory/store.js";
import { checkRetry } from "./work/retry-policy.js";
import type { RetryOptions } from "./work/retry-policy.js";

const verifier = stripe({ secrets: "whsec_one_endpoint" });
const store = memoryStore({ environment: "test" });
const key = { json: "/data/object/customer" };
const handler = (): void => {};
const handlers = { "invoice.paid": handler };

/** As a host without a compiler calls it. */
const receiver = (given: object): unknown =>
  createReceiver({ store, sources: { stripe: verifier }, handlers, ...given } as never);
const source = (given: object): unknown =>
  createReceiver({ mode: "store_first", store, sources: { stripe: { verifier, ...given } } } as never);
const worker = (given: object): unknown => createWorker({ store, handlers, ...given });
const consumer = (given: object): unknown =>
  createWorker({ store, consumers: { billing: { handlers, ...given } } });

describe("an option that nothing knows is refused, with the name that was meant", () => {
  const misspelt: readonly (readonly [string, () => unknown, string])[] = [
    [
      "of a receiver",
      () => receiver({ observr: handler }),
      '"observr" is no option of the receiver; did you mean "observer"?',
    ],
    [
      "of a source",
      () => source({ keys: key }),
      '"keys" is no option of the source "stripe"; did you mean "key"?',
    ],
    [
      "of a source, in its case",
      () => source({ windows: 9 }),
      '"windows" is no option of the source "stripe"; did you mean "windowS"?',
    ],
    [
      "of a key",
      () => source({ key: { ...key, headers: "x" } }),
      '"headers" is no option of the key of "stripe"; did you mean "header"?',
    ],
    [
      "of an order",
      () => source({ key, order: { policy: "hold", maxEvent: 9 } }),
      '"maxEvent" is no option of the order of "stripe"; did you mean "maxEvents"?',
    ],
    [
      "of a dedup",
      () => source({ dedup: { by: "content", content: "json", excludes: ["/at"] } }),
      '"excludes" is no option of the dedup of "stripe"; did you mean "exclude"?',
    ],
    [
      "of a worker",
      () => worker({ retries: {} }),
      '"retries" is no option of the worker; did you mean "retry"?',
    ],
    [
      "of a worker with consumers",
      () => createWorker({ store, consumers: { billing: { handlers } }, slot: 1 } as never),
      '"slot" is no option of the worker; did you mean "slots"?',
    ],
    [
      "of a consumer",
      () => consumer({ ded: "skip" }),
      '"ded" is no option of the consumer "billing"; did you mean "dead"?',
    ],
    [
      "of drop_stale",
      () => worker({ order: { policy: "drop_stale", resource: handler, version: handler, versions: 1 } }),
      '"versions" is no option of order; did you mean "version"?',
    ],
    [
      "of a long handler",
      () => worker({ handlers: { "invoice.paid": { long: handler, deadline: 5 } } }),
      '"deadline" is no option of the long handler of "invoice.paid"; did you mean "deadlineMs"?',
    ],
    [
      "of a long handler that is declared elsewhere",
      () => long(handler, { deadline: 5 } as never),
      '"deadline" is no option of the long handler; did you mean "deadlineMs"?',
    ],
    [
      "of a batch",
      () => worker({ handlers: { "invoice.paid": { batch: handler, by: "key", max: 5, maxx: 9 } } }),
      '"maxx" is no option of the batch of "invoice.paid"; did you mean "max"?',
    ],
    [
      "of a batch that is declared elsewhere",
      () => batch({ by: "key", max: 5, maxx: 9 } as never, handler),
      '"maxx" is no option of the batch; did you mean "max"?',
    ],
    [
      "of a retry policy",
      () => consumer({ retry: { first: 1000, maxAttempts: 3 } }),
      '"first" is no option of a retry policy; did you mean "firstMs"?',
    ],
    [
      "of a retry policy, in part",
      () => worker({ retry: { attempts: 3 } }),
      '"attempts" is no option of a retry policy; did you mean "maxAttempts"?',
    ],
    [
      "of a list of waits",
      () => worker({ retry: { waitsMs: [], maxAttempts: 3 } }),
      '"maxAttempts" is no option of a retry policy with waitsMs; expected one of kind, waitsMs, jitter.',
    ],
    [
      "of a sender",
      () => createSender({ store, maxBodybyte: 9 } as never),
      '"maxBodybyte" is no option of the sender; did you mean "maxBodyBytes"?',
    ],
    [
      "of a dispatcher",
      () => createDispatcher({ store, slot: 9 } as never),
      '"slot" is no option of the dispatcher; did you mean "slots"?',
    ],
  ];
  it.each(misspelt)("%s", (_, make, message) => {
    expect(make).toThrow(expect.objectContaining({ message }));
  });

  it("leaves a text in the place of options to their own check", () => {
    expect(() => source({ key: "/data/id" })).toThrow('key of "stripe" is no place in a request');
  });

  it("lists what there is where none is near", () => {
    expect(unknownOption("the key", { colour: 1 }, { header: true, json: true })).toBe(
      '"colour" is no option of the key; expected one of header, json.',
    );
  });

  it("says of a receiver that stores first what belongs to its worker", () => {
    const given = { mode: "store_first", handlers: undefined, schemas: {} };
    expect(() => receiver(given)).toThrow(
      /^"schemas" is no option of a receiver of mode "store_first"; give it to createWorker/,
    );
  });

  it("says how options stand beside a verifier", () => {
    expect(() => receiver({ sources: { stripe: { ...verifier, key } } })).toThrow(
      'The source "stripe" has "key" inside of its verifier, where it counts for nothing; expected { verifier: stripe({ … }), key }.',
    );
  });
});

it("a retry policy that was checked can be handed in again", () => {
  const policies: readonly RetryOptions[] = [{}, { waitsMs: [1, 2] }];
  for (const each of policies) expect(checkRetry(checkRetry(each))).toEqual(checkRetry(each));
});

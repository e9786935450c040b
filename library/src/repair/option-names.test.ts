import { describe, expect, it } from "vitest";
import { createReceiver } from "../inbox/receiver.js";
import { standardWebhooks } from "../signature/schemes/standard.js";
import { memoryStore } from "../stores/memory/store.js";
import { githubLog } from "./github-log.js";
import { createRepair } from "./repair.js";
import { stripeLog } from "./stripe-log.js";

const egress = { get: () => Promise.reject(new Error("Nothing is asked.")) };
const store = memoryStore({ environment: "test" });
const receiver = createReceiver({
  store,
  sources: { stripe: standardWebhooks({ secrets: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" }) },
  handlers: { "*": () => undefined },
});
const log = stripeLog({ egress, apiKey: "key" });
const hook = { repository: "owner/name", id: 1 };

const refused = (message: string): object =>
  expect.objectContaining({ code: "repair_option_invalid", message }) as object;

/** As a host without a compiler calls it. */
const repair = (given: object) => createRepair({ receiver, store, logs: { stripe: log }, ...given });
const github = (given: object) => githubLog({ egress, token: "t", hook, ...given });

describe("an option that a repair does not know is refused, with the name that was meant", () => {
  const misspelt: readonly (readonly [string, () => unknown, string])[] = [
    [
      "of the repair",
      () => repair({ sinc: new Date(0) }),
      '"sinc" is no option of createRepair; did you mean "since"?',
    ],
    [
      "of Stripe's log",
      () => stripeLog({ egress, apiKey: "key", acount: "acct_1" } as never),
      '"acount" is no option of stripeLog; did you mean "account"?',
    ],
    [
      "of GitHub's log",
      () => github({ baseURL: "x" }),
      '"baseURL" is no option of githubLog; did you mean "baseUrl"?',
    ],
    [
      "of GitHub's hook",
      () => github({ hook: { organisation: "o", id: 1 } }),
      '"organisation" is no option of hook of githubLog; did you mean "organization"?',
    ],
  ];
  it.each(misspelt)("%s", (_, make, message) => {
    expect(make).toThrow(refused(message));
  });

  it("of a repair without end", async () => {
    const given = { everyMS: 9, signal: AbortSignal.abort() };
    await expect(repair({}).keepRepaired(given as never)).rejects.toEqual(
      refused('"everyMS" is no option of keepRepaired; did you mean "everyMs"?'),
    );
  });
});

it("a repair without options, or without a store, is refused when it is made", () => {
  expect(() => createRepair(undefined as never)).toThrow(
    /^The options of createRepair are missing; expected /,
  );
  expect(() => createRepair({ receiver, logs: { stripe: log } } as never)).toThrow(
    /^The store of the repair is of type undefined;/,
  );
});

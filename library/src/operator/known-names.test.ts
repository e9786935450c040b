import { describe, expect, it, vi } from "vitest";
import { memoryStore } from "../stores/memory/store.js";
import { createOperator } from "./operator.js";
import { reconcile } from "./reconcile.js";

const store = memoryStore({ environment: "test" });
const operator = createOperator({ store });
/** As a host without a compiler calls it. */
const anyOperator = operator as unknown as Readonly<
  Record<string, (...given: unknown[]) => Promise<unknown>>
>;
const call = (verb: string, ...given: readonly unknown[]): Promise<unknown> =>
  anyOperator[verb]?.(...given) ?? Promise.reject(new Error(`There is no verb ${verb}.`));
const refused = (message: unknown): object =>
  expect.objectContaining({ code: "operator_option_invalid", message }) as object;

describe("a name that a verb does not know is refused, with the name that was meant", () => {
  it.each([
    ["inboxRows", [{ sourc: "stripe" }], "the filter of inboxRows", "source"],
    ["inboxByPrefix", [{ tenant: "a", source: "b", prefx: "c" }], "the filter of inboxByPrefix", "prefix"],
    ["refusedEvents", [{ sourc: "stripe" }], "the filter of refusedEvents", "source"],
    ["held", [{ sourc: "stripe" }], "the filter of held", "source"],
    ["events", [{ providerid: "evt_1" }], "the filter of events", "providerId"],
    ["lanes", [{ endpointID: "ep_1" }], "the filter of lanes", "endpointId"],
    ["deadLetters", [{}, { odrer: "oldest" }], "the filter of deadLetters", "order"],
    ["deadSummary", [{ endpointid: "ep_1" }], "the filter of deadSummary", "endpointId"],
    ["deadGroups", [{ endpointid: "ep_1" }], "the filter of deadGroups", "endpointId"],
    ["retry", [{ endpointid: "ep_1" }], "retry", "endpointId"],
    ["pause", ["billing", { because: "x", forMS: 9 }], "pause", "forMs"],
    ["remove", ["billing", { because: "x", bye: "me" }], "remove", "by"],
  ])("to %s: %j", async (verb, given, of, meant) => {
    await expect(call(verb, ...given)).rejects.toEqual(
      refused(
        expect.stringMatching(new RegExp(`^"\\w+" is no option of ${of}; did you mean "${meant}"\\?$`)),
      ),
    );
  });

  it.each([
    ["blockedLanes", []],
    ["deadLetters", []],
    ["setAside", []],
    ["inboxRows", [{}]],
    ["inboxByPrefix", [{ tenant: "a", source: "b", prefix: "c" }]],
    ["refusedEvents", [{}]],
    ["held", [{}]],
    ["events", [{}]],
    ["lanes", [{}]],
  ])("to the page of %s", async (verb, before) => {
    await expect(call(verb, ...before, { limt: 5 })).rejects.toEqual(
      refused(`"limt" is no option of the page of ${verb}; did you mean "limit"?`),
    );
    await expect(call(verb, ...before, { limit: "five" })).rejects.toEqual(
      refused(`limit of the page of ${verb} is "five"; expected a whole number.`),
    );
    await expect(call(verb, ...before, { limit: 5 })).resolves.toMatchObject({ items: [] });
  });

  it("to deadLetters: a filter in the place of its page", async () => {
    await expect(call("deadLetters", { order: "oldest" })).rejects.toEqual(
      refused('"order" is no option of the page of deadLetters; expected one of limit, after.'),
    );
  });

  it("to createOperator", () => {
    expect(() => createOperator({ stor: store } as never)).toThrow(
      refused('"stor" is no option of createOperator; did you mean "store"?'),
    );
  });

  it("to reconcile, before anything is looked at", async () => {
    const options = { store, since: new Date(0), wasApplied: () => true, mising: "replay" };
    await expect(reconcile(options as never)).rejects.toEqual(
      refused('"mising" is no option of reconcile; did you mean "missing"?'),
    );
  });
});

describe("a word that a verb does not know is refused, with those that it knows", () => {
  it.each([
    ["inboxRows", [{ order: "asc" }], 'order is "asc"; expected newest or oldest.'],
    ["deadLetters", [{}, { order: "asc" }], 'order is "asc"; expected newest or oldest.'],
    [
      "inboxRows",
      [{ outcome: "done" }],
      'outcome is "done"; expected success, skipped, dropped, failed or pending.',
    ],
    ["refusedEvents", [{ because: "late" }], 'because is "late"; expected conflict or stale.'],
    ["events", [{ since: "today" }], "since is of type string; expected a valid Date."],
    ["deadSummary", [{ until: new Date("?") }], "until is an invalid Date; expected a valid Date."],
    ["held", ["stripe"], "the filter of held is of type string; expected an object of tenant, source, key."],
  ])("to %s: %j", async (verb, given, message) => {
    await expect(call(verb, ...given)).rejects.toEqual(refused(message));
  });
});

describe("a verb that is told too little changes nothing", () => {
  it("retry, which needs one of three", async () => {
    const retry = vi.spyOn(store, "retry");
    const expected = "expected one of { endpointId }, { laneId } and { deliveryId }.";
    await expect(call("retry", {})).rejects.toEqual(refused(`retry is told nothing; ${expected}`));
    await expect(call("retry", { endpointId: "ep_1", laneId: "1" })).rejects.toEqual(
      refused(`retry is told endpointId and laneId; ${expected}`),
    );
    expect(retry).not.toHaveBeenCalled();
  });

  it("redriveAll, which needs the round of each", async () => {
    const redriveAll = vi.spyOn(store, "redriveAll");
    await expect(call("redriveAll", [{ id: "dlv_1", round: 1 }, { id: "dlv_2" }])).rejects.toEqual(
      refused("redriveAll: letter 2 has no id or no round; expected { id, round }."),
    );
    await expect(call("redriveAll", "dlv_1")).rejects.toEqual(
      refused("redriveAll is given of type string; expected a list of { id, round }."),
    );
    expect(redriveAll).not.toHaveBeenCalled();
  });

  it("skip, which needs the head that is meant", async () => {
    await expect(call("skip", "1")).rejects.toMatchObject({
      code: "number_invalid",
      message: expect.stringMatching(/^"undefined" is no lane or sequence; /) as string,
    });
  });

  it("inboxByPrefix and inboxFailures, which need the whole of an address", async () => {
    await expect(call("inboxByPrefix", { tenant: "a", source: "b" })).rejects.toEqual(
      refused("inboxByPrefix: prefix is missing; expected a text."),
    );
    await expect(call("inboxFailures", { tenant: "a", source: "b", id: "c" })).rejects.toEqual(
      refused(expect.stringContaining("has no consumer")),
    );
  });

  it("an operator and a comparison without a store", async () => {
    const message = expect.stringMatching(/^The store of the (operator|comparison) is of type undefined; /);
    const unsupported = expect.objectContaining({ code: "store_client_unsupported", message });
    expect(() => createOperator({} as never)).toThrow(unsupported);
    const options = { since: new Date(0), wasApplied: () => true };
    await expect(reconcile(options as never)).rejects.toEqual(unsupported);
  });
});

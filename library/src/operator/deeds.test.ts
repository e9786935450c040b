import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Signal } from "../observer.js";
import { PosthornError } from "../posthorn-error.js";
import { memoryStore } from "../stores/memory/store.js";
import type { MemoryStore } from "../stores/memory/store.js";
import { createOperator } from "./operator.js";
import type { Verbs } from "./verbs.js";

const REASON = { because: "the ledger was down", by: "ada" };
const ROW = { tenant: "default", source: "shop", id: "evt_1", consumer: "" };
const BODY = { tenant: "default", source: "shop", id: "evt_1", bodyHash: new Uint8Array(32).fill(0xab) };

let store: MemoryStore;
let heard: Signal[];
let operator: Verbs;

beforeEach(() => {
  store = memoryStore({ environment: "test" });
  heard = [];
  operator = createOperator({ store, observer: (signal) => void heard.push(signal), by: "a script" });
});

interface Deed {
  readonly call: () => Promise<unknown>;
  readonly on: string;
  readonly answer: string;
}

const CHANGES: Readonly<Partial<Record<keyof Verbs, Deed>>> = {
  redrive: { call: () => operator.redrive("dlv_1_2", REASON), on: "dlv_1_2", answer: "unknown" },
  skip: { call: () => operator.skip("1", 2n, REASON), on: "lane 1, sequence 2", answer: "unknown" },
  cancel: { call: () => operator.cancel(1n, "2", REASON), on: "lane 1, up to sequence 2", answer: "unknown" },
  retry: { call: () => operator.retry({ endpointId: "ep_1" }, REASON), on: "ep_1", answer: "0" },
  raiseGenerations: { call: () => operator.raiseGenerations(REASON), on: "every lane", answer: "0" },
  redriveAll: {
    call: () => operator.redriveAll([{ id: "dlv_1_2", round: 1 }], REASON),
    on: "dlv_1_2",
    answer: "unknown",
  },
  redriveEvent: { call: () => operator.redriveEvent("4", REASON), on: "set aside 4", answer: "unknown" },
  release: {
    call: () => operator.release("default", "evt_a", REASON),
    on: "default/evt_a",
    answer: "unknown",
  },
  pause: { call: () => operator.pause("billing", REASON), on: "hnd_billing", answer: "unknown" },
  resume: { call: () => operator.resume("hnd_billing", REASON), on: "hnd_billing", answer: "unknown" },
  remove: { call: () => operator.remove("billing", REASON), on: "hnd_billing", answer: "unknown" },
  redriveInbox: {
    call: () => operator.redriveInbox([ROW], REASON),
    on: "default/shop/evt_1 at default",
    answer: "unknown",
  },
  replay: {
    call: () => operator.replay([ROW], REASON),
    on: "default/shop/evt_1 at default",
    answer: "unknown",
  },
  forget: {
    call: () => operator.forget("default", "shop", "evt_1", REASON),
    on: "default/shop/evt_1",
    answer: "unknown",
  },
  redriveRefused: {
    call: () => operator.redriveRefused(BODY, REASON),
    on: "default/shop/evt_1 of body abababababab",
    answer: "unknown",
  },
};

const READS: Readonly<Partial<Record<keyof Verbs, () => Promise<unknown>>>> = {
  blockedLanes: () => operator.blockedLanes(),
  deadLetters: () => operator.deadLetters(),
  attempts: () => operator.attempts("dlv_1_2"),
  events: () => operator.events(),
  event: () => operator.event("default", "evt_a"),
  deliveriesOf: () => operator.deliveriesOf("default", ["evt_a"]),
  delivery: () => operator.delivery("dlv_1_2"),
  lanes: () => operator.lanes(),
  lane: () => operator.lane("1"),
  census: () => operator.census(),
  setAside: () => operator.setAside(),
  inboxRows: () => operator.inboxRows(),
  inboxByPrefix: () => operator.inboxByPrefix({ tenant: "default", source: "shop", prefix: "evt" }),
  inboxRowsOf: () => operator.inboxRowsOf("default", "shop", "evt_1"),
  inboxFailures: () => operator.inboxFailures(ROW),
  refusedEvents: () => operator.refusedEvents(),
  consumers: () => operator.consumers(),
  held: () => operator.held(),
  heldEvent: () => operator.heldEvent("default", "evt_a"),
  deadGroups: () => operator.deadGroups(),
  deadSummary: () => operator.deadSummary(),
};

it("every verb of an operator either changes something or only reads: one that is new is decided here", () => {
  expect([...Object.keys(CHANGES), ...Object.keys(READS)].toSorted()).toEqual(
    Object.keys(operator).toSorted(),
  );
});

it.each(Object.keys(CHANGES))("%s tells who did it, why, to what, and what came of it", async (verb) => {
  const { call, on, answer } = CHANGES[verb as keyof Verbs] as Deed;
  await call();
  expect(heard).toEqual([{ kind: "operator_acted", verb, on, answer, ...REASON }]);
});

it.each(Object.keys(READS))("%s tells nothing: it changes nothing", async (verb) => {
  await READS[verb as keyof Verbs]?.();
  expect(heard).toEqual([]);
});

describe("an operator's deed", () => {
  it("is told once for each thing that it was done to, each with its own answer", async () => {
    vi.spyOn(store, "redriveAll").mockResolvedValue(["in_place", "before"]);
    await operator.redriveAll([
      { id: "dlv_1_1", round: 1 },
      { id: "dlv_1_2", round: 1 },
    ]);
    expect(heard).toMatchObject([
      { on: "dlv_1_1", answer: "in_place" },
      { on: "dlv_1_2", answer: "before" },
    ]);
  });

  it("is told with its numbers, and without what lies deeper", async () => {
    const gaps = [{ from: 1n, to: 2n, because: "operator" as const }];
    vi.spyOn(store, "releaseHeld").mockResolvedValue({ kind: "released", events: 2, gaps });
    await operator.release("default", "evt_a");
    expect(heard).toMatchObject([{ answer: "released, events 2" }]);
  });

  it("is that of the operator's name where a verb names nobody, and of `operator` where it has none", async () => {
    await operator.redrive("dlv_1_2");
    await createOperator({ store, observer: (signal) => void heard.push(signal) }).redrive("dlv_1_2", {});
    expect(heard).toMatchObject([
      { by: "a script", because: undefined },
      { by: "operator", because: undefined },
    ]);
  });

  it("is that of the same person in the store, where the store keeps who has paused", async () => {
    const handler = { sources: ["*"], types: ["*"], order: "key", dead: undefined } as const;
    await store.register([{ id: "hnd_billing", ...handler }]);
    await operator.pause("billing", { because: "deploy" });
    expect(await operator.consumers()).toMatchObject([{ pausedBy: "a script", because: "deploy" }]);
    expect(heard).toMatchObject([{ by: "a script", because: "deploy", answer: "paused" }]);
  });

  it("that was refused was not done, and is not told", async () => {
    await expect(operator.skip("a lane", "2", REASON)).rejects.toMatchObject({ code: "number_invalid" });
    await expect(operator.replay(undefined as never, REASON)).rejects.toMatchObject({
      code: "operator_option_invalid",
    });
    expect(heard).toEqual([]);
  });

  it.each([
    [new PosthornError("store_unavailable", "the connection was lost"), "threw store_unavailable"],
    [Object.assign(new Error("Key (id)=(secret)"), { code: "23505" }), "threw 23505"],
    [new RangeError("no such table"), "threw RangeError"],
  ])(
    "that threw is told as well, by its code alone: its commit may have come through",
    async (error, answer) => {
      vi.spyOn(store, "redrive").mockRejectedValueOnce(error);
      await expect(operator.redrive("dlv_1_2", REASON)).rejects.toBe(error);
      expect(heard).toEqual([{ kind: "operator_acted", verb: "redrive", on: "dlv_1_2", answer, ...REASON }]);
    },
  );

  it("is not done where its reason is none: nobody would read it", async () => {
    const done = vi.spyOn(store, "redrive");
    for (const reason of ["the ledger was down", null, ["ada"], { because: 5 }, { by: { name: "ada" } }])
      await expect(operator.redrive("dlv_1_2", reason as never)).rejects.toMatchObject({
        code: "operator_option_invalid",
      });
    expect(done).not.toHaveBeenCalled();
  });

  it("is done though the observer throws", async () => {
    const complained = vi.spyOn(console, "error").mockReturnValue(undefined);
    const throwing = createOperator({
      store,
      observer: () => {
        throw new Error("the log is full");
      },
    });
    expect(await throwing.redrive("dlv_1_2")).toBe("unknown");
    expect(complained).toHaveBeenCalledOnce();
    complained.mockRestore();
  });
});

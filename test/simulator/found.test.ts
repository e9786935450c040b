import { simulate } from "../../simulator/simulate.js";
import type { Script } from "../../simulator/script/script.js";
import { simulateStored } from "../../simulator/simulate-stored.js";
import type { StoredScript } from "../../simulator/stored/script.js";
import { expect, it } from "vitest";
import { openStoredMemory } from "./journaled-memory.js";

// Mistakes that the simulator has found in shipped code, each kept as the shortest script that shows it.

const event = (number: number) =>
  ({ number, type: "order.paid", key: "key_0", idGiven: true, handler: "works" }) as const;

const calm: Omit<Script, "steps"> = {
  seed: 1,
  nodes: [
    { database: 0, skewMs: 0, rate: 1 },
    { database: 1, skewMs: 0, rate: 1 },
  ],
  endpoints: [
    {
      name: "ep_0",
      plain: true,
      types: ["*"],
      order: "key",
      dead: undefined,
      waitsMs: [100],
      maxInFlight: 64,
    },
  ],
  leaseMs: 3000,
  pollMs: 1000,
  slots: 1,
  batch: 100,
  hints: "committed",
  healAt: 1000,
};

// The loop gave back what a lost answer may have leased while the settlement was still to be tried again: the lane
// counted as held, and what the answer had leased waited for its lease to end, and was charged with a lapse.
it("a lost answer to a settlement does not keep its lane waiting for a lease", async () => {
  for (let at = 110; at < 200; at += 5) {
    const publish = { kind: "publish", node: 0, how: "append", twice: false } as const;
    const { counts } = await simulate({
      ...calm,
      steps: [
        { at: 0, kind: "store", node: 0, call: "settle", how: "lost" },
        { at: 100, ...publish, events: [event(1)] },
        { at: 105, ...publish, events: [event(2)] },
        { at, ...publish, events: [event(3)] },
      ],
    });
    expect([at, counts.get("claim.lapsed") ?? 0]).toEqual([at, 0]);
  }
});

// Its time counted from the moment at which the request was handed out, not from the look at the lease: a process that
// was stopped between the two, or before the first byte, went on as if no time had passed. Meanwhile the first event
// had expired, and another worker had cancelled it and sent the second.
it("a process that was stopped between its lease and the first byte sends nothing that others have passed", async () => {
  const [first, second] = [{ ...event(1), expiresAfterMs: 1600 }, event(2)];
  const script: Script = {
    ...calm,
    nodes: [{ database: 0, skewMs: 0, rate: 1 }, ...calm.nodes],
    leaseMs: 1000,
    healAt: 8000,
    pollMs: 100,
    steps: [
      ...[0, 1].map((node) => ({ at: 0, kind: "wire", node, how: "held" }) as const),
      { at: 100, kind: "publish", node: 0, how: "append", twice: false, events: [first, second] },
    ],
  };
  const runs = await Promise.all(
    Array.from({ length: 40 }, async (_, seed) => {
      const right = await simulate({ ...script, seed });
      const hasty = await simulate({ ...script, seed }, { decisions: { leftMs: () => 1 } });
      return { right: right.violations, hasty: hasty.violations.map(({ invariant }) => invariant) };
    }),
  );
  expect(runs.flatMap(({ right }) => right)).toEqual([]);
  expect(new Set(runs.flatMap(({ hasty }) => hasty))).toEqual(new Set(["I9"]));
});

const received = (number: number, type: "order.paid" | "order.new") =>
  ({ number, type, key: `k${number}`, version: 1, passesOn: false, worksMs: 1 }) as const;

const calmWorkers: Omit<StoredScript, "nodes" | "steps"> = {
  seed: 1,
  consumers: [
    {
      name: "billing",
      kind: "plain",
      order: "key",
      waitsMs: [100],
      dead: undefined,
      takesSteps: false,
      pauseMs: 500,
    },
  ],
  hold: undefined,
  leaseMs: 6000,
  pollMs: 2000,
  slots: 1,
  hints: true,
  hasGone: false,
  delivers: false,
  healAt: 5000,
};

// Both versions of the host slept until the event was due. The one without a handler, whose clock was a little faster, was
// always first: it claimed the event and gave it back for five seconds, again and again, and all behind it waited.
it("what another version handles is not kept from it by a worker whose clock is faster", async () => {
  const script: StoredScript = {
    ...calmWorkers,
    nodes: [
      { version: 2, skewMs: 0, rate: 0.99 },
      { version: 1, skewMs: 0, rate: 1 },
      { version: 1, skewMs: 0, rate: 1 },
    ],
    steps: [{ at: 100, kind: "send", event: received(0, "order.new"), trips: [] }],
  };
  for (let seed = 0; seed < 20; seed++) {
    const { violations, virtualMs } = await simulateStored(
      { ...script, seed },
      { openStore: openStoredMemory },
    );
    expect(violations).toEqual([]);
    expect(virtualMs).toBeLessThan(60_000);
  }
});

// A settlement whose claim may have been committed gives back what nobody holds. When that failed, the loop settled again,
// and the head that the first answer had leased counted as held for ever: a worker with one slot had no room any more.
it("a worker whose release fails after a lost answer has room for the next event", async () => {
  const script: StoredScript = {
    ...calmWorkers,
    nodes: [{ version: 2, skewMs: 0, rate: 1 }],
    steps: [
      { at: 0, kind: "store", node: 0, call: "apply", how: "lost" },
      { at: 0, kind: "store", node: 0, call: "release", how: "reject" },
      { at: 100, kind: "send", event: received(0, "order.paid"), trips: [] },
      { at: 200, kind: "send", event: received(1, "order.paid"), trips: [] },
    ],
  };
  const { violations, virtualMs } = await simulateStored(script, { openStore: openStoredMemory });
  expect(violations).toEqual([]);
  expect(virtualMs).toBeLessThan(60_000);
});

import { alike, holds, same } from "../../expectation.js";
import { A, register, store } from "./handlers.js";
import type { OutboxBench, OutboxPledge } from "../harness.js";
import {
  acknowledge,
  claimOne,
  claimsNothing,
  deliverAll,
  deliveryIn,
  historyOf,
  outboxOf,
  passTicks,
  settled,
  ticksMs,
} from "../steps.js";

// Long enough that a slow machine does not see its end before it has looked.
const PAUSE_TICKS = 6;

/** What pauses of handlers promise. */
export const outboxPausing: readonly OutboxPledge[] = [
  {
    name: "nothing of a handler that is paused is claimed, and untilDue says when its pause ends",
    async check(bench) {
      await twoEvents(bench);
      same(await pause(bench, "the bank is down", PAUSE_TICKS), true, "pauseHandler");
      await claimsNothing(bench, "of a handler that is paused", { of: A });
      const dueMs = (await outboxOf(bench).untilDue(A)) ?? 0;
      holds(dueMs > 0 && dueMs <= ticksMs(bench, PAUSE_TICKS), `untilDue is ${dueMs}`);
      const [handler] = await outboxOf(bench).readHandlers(["hnd_a"]);
      alike([handler?.state, handler?.because], ["paused", "the bank is down"], "the handler");
      holds(handler?.pausedUntil !== undefined, "The handler does not say when its pause ends");
    },
  },
  {
    name: "a pause ends by itself, and what waited goes on in order",
    async check(bench) {
      await twoEvents(bench);
      await pause(bench, "x", PAUSE_TICKS);
      await passTicks(bench, PAUSE_TICKS + 1);
      const [handler] = await outboxOf(bench).readHandlers();
      alike(
        [handler?.state, handler?.because, handler?.pausedUntil],
        ["active", undefined, undefined],
        "the handler",
      );
      same(await outboxOf(bench).untilDue(A), 0, "untilDue");
      const first = await claimOne(bench, { of: A });
      const next = await acknowledge(bench, first, { next: true });
      same(next?.run[0].event.id, "e2", "the next head");
    },
  },
  {
    name: "a settlement as paused pauses the handler: its attempt spends no failure, its delivery stays at the head, and nothing is leased",
    async check(bench) {
      await twoEvents(bench);
      const claimed = await claimOne(bench, { of: A });
      const rest = { state: "paused", forMs: ticksMs(bench, PAUSE_TICKS), because: "down" } as const;
      same(await settled(bench, claimed, { rest, next: true }), undefined, "the next head");
      await claimsNothing(bench, "of a handler that is paused", { of: A });
      same((await historyOf(bench, deliveryIn(claimed))).split(" ")[0], "1.1", "its attempt");
      await passTicks(bench, PAUSE_TICKS + 1);
      const again = await claimOne(bench, { of: A });
      alike([again.run[0].event.id, again.attempts, again.failures], ["e1", 1, 0], "the head");
    },
  },
  {
    name: "a pause is heeded by every process, and no registration ends it",
    async check(bench) {
      await twoEvents(bench);
      await pause(bench, "x", PAUSE_TICKS);
      await register(bench, { types: ["another"], dead: "skip" });
      await outboxOf(bench, 1).register([]);
      await claimsNothing(bench, "by another process", { of: A, at: 1, worker: "worker_2" });
      same((await outboxOf(bench, 1).readHandlers())[0]?.state, "paused", "its state");
    },
  },
  {
    name: "of two pauses the one that ends later stays, with its reason, and one without an end stays until it is resumed",
    async check(bench) {
      await twoEvents(bench);
      await pause(bench, "long", 4 * PAUSE_TICKS);
      await pause(bench, "short", 1);
      await passTicks(bench, 2);
      await claimsNothing(bench, "after the shorter one", { of: A });
      same((await outboxOf(bench).readHandlers())[0]?.because, "long", "the reason");
      await pause(bench, "by hand", undefined);
      await pause(bench, "short", 1);
      await passTicks(bench, 4 * PAUSE_TICKS);
      await claimsNothing(bench, "of one without an end", { of: A });
      same(await outboxOf(bench).untilDue(A), undefined, "untilDue of one without an end");
      same((await outboxOf(bench).readHandlers())[0]?.because, "by hand", "the reason then");
    },
  },
  {
    name: "a pause says which person has paused the handler, and of a rule's pause that none has",
    async check(bench) {
      await twoEvents(bench);
      await pause(bench, "down", PAUSE_TICKS);
      same((await outboxOf(bench).readHandlers())[0]?.pausedBy, undefined, "who paused it, by a rule");
      const given = { because: "we deploy", by: "ada" };
      same(await outboxOf(bench, 1).pauseHandler("hnd_a", given), true, "pauseHandler");
      const [consumer] = await outboxOf(bench).consumers();
      alike(
        [consumer?.state, consumer?.because, consumer?.pausedBy, consumer?.pausedUntil],
        ["paused", "we deploy", "ada", undefined],
        "the consumer",
      );
      await outboxOf(bench).resumeHandler("hnd_a");
      same((await outboxOf(bench, 1).readHandlers())[0]?.pausedBy, undefined, "who paused it, after its end");
    },
  },
  {
    name: "a handler that is resumed goes on at once, and one that is active is told so",
    async check(bench) {
      await twoEvents(bench);
      await pause(bench, "x", 100 * PAUSE_TICKS);
      same(await outboxOf(bench, 1).resumeHandler("hnd_a"), true, "resumeHandler");
      same(await outboxOf(bench, 1).resumeHandler("hnd_a"), false, "resumeHandler of one that is active");
      same(await deliverAll(bench, { of: A }), "e1 e2", "what is claimed");
      alike(
        [
          await outboxOf(bench).resumeHandler("hnd_none"),
          await outboxOf(bench).pauseHandler("hnd_none", { because: "x" }),
        ],
        [false, false],
        "of a handler that is not there",
      );
    },
  },
];

async function twoEvents(bench: OutboxBench): Promise<void> {
  await register(bench, {});
  await store(bench, ["e1", "e2"]);
}

function pause(bench: OutboxBench, because: string, ticks: number | undefined): Promise<boolean> {
  const forMs = ticks === undefined ? undefined : ticksMs(bench, ticks);
  return outboxOf(bench).pauseHandler("hnd_a", { forMs, because });
}

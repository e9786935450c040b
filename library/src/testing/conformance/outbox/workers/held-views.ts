import type { HeldRecord } from "../../../../operator/held-store.js";
import { alike, holds, same } from "../../expectation.js";
import { A, register, store } from "./handlers.js";
import type { OutboxBench, OutboxPledge } from "../harness.js";
import { come, decidedOf } from "./holding.js";
import {
  acknowledge,
  claimOne,
  claimsNothing,
  deliverAll,
  listAll,
  outboxOf,
  passTicks,
  sequenceAll,
  ticksMs,
} from "../steps.js";

/** What an operator sees of events that are held, and what a release does. */
export const outboxHeldViews: readonly OutboxPledge[] = [
  {
    name: "held events are listed by tenant, source, key and sequence, with what is missing before each, page by page",
    async check(bench) {
      await register(bench, {}, { id: "hnd_b", sources: ["github"] });
      alike(await all(bench), [], "before any event has come");
      await come(bench, [1, 4, 5, 9], { key: "b" });
      await come(bench, [1, 3], { key: "a", prefix: "a" });
      await come(bench, [1, 3], { key: "a", source: "github", prefix: "g" });
      await come(bench, [1, 3], { key: "a", tenant: "other", prefix: "o" });
      const listed = await all(bench);
      alike(
        listed.map((each) => [each.eventId, each.sequence, missingOf(each)]),
        [
          ["g3", 3n, "2-2"],
          ["a3", 3n, "2-2"],
          ["e4", 4n, "2-3"],
          ["e5", 5n, ""],
          ["e9", 9n, "6-8"],
          ["o3", 3n, "2-2"],
        ],
        "what is held",
      );
      alike(
        listed.map(({ tenant, source, key, consumers }) => [tenant, source, key, consumers.join(" ")])[0],
        ["default", "github", "a", "hnd_a hnd_b"],
        "the first",
      );
      alike(listed[1]?.consumers, ["hnd_a"], "who gets the second");
      const ids = async (filter: Parameters<typeof all>[1]) =>
        (await all(bench, filter)).map(({ eventId }) => eventId);
      alike(await ids({ tenant: "other" }), ["o3"], "by tenant");
      alike(await ids({ source: "github" }), ["g3"], "by source");
      alike(await ids({ key: "b" }), ["e4", "e5", "e9"], "by key");
      const census = await outboxOf(bench).census();
      alike([census.held, census.staged], [6, 6], "how many are counted");
    },
  },
  {
    name: "a held event says since when it is held, and until when at the latest",
    async check(bench) {
      await register(bench, {});
      const maxMs = ticksMs(bench, 500);
      await come(bench, [1, 3], { maxMs });
      const [held] = await all(bench);
      const { since, until } = held?.hold ?? {};
      same((until?.getTime() ?? 0) - (since?.getTime() ?? 0), maxMs, "how long it may be held");
      const { receivedAt } = held ?? {};
      const waitedMs = (since?.getTime() ?? 0) - (receivedAt?.getTime() ?? 0);
      holds(waitedMs > -1000 && waitedMs < maxMs, `It is held since ${waitedMs} ms after it was received`);
      await come(bench, [2]);
      alike(await all(bench), [], "after the gap has closed");
    },
  },
  {
    name: "what was decided of an event is shown after its hold has ended: what was given up before it, and that it came late",
    async check(bench) {
      await register(bench, {});
      await come(bench, [1, 4], { maxMs: 1 });
      await passTicks(bench, 1);
      await sequenceAll(bench);
      await come(bench, [2], { maxMs: 1 });
      const [first, gapped, late] = [await one(bench, "e1"), await one(bench, "e4"), await one(bench, "e2")];
      alike([first?.hold, first?.gap, first?.isLate], [undefined, undefined, false], "the first");
      alike(
        [gapped?.hold, gapped?.gap, gapped?.isLate],
        [undefined, { from: 2n, to: 3n, because: "time" }, false],
        "the one behind the gap",
      );
      alike([late?.hold, late?.gap, late?.isLate], [undefined, undefined, true], "the late one");
      await store(bench, ["plain"]);
      same(await one(bench, "plain"), undefined, "of a source that holds nothing");
      same(await one(bench, "none"), undefined, "of an event that is not there");
      same(await outboxOf(bench).heldEvent("other", "e4"), undefined, "of another tenant");
    },
  },
  {
    name: "a release gives up what an event waits for: those before it go first, and each says what was given up",
    async check(bench) {
      await register(bench, {});
      await come(bench, [1, 3, 6, 7, 9]);
      same(await deliverAll(bench, { of: A }), "e1", "before the release");
      const released = await outboxOf(bench, 1).releaseHeld("default", "e6");
      alike(
        released,
        {
          kind: "released",
          events: 3,
          gaps: [
            { from: 2n, to: 2n, because: "operator" },
            { from: 4n, to: 5n, because: "operator" },
          ],
        },
        "the release",
      );
      await sequenceAll(bench);
      for (const [sequence, from, to] of [
        [3n, 2n, 2n],
        [6n, 4n, 5n],
      ] as const) {
        const claimed = await claimOne(bench, { of: A });
        alike(decidedOf(claimed), { sequence, gap: { from, to, because: "operator" } }, `event ${sequence}`);
        await acknowledge(bench, claimed);
      }
      same(await deliverAll(bench, { of: A }), "e7", "what follows without a gap");
      await claimsNothing(bench, "behind the next gap", { of: A });
      alike(
        (await all(bench)).map((each) => [each.eventId, missingOf(each)]),
        [["e9", "8-8"]],
        "what is still held",
      );
    },
  },
  {
    name: "a second release changes nothing, and what comes after a release is late",
    async check(bench) {
      await register(bench, {});
      await come(bench, [1, 3]);
      const outbox = outboxOf(bench);
      alike((await outbox.releaseHeld("other", "e3")).kind, "unknown", "of another tenant");
      alike((await outbox.releaseHeld("default", "e1")).kind, "unknown", "of an event that is not held");
      alike((await outbox.releaseHeld("default", "e3")).kind, "released", "of the held one");
      alike((await outbox.releaseHeld("default", "e3")).kind, "unknown", "a second time");
      await sequenceAll(bench);
      same(await deliverAll(bench, { of: A }), "e1 e3", "what goes");
      await come(bench, [2]);
      alike(decidedOf(await claimOne(bench, { of: A })), { sequence: 2n, late: true }, "what came then");
    },
  },
];

function missingOf({ hold }: HeldRecord): string {
  return hold?.missing === undefined ? "" : `${hold.missing.from}-${hold.missing.to}`;
}

function all(
  bench: OutboxBench,
  filter: Parameters<ReturnType<typeof outboxOf>["heldEvents"]>[0] = {},
): Promise<readonly HeldRecord[]> {
  return listAll((page) => outboxOf(bench, 1).heldEvents(filter, page), 2);
}

function one(bench: OutboxBench, id: string): Promise<HeldRecord | undefined> {
  return outboxOf(bench).heldEvent("default", id);
}

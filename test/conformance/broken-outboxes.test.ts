import { outboxConformance } from "posthorn/testing";
import { describe, expect, it } from "vitest";
import { BROKEN_OUTBOXES } from "./broken-outboxes.js";
import { memoryOutboxHarness } from "./memory-harness.js";
import type { OutboxFlaw } from "./outbox-flaws/all.js";
import { withOutboxFlaw } from "./outbox-flaws/all.js";

describe("the kit catches an outbox", () => {
  it.each(Object.entries(BROKEN_OUTBOXES))("with the flaw %s: %s", async (flaw, promises) => {
    const found = await withOutboxFlaw(flaw as OutboxFlaw, async (harness) => {
      const named = outboxConformance(harness).filter(({ name }) => promises.includes(name));
      const results = await Promise.allSettled(named.map((each) => each.run()));
      return named.filter((_, index) => results[index]?.status === "rejected").map(({ name }) => name);
    });
    expect(found.toSorted()).toEqual(promises.toSorted());
  });

  it("by every promise that it makes: none holds for all", () => {
    const named = new Set(Object.values(BROKEN_OUTBOXES).flat());
    const unproved = outboxConformance(memoryOutboxHarness).filter(({ name }) => !named.has(name));
    expect(unproved.map(({ name }) => name)).toEqual([]);
  });

  it("and finds the memory outbox whole when the flaw is taken away again", async () => {
    await withOutboxFlaw("lane_claimed_twice", () => Promise.resolve());
    const results = await Promise.allSettled(
      outboxConformance(memoryOutboxHarness).map((each) => each.run()),
    );
    expect(results.filter(({ status }) => status === "rejected")).toEqual([]);
  });
});

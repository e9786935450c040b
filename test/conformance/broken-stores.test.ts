import { dedupConformance, inboxConformance } from "posthorn/testing";
import type { MemoryTx } from "posthorn/memory";
import type { Case, DedupHarness, InboxHarness } from "posthorn/testing";
import { describe, expect, it } from "vitest";
import { BROKEN_DEDUPS, BROKEN_INBOXES } from "./broken-stores.js";
import { checkDedupModel, dedupModelTest } from "./dedup-model.js";
import { checkInboxModel, inboxModelTest } from "./inbox-model.js";
import { inProcessDedup, inProcessInbox } from "./memory-harness.js";
import { NaiveDedup } from "./naive-dedup.js";
import type { DedupFlaw } from "./naive-dedup.js";
import { NaiveInbox } from "./naive-inbox.js";
import type { InboxFlaw } from "./naive-inbox.js";
import { runConformance } from "./run-conformance.js";

const dedupWith = (flaw: DedupFlaw): DedupHarness =>
  inProcessDedup((clock) => new NaiveDedup(flaw, clock).bench(), { multiProcess: true });
const inboxWith = (flaw: InboxFlaw): InboxHarness<MemoryTx> =>
  inProcessInbox(
    (clock) => new NaiveInbox(flaw, clock),
    { patienceMs: 400 },
    (store) => (store as NaiveInbox).means(),
  );
const flawedDedup = (flaw: DedupFlaw): Case[] => dedupConformance(dedupWith(flaw));
const flawedInbox = (flaw: InboxFlaw): Case[] => inboxConformance(inboxWith(flaw));

const due = (cases: readonly Case[]): Case[] => cases.filter(({ declined }) => declined === undefined);

/** Those of the promises that the kit finds broken. */
async function foundBroken(cases: readonly Case[], promises: readonly string[]): Promise<string[]> {
  const named = due(cases).filter(({ name }) => promises.includes(name));
  const results = await Promise.allSettled(named.map((each) => each.run()));
  return named.filter((_, index) => results[index]?.status === "rejected").map(({ name }) => name);
}

// Without their flaws they must pass, else a case that no store can keep would look like a good catch.
runConformance("the naive dedup without a flaw", flawedDedup("none"));
runConformance("the naive inbox without a flaw", flawedInbox("none"));

describe("the kit catches a dedup", () => {
  it.each(Object.entries(BROKEN_DEDUPS))("with the flaw %s: %s", async (flaw, promises) => {
    const found = await foundBroken(flawedDedup(flaw as DedupFlaw), promises);
    expect(found.toSorted()).toEqual(promises.toSorted());
  });

  it("by every promise that it makes: none holds for all", () => {
    const named = new Set(Object.values(BROKEN_DEDUPS).flat());
    const unproved = due(flawedDedup("none")).filter(({ name }) => !named.has(name));
    expect(unproved.map(({ name }) => name)).toEqual([]);
  });
});

describe("the kit catches an inbox", () => {
  it.each(Object.entries(BROKEN_INBOXES))("with the flaw %s: %s", async (flaw, promises) => {
    const found = await foundBroken(flawedInbox(flaw as InboxFlaw), promises);
    expect(found.toSorted()).toEqual(promises.toSorted());
  });

  it("by every promise that it makes: none holds for all", () => {
    const named = new Set(Object.values(BROKEN_INBOXES).flat());
    const unproved = due(flawedInbox("none")).filter(({ name }) => !named.has(name));
    expect(unproved.map(({ name }) => name)).toEqual([]);
  });
});

describe("the model catches", () => {
  dedupModelTest("the naive dedup without a flaw", dedupWith("none"), { numRuns: 30 });
  inboxModelTest("the naive inbox without a flaw", inboxWith("none"), { numRuns: 30 });

  it.each<DedupFlaw>([
    "check_then_insert",
    "expiry_ignored",
    "insert_outside_the_transaction",
    "commit_forgets",
  ])("a dedup with the flaw %s", async (flaw) => {
    await expect(checkDedupModel(dedupWith(flaw), 1000)).rejects.toThrow("Counterexample");
  });

  it.each<InboxFlaw>([
    "check_then_insert",
    "conflict_applied",
    "attempts_not_counted",
    "failure_overwrites_success",
    "purge_removes_failed",
    "purge_newest_first",
    "touch_ignored",
  ])("an inbox with the flaw %s", async (flaw) => {
    await expect(checkInboxModel(inboxWith(flaw), 1000)).rejects.toThrow("Counterexample");
  });
});

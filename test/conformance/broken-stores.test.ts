import { dedupConformance, inboxConformance } from "posthorn/testing";
import type { Case } from "posthorn/testing";
import { describe, expect, it } from "vitest";
import { BROKEN_DEDUPS, BROKEN_INBOXES } from "./broken-stores.js";
import { inProcessDedup, inProcessInbox } from "./memory-harness.js";
import { NaiveDedup } from "./naive-dedup.js";
import type { DedupFlaw } from "./naive-dedup.js";
import { NaiveInbox } from "./naive-inbox.js";
import type { InboxFlaw } from "./naive-inbox.js";
import { runConformance } from "./run-conformance.js";

const flawedDedup = (flaw: DedupFlaw): Case[] =>
  dedupConformance(inProcessDedup((clock) => new NaiveDedup(flaw, clock).bench()));
const flawedInbox = (flaw: InboxFlaw): Case[] =>
  inboxConformance(inProcessInbox((clock) => new NaiveInbox(flaw, clock), { patienceMs: 400 }));

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
    const named = Object.values(BROKEN_DEDUPS).flat();
    const unproved = due(flawedDedup("none")).filter(({ name }) => !named.includes(name));
    expect(unproved.map(({ name }) => name)).toEqual([]);
  });
});

describe("the kit catches an inbox", () => {
  it.each(Object.entries(BROKEN_INBOXES))("with the flaw %s: %s", async (flaw, promises) => {
    const found = await foundBroken(flawedInbox(flaw as InboxFlaw), promises);
    expect(found.toSorted()).toEqual(promises.toSorted());
  });

  it("by every promise that it makes: none holds for all", () => {
    const named = Object.values(BROKEN_INBOXES).flat();
    const unproved = due(flawedInbox("none")).filter(({ name }) => !named.includes(name));
    expect(unproved.map(({ name }) => name)).toEqual([]);
  });
});

import type { Receiver } from "posthorn";
import { memoryStore } from "posthorn/memory";
import { createRepair, githubLog } from "posthorn/repair";
import type { DeliveryLog } from "posthorn/repair";
import { createFakeClock } from "posthorn/testing";
import { describe, expect, it, vi } from "vitest";
import { githubApi } from "./provider-apis.js";
import type { Made } from "./provider-apis.js";
import { delivery, HOOK, localEgress, PATH } from "./repair-promises.js";
import { HOUR_MS, idsOf, listed, many, NOON, setUp, SINCE } from "./repair-world.js";

type Get = ReturnType<ReturnType<typeof localEgress>>["get"];

/** A way out by which number 2 of GitHub's list has no time, and number 3 no guid. */
const withOdd =
  (get: Get): Get =>
  async (request) => {
    const answer = await get(request);
    const list = Buffer.from(answer.answer ?? [])
      .toString()
      .replace(/("id":2,"guid":"[^"]*"),"delivered_at":"[^"]*"/, "$1")
      .replace(/("id":3),"guid":"[^"]*"/, "$1");
    return { ...answer, answer: Buffer.from(list) };
  };

describe("a repair with an API that fails", () => {
  const reach = localEgress();
  const hooked = (baseUrl: string) => githubLog({ egress: reach(), token: "ghp_test", hook: HOOK, baseUrl });

  it.each([404, 500])(
    "applies what follows a delivery that GitHub answers with %i, and tries that again",
    async (status) => {
      const { clock, applied, repairOf } = setUp();
      const log = many(6);
      const api = await githubApi(PATH, () => log);
      const repair = repairOf({ github: hooked(api.baseUrl) });
      api.failWith(status, { path: /\/1$/ });
      expect(await repair.once()).toMatchObject([{ read: 6, applied: 5, unsettled: 1, more: false }]);
      await clock.advance(60_000);
      expect(await repair.once()).toMatchObject([{ applied: 0, unsettled: 1 }]);
      api.failWith(undefined);
      await clock.advance(60_000);
      expect(await repair.once()).toMatchObject([{ applied: 1, unsettled: 0 }]);
      expect(applied.toSorted()).toEqual(idsOf(log).toSorted());
    },
  );

  it("does not ask for each of a hundred deliveries while the API is down, and gets them all later", async () => {
    const { clock, applied, repairOf } = setUp();
    const log = many(100);
    const api = await githubApi(PATH, () => log);
    const repair = repairOf({ github: hooked(api.baseUrl) });
    api.failWith(503, { path: /\/\d+$/ });
    expect(await repair.once()).toMatchObject([{ applied: 0, unsettled: 100, more: false }]);
    expect(api.asked.length).toBeLessThan(10);
    api.failWith(undefined);
    await clock.advance(60_000);
    expect(await repair.once()).toMatchObject([{ applied: 100, unsettled: 0 }]);
    expect(applied.toSorted()).toEqual(idsOf(log).toSorted());
  });

  it.each([401, 403, 429])(
    "stops at an answer of %i, and asks no sooner than it was told",
    async (status) => {
      const { clock, applied, repairOf, signals } = setUp();
      const log = many(5);
      const api = await githubApi(PATH, () => log);
      const repair = repairOf({ github: hooked(api.baseUrl) });
      api.failWith(status, { path: /\/3$/, headers: { "retry-after": "600" } });
      expect(await repair.once()).toMatchObject([
        { applied: 2, unsettled: 3, until: log[2]?.at, more: false },
      ]);
      expect(signals.filter(({ kind }) => kind === "repair_failed")).toHaveLength(1);
      api.failWith(undefined);
      const { length } = api.asked;
      await clock.advance(599_000);
      await expect(repair.once()).rejects.toThrow("asked us to wait");
      expect(api.asked).toHaveLength(length);
      await clock.advance(1000);
      expect(await repair.once()).toMatchObject([{ applied: 3, unsettled: 0 }]);
      expect(applied).toEqual(idsOf(log));
    },
  );

  it("is not stopped by entries in an odd shape, and tells of one that cannot be known until it has left the log", async () => {
    const { clock, applied, repairOf, signals } = setUp();
    const log = many(4);
    const api = await githubApi(PATH, () => log);
    const get = withOdd((request) => reach().get(request));
    const repair = repairOf({
      github: githubLog({ egress: { get }, token: "t", hook: HOOK, baseUrl: api.baseUrl }),
    });
    const told = (): number =>
      signals.filter((each) => each.kind === "repair_failed" && each.message.includes("the delivery 3"))
        .length;
    expect(await repair.once()).toMatchObject([{ read: 4, applied: 3, unsettled: 1, until: new Date(NOON) }]);
    expect(applied).toEqual(["guid-0", "guid-1", "guid-3"]);
    expect(told()).toBe(1);
    await clock.advance(60_000);
    expect(await repair.once()).toMatchObject([{ applied: 0, unsettled: 1 }]);
    expect(told()).toBe(2);
    log.splice(0);
    await clock.advance(60_000);
    await repair.once();
    expect(signals.at(-2)).toMatchObject({
      message: expect.stringContaining("will not be: the delivery 3") as string,
    });
  });

  it("brings the data of a hook that sends forms: the log has it as JSON", async () => {
    const { data, repairOf } = setUp();
    const made = delivery(7, NOON - HOUR_MS, false);
    const headers = { ...made.headers, "Content-Type": "application/x-www-form-urlencoded" };
    const api = await githubApi(PATH, () => [{ ...made, headers }]);
    expect(await repairOf({ github: hooked(api.baseUrl) }).once()).toMatchObject([{ applied: 1 }]);
    expect(data).toEqual([{ action: "opened", issue: { number: 7 } }]);
  });

  it("without an observer speaks on stderr, once", async () => {
    const warned = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    try {
      const { clock, store, receiver } = setUp();
      const api = await githubApi(PATH, () => []);
      api.failWith(401);
      const repair = createRepair({
        receiver,
        store,
        clock,
        since: SINCE,
        logs: { github: hooked(api.baseUrl) },
      });
      for (let runs = 0; runs < 2; runs++) await expect(repair.once()).rejects.toThrow("401");
      expect(warned.mock.calls.flat().join("\n")).toMatch(
        /^posthorn: The repair of github has failed: .*401/,
      );
      expect(warned).toHaveBeenCalledTimes(1);
    } finally {
      warned.mockRestore();
    }
  });
});

describe("a repair with handlers that fail", () => {
  it("applies what follows a handler that is past its deadline", async () => {
    const world = setUp();
    const made = many(4);
    world.handle = async ({ id }) => {
      if (id === "guid-0") await world.clock.advance(60_000);
    };
    const { log } = listed(() => made);
    expect(await world.repairOf({ github: log }).once()).toMatchObject([{ applied: 3, unsettled: 1 }]);
    expect(world.applied).toContain("guid-3");
  });

  it("moves on past an event that fails for good, also where a run may not read all, and tries it again", async () => {
    const world = setUp();
    const made = many(200);
    world.handle = ({ id }) => {
      if (id === "guid-0") throw new Error("the handler failed");
    };
    const { log } = listed(() => made);
    const repair = world.repairOf({ github: log }, { maxEntries: 50, overlapMs: 1000 });
    const more: unknown[] = [];
    for (let runs = 0; runs < 4; runs++) more.push((await repair.once())[0]?.more);
    expect(more).toEqual([true, true, true, false]);
    expect(world.applied).toEqual(idsOf(made).slice(1));
    world.handle = () => undefined;
    expect(await repair.once()).toMatchObject([{ applied: 1, unsettled: 0 }]);
    expect(new Set(world.applied).size).toBe(200);
    expect(world.applied).toHaveLength(200);
  });

  it("tells what has left the log before it could be applied", async () => {
    const world = setUp();
    let made: readonly Made[] = many(2);
    world.handle = () => {
      throw new Error("the handler failed");
    };
    const { log } = listed(() => made);
    const repair = world.repairOf({ github: log });
    expect(await repair.once()).toMatchObject([{ unsettled: 2 }]);
    made = made.slice(1);
    expect(await repair.once()).toMatchObject([{ unsettled: 1 }]);
    expect(world.signals).toContainEqual(
      expect.objectContaining({
        kind: "repair_failed",
        message: expect.stringMatching(/no longer .*guid-0/),
      }),
    );
  });
});

describe("the cursor of a repair", () => {
  it("is that of one log: two of a source, and two tenants of one name, each get what they missed", async () => {
    const clock = createFakeClock({ at: NOON });
    const store = memoryStore({ clock, environment: "test" });
    const one = setUp({ clock, store, tenant: "one" });
    const two = setUp({ clock, store, tenant: "two" });
    const quiet = listed(() => [], { name: "quiet" }).log;
    const { log } = listed(() => many(5));
    expect(await one.repairOf({ github: [quiet, log] }).once()).toMatchObject([
      { log: "quiet", applied: 0 },
      { log: "list", applied: 5 },
    ]);
    await clock.advance(HOUR_MS);
    expect(await two.repairOf({ github: log }).once()).toMatchObject([{ applied: 5 }]);
    expect(() => one.repairOf({ github: [log, log] })).toThrow("expected different ones");
  });

  it("passes an overlap that has more entries than a run may read", async () => {
    const world = setUp();
    const made = many(1200, 100);
    const { log } = listed(() => made);
    const repair = world.repairOf({ github: log }, { maxEntries: 50, overlapMs: 300_000 });
    let runs = 0;
    for (let more = true; more && runs < 100; runs++) more = (await repair.once())[0]?.more ?? false;
    expect(world.applied).toEqual(idsOf(made));
    expect(runs).toBe(24);
  });

  it("goes on at once after a batch of which everything was known before", async () => {
    const world = setUp();
    const made = many(100);
    const { log } = listed(() => made);
    await world.repairOf({ github: log }).once();
    // Another store of cursors: the same log from its beginning.
    const again = world.repairOf(
      { github: log },
      { store: memoryStore({ environment: "test" }), maxEntries: 50 },
    );
    expect(await again.once()).toMatchObject([{ duplicate: 50, applied: 0, more: true }]);
  });

  it("skips no downtime after a clock that ran fast was mended", async () => {
    const fast = setUp();
    const made = many(3, 1000, NOON - 10_000);
    const { log } = listed(() => made);
    const hourAhead = createFakeClock({ at: NOON + HOUR_MS });
    await fast.repairOf({ github: log }, { clock: hourAhead }).once();
    expect(fast.applied).toHaveLength(3);
    made.push(delivery(3, NOON + 60_000));
    await fast.clock.advance(2 * HOUR_MS);
    expect(await fast.repairOf({ github: log }).once()).toMatchObject([{ applied: 1 }]);
  });

  it.each(["answered", "broken off"])(
    "stays, without a word, where the process ends while a page is read that is %s",
    async (how) => {
      const { repairOf, signals, applied } = setUp();
      const stop = new AbortController();
      const { log } = listed(() => many(5));
      const ending: DeliveryLog = {
        ...log,
        page(request) {
          stop.abort();
          return how === "answered" ? log.page(request) : Promise.reject(new Error("aborted"));
        },
      };
      expect(await repairOf({ github: ending }).once(stop.signal)).toEqual([]);
      expect(signals).toEqual([]);
      expect(await repairOf({ github: log }).once()).toMatchObject([{ applied: 5 }]);
      expect(applied).toHaveLength(5);
    },
  );
});

describe("a repair and the receiver's memory", () => {
  it("applies nothing twice that the receiver may have forgotten, and counts it as stale", async () => {
    const { clock, applied, receiver, repairOf } = setUp({ windowS: 3600 });
    const first = delivery(0, NOON);
    await clock.advance(1000);
    const { headers = {}, body } = first;
    await (receiver as Receiver).receive("github", { headers, body: Buffer.from(body) });
    expect(applied).toEqual(["guid-0"]);
    const { log } = listed(() => [first, delivery(1, NOON + 1.9 * HOUR_MS)]);
    await clock.advance(2 * HOUR_MS);
    await receiver.purge();
    expect(await repairOf({ github: log }).once()).toMatchObject([{ read: 2, applied: 1, stale: 1 }]);
    expect(applied).toEqual(["guid-0", "guid-1"]);
  });

  it("is refused where the overlap is longer than that memory", () => {
    const { repairOf } = setUp({ windowS: 60 });
    expect(() => repairOf({ github: listed(() => []).log })).toThrow(/overlapMs is 300000.*60 s/);
  });

  it("applies no delivery that is not the event which the log names", async () => {
    const { applied, repairOf, signals } = setUp();
    const { log } = listed(() => [{ ...delivery(0, NOON - 1000), headers: { "X-GitHub-Event": "issues" } }]);
    expect(await repairOf({ github: log }).once()).toMatchObject([{ applied: 0, unsettled: 1 }]);
    expect(applied).toEqual([]);
    expect(signals[0]).toMatchObject({ message: expect.stringContaining("one without an id") });
  });

  it("applies what follows thirty deliveries that are none of the events which the log names", async () => {
    const { applied, repairOf } = setUp();
    const made = many(40);
    const headers = { "X-GitHub-Event": "issues" };
    const { log } = listed(() => made.map((each, n) => (n < 30 ? { ...each, headers } : each)));
    expect(await repairOf({ github: log }).once()).toMatchObject([{ applied: 10, unsettled: 30 }]);
    expect(applied).toEqual(idsOf(made).slice(30));
  });

  it("counts every entry that it read under one figure", async () => {
    const world = setUp();
    const made = many(3);
    const ping = {
      ...delivery(3, NOON - 1000),
      headers: { ...made[0]?.headers, "X-GitHub-Delivery": "guid-3", "X-GitHub-Event": "star" },
    };
    const old = delivery(4, NOON - 1.9 * HOUR_MS);
    world.handle = ({ id }) => {
      if (id === "guid-1") throw new Error("the handler failed");
    };
    const { log } = listed(() => [old, ...made, ping]);
    await world.receiver.receive("github", {
      headers: made[0]?.headers ?? {},
      body: Buffer.from(made[0]?.body ?? ""),
    });
    const [report] = await world.repairOf({ github: log }).once();
    expect(report).toMatchObject({ read: 5, applied: 2, duplicate: 1, skipped: 1, stale: 0, unsettled: 1 });
  });
});

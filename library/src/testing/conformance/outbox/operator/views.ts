import { sha256 } from "#crypto";
import { utf8 } from "../../../../bytes.js";
import type { Page } from "../../../../operator/operator-store.js";
import { MOST_REPEATED_BODIES } from "../../../../outbox/ingest-store.js";
import type { IncomingRepeat } from "../../../../outbox/ingest-store.js";
import { alike, holds, same, sameBytes } from "../../expectation.js";
import type { OutboxBench, OutboxPledge } from "../harness.js";
import {
  acknowledge,
  addEndpoint,
  claimOne,
  deliveryIn,
  eventOf,
  fail,
  kill,
  listAll,
  outboxOf,
  passTicks,
  publish,
  ticksMs,
} from "../steps.js";

const RECEIVED = Date.UTC(2030, 0, 1);

async function repeat(
  { time }: OutboxBench,
  body: string,
  given: Partial<IncomingRepeat> & { readonly window?: number; readonly second?: number } = {},
): Promise<IncomingRepeat> {
  const { window, second = 0, ...rest } = given;
  return {
    tenant: "default",
    eventId: "e1",
    kind: "duplicate",
    receivedAt: new Date(RECEIVED + second * 1000),
    headers: { "content-type": "text/plain", "x-odd": "a\0b" },
    body: utf8(body),
    bodyHash: await sha256(utf8(body)),
    windowS: window === undefined ? undefined : window * time.tickS,
    ...rest,
  };
}

async function ingestNamed(bench: OutboxBench, id: string, name: string, window?: number): Promise<void> {
  const event = await eventOf({
    id,
    body: utf8("own"),
    origin: { providerId: `theirs_${id}`, verifiedBy: "key 2" },
  });
  await outboxOf(bench).ingest({
    event,
    names: [{ name, bodyHash: undefined }],
    windowS: window === undefined ? undefined : window * bench.time.tickS,
  });
}

/** What the views of a gateway promise. */
export const outboxViews: readonly OutboxPledge[] = [
  {
    name: "the standings count what waits at each endpoint, what is blocked, and for how long",
    async check(bench) {
      alike(await outboxOf(bench).standings(), [], "standings of an empty outbox");
      await addEndpoint(bench, { id: "ep_b", tenant: "acme" });
      await addEndpoint(bench);
      await publish(bench, ["a1", "a2", "a3"], { key: "a" });
      await publish(bench, ["b1"], { key: "b" });
      await kill(bench, await claimOne(bench, { limit: 1 }));
      await fail(bench, await claimOne(bench, { limit: 1 }), 100);
      await addEndpoint(bench, { id: "ep_loose", order: "none", tenant: "loose" });
      await publish(bench, ["l1", "l2"], { tenant: "loose" });
      await passTicks(bench, 2);
      const [first, second, ...others] = await outboxOf(bench, 1).standings();
      holds(
        first !== undefined && second !== undefined && others.length === 0,
        "There are not two standings",
      );
      const { oldestMs = 0, ...counts } = first;
      alike(
        counts,
        {
          endpointId: "ep_a",
          tenant: "default",
          waiting: 4,
          haltedLanes: 1,
          parkedLanes: 0,
          retryingLanes: 1,
          blocked: 3,
          exact: true,
        },
        "the first",
      );
      holds(
        oldestMs >= ticksMs(bench, 2) && oldestMs < ticksMs(bench, 3),
        `Its oldest is ${oldestMs} ms old after two ticks`,
      );
      alike([second.endpointId, second.waiting, second.blocked], ["ep_loose", 2, 0], "the second");
    },
  },
  {
    name: "a lane's queue is told from both ends, in order, and what is finished before it",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3", "e4", "e5", "e6"]);
      const one = await claimOne(bench);
      const two = await acknowledge(bench, one, { next: true });
      holds(two !== undefined, "There is no next head");
      await acknowledge(bench, two);
      const [lane] = (await outboxOf(bench).lanes({}, { limit: 1 })).items;
      holds(lane !== undefined, "There is no lane");
      const ids = async (part: "first" | "last" | "finished", limit: number): Promise<string> =>
        (await outboxOf(bench, 1).queue(lane.id, part, limit)).map(({ eventId }) => eventId).join(" ");
      same(await ids("first", 3), "e3 e4 e5", "the first three");
      same(await ids("last", 2), "e5 e6", "the last two");
      same(await ids("first", 100), "e3 e4 e5 e6", "all that wait");
      same(await ids("finished", 1), "e2", "the last that is finished");
      same(await ids("finished", 100), "e1 e2", "all that are finished");
      same(await ids("first", 0), "", "none");
      const [head] = await outboxOf(bench).queue(lane.id, "first", 1);
      alike(
        [head?.sequence, head?.type, head?.time.toISOString()],
        [lane.head, "order.paid", "2030-01-01T12:00:00.007Z"],
        "the head",
      );
      alike(await outboxOf(bench).queue(999_999n, "first", 10), [], "a lane that there never was");
    },
  },
  {
    name: "the ends of a delivery say how each round ended, and what became of it",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      const claimed = await claimOne(bench);
      const id = deliveryIn(claimed);
      alike(await outboxOf(bench).ends(id), [], "the ends of what is under way");
      await kill(bench, claimed);
      const told = async (): Promise<readonly string[]> =>
        (await outboxOf(bench, 1).ends(id)).map(
          ({ round, how, because, resolvedHow }) => `${round} ${how} ${because} ${resolvedHow ?? "open"}`,
        );
      alike(await told(), ["1 dead exhausted open"], "after its death");
      await outboxOf(bench).redrive(id);
      alike(await told(), ["1 dead exhausted redriven"], "after its redrive");
      await kill(bench, await claimOne(bench));
      alike(await told(), ["1 dead exhausted redriven", "2 dead exhausted open"], "after its second death");
      alike(await outboxOf(bench).ends("dlv_999_999"), [], "the ends of what there is not");
      alike(await outboxOf(bench).ends("none"), [], "the ends of what is no id");
    },
  },
  {
    name: "duplicates and conflicts are counted by body, and their bytes kept where they are not the event's own",
    async check(bench) {
      await ingestNamed(bench, "e1", "shop/1");
      await outboxOf(bench).recordRepeats([]);
      await outboxOf(bench).recordRepeats([
        await repeat(bench, "own", { second: 5 }),
        await repeat(bench, "own", { second: 2 }),
        await repeat(bench, "other\0", { kind: "conflict", second: 3 }),
      ]);
      await outboxOf(bench, 1).recordRepeats([
        await repeat(bench, "own", { second: 9 }),
        await repeat(bench, "elsewhere", { eventId: "e2" }),
        await repeat(bench, "elsewhere", { tenant: "acme" }),
      ]);
      const found = await outboxOf(bench).repeats("default", "e1");
      alike(
        found.map(({ kind, receipts, firstAt, lastAt }) => [
          kind,
          receipts,
          firstAt.getTime() - RECEIVED,
          lastAt.getTime() - RECEIVED,
        ]),
        [
          ["duplicate", 3, 2000, 9000],
          ["conflict", 1, 3000, 3000],
        ],
        "the repeats",
      );
      same(found[0]?.body, undefined, "the bytes that are the event's own");
      sameBytes(found[1]?.body, utf8("other\0"), "the bytes of the conflict");
      sameBytes(found[1]?.bodyHash, await sha256(utf8("other\0")), "their hash");
      same(found[0]?.headers["content-type"], "text/plain", "a header");
      alike(await outboxOf(bench).repeats("default", "e9"), [], "the repeats of another event");
    },
  },
  {
    name: "of one event only some bodies are kept, and those whose window has passed are forgotten",
    async check(bench) {
      await ingestNamed(bench, "e1", "shop/1");
      for (let from = 0; from < MOST_REPEATED_BODIES + 10; from += 10) {
        const bodies = Array.from({ length: 10 }, (_, n) => repeat(bench, `body ${from + n}`, { window: 2 }));
        await outboxOf(bench).recordRepeats(await Promise.all(bodies));
      }
      const kept = await outboxOf(bench).repeats("default", "e1");
      same(kept.length, MOST_REPEATED_BODIES, "how many bodies are kept");
      await passTicks(bench, 3);
      await outboxOf(bench).recordRepeats([await repeat(bench, "new", { eventId: "e2", window: 2 })]);
      same((await outboxOf(bench).repeats("default", "e1")).length, 0, "those whose window has passed");
      same((await outboxOf(bench).repeats("default", "e2")).length, 1, "those whose window has not");
    },
  },
  {
    name: "an event is found by the name under which it came, while its window lasts",
    async check(bench) {
      await ingestNamed(bench, "e1", "shop/id/1", 2);
      await ingestNamed(bench, "e2", "shop/id/2");
      const named = (tenant: string, ...names: readonly string[]): Promise<readonly string[]> =>
        outboxOf(bench, 1).namedEvents(tenant, names);
      alike(await named("default", "shop/id/1", "other/id/1"), ["e1"], "by its name");
      alike(await named("acme", "shop/id/1"), [], "at another tenant");
      alike(await named("default"), [], "by no name");
      await passTicks(bench, 200);
      alike(await named("default", "shop/id/1"), [], "after its window");
      alike(await named("default", "shop/id/2"), ["e2"], "where the window never ends");
    },
  },
  {
    name: "event ids are found by how they begin, the last first, within a tenant",
    async check(bench) {
      await publish(bench, ["evt_a1", "evt_a2", "evt_b1", "evt_%", "EVT_a9"]);
      await publish(bench, ["evt_a3"], { tenant: "acme" });
      const ids = (prefix: string, limit = 10): Promise<readonly string[]> =>
        outboxOf(bench, 1).eventIds("default", prefix, limit);
      alike(await ids("evt_a"), ["evt_a2", "evt_a1"], "by a beginning");
      alike(await ids("evt_", 2), ["evt_b1", "evt_a2"], "two of them");
      alike(await ids("evt_b1"), ["evt_b1"], "by the whole");
      alike(await ids("evt_%"), ["evt_%"], "by a sign that patterns use");
      alike(await ids("x"), [], "by another");
    },
  },
  {
    name: "the tenants that have an event of an id are found, in the order of their names",
    async check(bench) {
      await publish(bench, ["evt_1", "evt_2"], { tenant: "zeta" });
      await publish(bench, ["evt_1"], { tenant: "acme" });
      await publish(bench, ["evt_1"]);
      const tenants = (id: string): Promise<readonly string[]> => outboxOf(bench, 1).tenantsOf(id);
      alike(await tenants("evt_1"), ["acme", "default", "zeta"], "of an id that three have");
      alike(await tenants("evt_2"), ["zeta"], "of an id that one has");
      alike(await tenants("evt_"), [], "of the beginning of an id");
    },
  },
  {
    name: "an event says where it came from, and when it was written",
    async check(bench) {
      await ingestNamed(bench, "in", "shop/1");
      await publish(bench, ["out"]);
      const [out, into] = await listAll((page: Page) => outboxOf(bench, 1).events({}, page), 10);
      alike(
        [into?.direction, into?.providerId, into?.verifiedBy],
        ["in", "theirs_in", "key 2"],
        "an event that came from elsewhere",
      );
      alike(
        [out?.direction, out?.providerId, out?.verifiedBy, out?.causedBy],
        ["out", undefined, undefined, undefined],
        "an event that was published",
      );
      holds(
        into !== undefined && out !== undefined && into.writtenAt <= out.writtenAt,
        "They are not in order",
      );
      alike(
        await outboxOf(bench)
          .event("default", "in")
          .then((found) => found?.providerId),
        "theirs_in",
        "by its id",
      );
    },
  },
  {
    name: "events of a span of time are those that were written in it, page by page",
    async check(bench) {
      await publish(bench, ["e1", "e2"], { type: "a" });
      await passTicks(bench, 2);
      await publish(bench, ["e3", "e4"], { type: "b" });
      await passTicks(bench, 2);
      await publish(bench, ["e5", "e6"], { type: "a" });
      const all = await listAll((page: Page) => outboxOf(bench).events({}, page), 10);
      const writtenAt = new Map(all.map((event) => [event.id, event.writtenAt]));
      const [since, until] = [writtenAt.get("e3"), writtenAt.get("e5")];
      holds(since !== undefined && until !== undefined, "Not all are listed");
      const ids = async (filter: object, limit = 1): Promise<string> =>
        (await listAll((page: Page) => outboxOf(bench, 1).events(filter, page), limit))
          .map(({ id }) => id)
          .join(" ");
      same(await ids({ since }), "e6 e5 e4 e3", "since the third");
      same(await ids({ until }), "e4 e3 e2 e1", "until the fifth");
      same(await ids({ since, until }), "e4 e3", "between them");
      same(await ids({ since, type: "a" }), "e6 e5", "since the third, of one type");
      same(
        await ids({ since, tenant: "default", key: "k" }, 3),
        "e6 e5 e4 e3",
        "since the third, of one key",
      );
      same(await ids({ since: new Date(Date.UTC(2200, 0, 1)) }), "", "of the future");
      same(await ids({ until: new Date(0) }), "", "of long ago");
    },
  },
];

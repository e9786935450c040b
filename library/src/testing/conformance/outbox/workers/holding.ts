import type { IncomingName } from "../../../../event.js";
import type { HoldMark } from "../../../../hold-mark.js";
import { ENDPOINTS } from "../../../../lanes/lane-store.js";
import type { Ingested } from "../../../../outbox/ingest-store.js";
import { alike, holds, same } from "../../expectation.js";
import { A, register, storedEvent } from "./handlers.js";
import type { OutboxBench, OutboxPledge } from "../harness.js";
import {
  acknowledge,
  addEndpoint,
  claim,
  claimOne,
  claimsNothing,
  deliverAll,
  kill,
  listAll,
  outboxOf,
  passTicks,
  sequenceAll,
  ticksMs,
} from "../steps.js";

/** What stored events promise that have a place in the sequence of their key. */
export const outboxHolding: readonly OutboxPledge[] = [
  {
    name: "an event is held until the one before it in the sequence of its key has come",
    async check(bench) {
      await register(bench, {});
      await come(bench, [1, 3]);
      same(await deliverAll(bench, { of: A }), "e1", "before the gap closes");
      await come(bench, [2]);
      same(await deliverAll(bench, { of: A }), "e2 e3", "after it");
    },
  },
  {
    name: "whatever the order in which events come, they go in the order of their sequence",
    async check(bench) {
      await register(bench, {});
      await come(bench, [1]);
      for (const n of [9, 4, 7, 3, 8, 5, 6]) await come(bench, [n]);
      await come(bench, [2, 10]);
      same(await deliverAll(bench, { of: A }), "e1 e2 e3 e4 e5 e6 e7 e8 e9 e10", "what goes");
    },
  },
  {
    name: "the first event of a key starts its sequence, and keys, sources and tenants do not wait for each other",
    async check(bench) {
      await register(bench, {});
      await come(bench, [7], { key: "a" });
      await come(bench, [20], { key: "b" });
      await come(bench, [30], { key: "a", source: "github" });
      await come(bench, [40], { key: "a", tenant: "other" });
      await come(bench, [9], { key: "a" });
      await come(bench, [21], { key: "b" });
      const went = (await deliverAll(bench, { of: A })).split(" ").toSorted();
      alike(went, ["e20", "e21", "e30", "e40", "e7"], "what goes");
    },
  },
  {
    name: "where its mark says with which a key starts, the first events of a key wait for that one, no longer than they may",
    async check(bench) {
      await register(bench, {});
      await come(bench, [3, 2], { first: 1n });
      await claimsNothing(bench, "before the first has come", { of: A });
      const held = await outboxOf(bench).heldEvent("default", "e2");
      alike(held?.hold?.missing, { from: 1n, to: 1n }, "what is missing before 2");
      await come(bench, [1], { first: 1n });
      same(await deliverAll(bench, { of: A }), "e1 e2 e3", "after it");
      await come(bench, [6], { first: 5n, key: "other", maxMs: 1 });
      await passTicks(bench, 1);
      await sequenceAll(bench);
      const gap = { from: 5n, to: 5n, because: "time" } as const;
      alike(
        decidedOf(await claimOne(bench, { of: A })),
        { sequence: 6n, gap },
        "what went without the first",
      );
    },
  },
  {
    name: "no event is held for longer than it may: what was waited for is given up, and the event says so",
    async check(bench) {
      await register(bench, {});
      const maxMs = ticksMs(bench, 2);
      await come(bench, [1, 4, 7], { maxMs });
      same(await deliverAll(bench, { of: A }), "e1", "before its time is up");
      await passTicks(bench, 3);
      await sequenceAll(bench);
      const first = await claimOne(bench, { of: A });
      alike(decidedOf(first), { sequence: 4n, gap: { from: 2n, to: 3n, because: "time" } }, "the first");
      await acknowledge(bench, first);
      const second = await claimOne(bench, { of: A });
      alike(decidedOf(second), { sequence: 7n, gap: { from: 5n, to: 6n, because: "time" } }, "the second");
    },
  },
  {
    name: "a worker knows until when an event is held, and a dispatcher does not wait for it",
    async check(bench) {
      await register(bench, {});
      const maxMs = ticksMs(bench, 500);
      await come(bench, [1, 3], { maxMs });
      await deliverAll(bench, { of: A });
      const untilMs = (await outboxOf(bench, 1).untilDue(A)) ?? 0;
      holds(untilMs > 0 && untilMs <= maxMs, `untilDue of a worker is ${untilMs}`);
      same(await outboxOf(bench).untilDue(ENDPOINTS), undefined, "untilDue of a dispatcher");
      same((await outboxOf(bench).census()).staged, 1, "events without places");
    },
  },
  {
    name: "no more events of a key are held than may be: with one more, the first gap is given up",
    async check(bench) {
      await register(bench, {});
      await come(bench, [1, 3, 6], { maxEvents: 2 });
      same(await deliverAll(bench, { of: A }), "e1", "while there is room");
      await come(bench, [7], { maxEvents: 2 });
      const first = await claimOne(bench, { of: A });
      alike(decidedOf(first), { sequence: 3n, gap: { from: 2n, to: 2n, because: "number" } }, "the first");
      await acknowledge(bench, first);
      await claimsNothing(bench, "behind the second gap", { of: A });
    },
  },
  {
    name: "an event that comes after its place was passed goes at once, and says that it is late",
    async check(bench) {
      await register(bench, {});
      await come(bench, [1, 3], { maxMs: 1 });
      await passTicks(bench, 1);
      await sequenceAll(bench);
      same(await deliverAll(bench, { of: A }), "e1 e3", "after the gap was given up");
      await come(bench, [2]);
      const late = await claimOne(bench, { of: A });
      alike(decidedOf(late), { sequence: 2n, late: true }, "the late one");
      await acknowledge(bench, late);
      await come(bench, [4]);
      alike(decidedOf(await claimOne(bench, { of: A })), { sequence: 4n }, "the next one");
    },
  },
  {
    name: "a higher generation starts the sequence anew, after all that is held of the one before",
    async check(bench) {
      await register(bench, {});
      await come(bench, [1, 3]);
      await come(bench, [101], { generation: 2n });
      await come(bench, [102], { generation: 2n });
      same(await deliverAll(bench, { of: A }), "e1 e3 e101 e102", "what goes");
      await come(bench, [2]);
      alike(decidedOf(await claimOne(bench, { of: A })), { sequence: 2n, late: true }, "one of the first");
    },
  },
  {
    name: "where a step has no room for all events of a key whose turn has come, the others go in the next one, and are not late",
    async check(bench) {
      const handlers = Array.from({ length: 60 }, (_, n) => (n === 0 ? {} : { id: `hnd_${n}` }));
      await register(bench, ...handlers);
      const sequences = Array.from({ length: 100 }, (_, n) => n + 1);
      for (const n of sequences.slice(1)) await ingest(bench, n, { first: 1n });
      await sequenceAll(bench);
      await come(bench, [1], { first: 1n });
      const events = sequences.map((n) => `e${n}`);
      const records = await Promise.all(events.map((id) => outboxOf(bench).heldEvent("default", id)));
      const late = records.filter((record) => record?.isLate !== false).map((record) => record?.eventId);
      alike(late, [], "events that are late");
      same(await deliverAll(bench, { of: A }), events.join(" "), "what goes");
    },
  },
  {
    name: "a step that gives up a gap has done something, and whoever sequences takes the next one at once",
    async check(bench) {
      const sequences = Array.from({ length: 29 }, (_, n) => n + 2);
      for (const n of sequences) await ingest(bench, n, { first: 1n, maxEvents: 20 });
      await register(bench, {});
      let report;
      do report = await outboxOf(bench).sequence();
      while (report.more && report.events > 0);
      same(await deliverAll(bench, { of: A }), sequences.map((n) => `e${n}`).join(" "), "what goes");
    },
  },
  {
    name: "what its sender has skipped is not waited for",
    async check(bench) {
      await register(bench, {});
      await come(bench, [1]);
      await come(bench, [5], { after: 1n });
      await come(bench, [9], { after: undefined });
      same(await deliverAll(bench, { of: A }), "e1 e5 e9", "what goes");
    },
  },
  {
    name: "events that were stored before a handler was registered go in the order of their sequence, too",
    async check(bench) {
      await come(bench, [1, 3, 2]);
      await register(bench, {});
      await sequenceAll(bench);
      same(await deliverAll(bench, { of: A }), "e1 e2 e3", "what goes");
    },
  },
  {
    name: "each of several handlers gets a held event, in the same order",
    async check(bench) {
      await register(bench, {}, { id: "hnd_b" });
      await come(bench, [1, 3]);
      await come(bench, [2]);
      same(await deliverAll(bench, { of: A }), "e1 e2 e3", "of the one");
      same(await deliverAll(bench, { of: { kind: "handler", ids: ["hnd_b"] } }), "e1 e2 e3", "of the other");
    },
  },
  {
    name: "a redrive waits for nobody",
    async check(bench) {
      await register(bench, {});
      await come(bench, [1, 2]);
      await kill(bench, await claimOne(bench, { of: A }), "skip");
      await deliverAll(bench, { of: A });
      const [dead] = await listAll((page) => outboxOf(bench).deadLetters(page), 10);
      same(await outboxOf(bench).redrive(dead?.id ?? ""), "at_end", "redrive");
      await sequenceAll(bench);
      const again = await claimOne(bench, { of: A });
      alike(decidedOf(again), { sequence: 1n }, "what is due again");
    },
  },
  {
    name: "an event stays while it is held, and its key is forgotten when its events are",
    async check(bench) {
      await register(bench, {});
      await come(bench, [1, 3], { maxMs: ticksMs(bench, 500) });
      await deliverAll(bench, { of: A });
      await passTicks(bench, 20);
      await removeEvents(bench, 10);
      const left = await listAll((page) => outboxOf(bench).events({}, page), 10);
      alike(
        left.map(({ id }) => id),
        ["e3"],
        "the events that are left",
      );
      await come(bench, [2]);
      same(await deliverAll(bench, { of: A }), "e2 e3", "what goes");
      await passTicks(bench, 20);
      await removeEvents(bench, 10);
      await come(bench, [2], { prefix: "again" });
      alike(decidedOf(await claimOne(bench, { of: A })), { sequence: 2n }, "the first that comes again");
    },
  },
  {
    name: "two that sequence at once give each event its place once, in the order of its sequence",
    needs: ["manyWriters"],
    async check(bench) {
      await register(bench, {});
      await come(bench, [1]);
      const shuffled = Array.from({ length: 30 }, (_, n) => ((n * 7) % 30) + 2);
      for (const [index, n] of shuffled.entries()) {
        await ingest(bench, n, { at: index });
        if (index % 3 === 0) await Promise.all([outboxOf(bench).sequence(), outboxOf(bench, 1).sequence()]);
      }
      await sequenceAll(bench);
      const wanted = Array.from({ length: 31 }, (_, n) => `e${n + 1}`).join(" ");
      same(await deliverAll(bench, { of: A }), wanted, "what goes");
    },
  },
  {
    name: "an event without a place in a sequence, and what is published, go as they come",
    async check(bench) {
      await addEndpoint(bench);
      await register(bench, {});
      await come(bench, [1, 3]);
      const plain = await storedEvent("plain");
      const names = [{ name: "stripe/id/plain", bodyHash: undefined }] as const;
      await outboxOf(bench).ingest({ event: plain, names, windowS: undefined });
      await sequenceAll(bench);
      same(await deliverAll(bench, { of: A }), "e1 plain", "what goes");
      const { claims } = await claim(bench);
      alike(claims, [], "of an endpoint");
    },
  },
];

export interface Coming extends Partial<Omit<HoldMark, "sequence">> {
  readonly key?: string;
  readonly source?: string;
  readonly tenant?: string;
  /** Of the events' ids. @default "e" */
  readonly prefix?: string;
  /** Which outbox takes it. */
  readonly at?: number;
}

/** Events of these sequences are stored, one after the other, and sequenced each time. */
export async function come(
  bench: OutboxBench,
  sequences: readonly number[],
  wish: Coming = {},
): Promise<void> {
  for (const n of sequences) {
    await ingest(bench, n, wish);
    await sequenceAll(bench);
  }
}

async function ingest(bench: OutboxBench, n: number, wish: Coming): Promise<void> {
  const { source = "stripe", prefix = "e" } = wish;
  const id = `${prefix}${n}`;
  const name = { name: `${source}/id/${id}`, bodyHash: undefined };
  same(await take(bench, { id, name, n }, wish), "stored", `ingest of ${id}`);
}

/** Takes in an event of this sequence under this name, and says what came of it. */
export async function take(
  bench: OutboxBench,
  { id, name, n }: { readonly id: string; readonly name: IncomingName; readonly n: number },
  wish: Coming = {},
): Promise<Ingested["kind"]> {
  const { key = "k", source = "stripe", tenant = "default", prefix: _, at = 0, ...given } = wish;
  const sequence = BigInt(n);
  const mark = {
    generation: 1n,
    after: sequence - 1n,
    maxEvents: 100,
    maxMs: 86_400_000,
    ...given,
    sequence,
  };
  const event = await storedEvent(id, { key, source, tenant });
  const receipt = event.receipt && { ...event.receipt, hold: mark };
  const { kind } = await outboxOf(bench, at).ingest({
    event: { ...event, receipt },
    names: [name],
    windowS: undefined,
  });
  return kind;
}

type Decided = { readonly [Field in "sequence" | "gap" | "late"]?: HoldMark[Field] | undefined };

/** What was decided of a claim's head. */
export function decidedOf({ run: [{ event }] }: Awaited<ReturnType<typeof claimOne>>): Decided {
  const { sequence, gap, late } = event.receipt?.hold ?? {};
  return { sequence, ...(gap && { gap }), ...(late === true && { late }) };
}

export async function removeEvents(bench: OutboxBench, ticks: number): Promise<void> {
  const step = { kind: "events", windowMs: ticksMs(bench, ticks), limit: 100 } as const;
  let after: string | undefined;
  do {
    const removal = await outboxOf(bench).removeOld({ ...step, after });
    after = removal.kind === "done" ? removal.next : undefined;
  } while (after !== undefined);
}

import { sha256 } from "#crypto";
import { utf8 } from "../../../bytes.js";
import type { IncomingEvent, IncomingName, Ingested } from "../../../outbox/ingest-store.js";
import type { OutgoingEvent } from "../../../outbox/outgoing-event.js";
import { alike, holds, same, sameBytes, soon } from "../expectation.js";
import type { OutboxBench, OutboxPledge } from "./harness.js";
import {
  addEndpoint,
  claimOne,
  claimsNothing,
  dateAfter,
  deliverAll,
  eventOf,
  outboxOf,
  passTicks,
  sequenceAll,
} from "./steps.js";

interface Wish {
  readonly body?: string;
  /** In ticks; undefined = for ever. */
  readonly window?: number;
  readonly event?: Partial<OutgoingEvent>;
  /** Whether its names say what its body must be. @default true */
  readonly hashed?: boolean;
  /** Whether a duplicate starts the windows of its names again. @default true */
  readonly renews?: boolean;
  readonly at?: number;
}

/** An event as a gateway makes it, with an id of its own. */
async function incomingOf(
  { time }: OutboxBench,
  id: string,
  names: readonly string[],
  { body = "body", window, event = {}, hashed = true, renews = true }: Wish = {},
): Promise<IncomingEvent> {
  const bytes = utf8(body);
  const bodyHash = hashed ? await sha256(bytes) : undefined;
  const { contentHash: _, ...given } = event;
  return {
    event: await eventOf({ body: bytes, ...given, id }),
    names: names.map((name) => ({ name, bodyHash, renews })) as unknown as [IncomingName],
    windowS: window === undefined ? undefined : window * time.tickS,
  };
}

async function ingest(
  bench: OutboxBench,
  id: string,
  names: readonly string[],
  wish: Wish = {},
): Promise<Ingested> {
  const incoming = await incomingOf(bench, id, names, wish);
  return soon(outboxOf(bench, wish.at).ingest(incoming), "ingest", bench.patienceMs);
}

const stored = (id: string): Ingested => ({ kind: "stored", id });
const duplicate = (id: string): Ingested => ({ kind: "duplicate", id });
const conflict = (id: string): Ingested => ({ kind: "conflict", id });

/** What `ingest` and `forgetNames` promise. */
export const outboxIngest: readonly OutboxPledge[] = [
  {
    name: "an incoming event of which no name is known is stored, ready to be sequenced",
    async check(bench) {
      await addEndpoint(bench, { sources: ["shop"] });
      const event = {
        source: "shop",
        type: "order.made",
        key: "order_7",
        contentType: "text/plain",
        headers: { "x-shop": "eu" },
      };
      alike(await ingest(bench, "e1", ["shop/1"], { body: "raw\0bytes", event }), stored("e1"), "ingest");
      await sequenceAll(bench);
      const { lane, run } = await claimOne(bench);
      const { body, ...found } = run[0].event;
      sameBytes(body, utf8("raw\0bytes"), "its body");
      alike(
        [lane?.key, found.id, found.type, found.contentType, found.headers],
        ["order_7", "e1", "order.made", "text/plain", { "x-shop": "eu" }],
        "what is delivered",
      );
    },
  },
  {
    name: "an incoming event of which a name is known is a duplicate of the first, and is not stored",
    async check(bench) {
      await addEndpoint(bench);
      alike(await ingest(bench, "e1", ["shop/1"]), stored("e1"), "the first");
      alike(await ingest(bench, "e2", ["shop/1"], { at: 1 }), duplicate("e1"), "the second");
      await sequenceAll(bench);
      same(await deliverAll(bench), "e1", "what is delivered");
      alike(await ingest(bench, "e3", ["shop/1"]), duplicate("e1"), "one after its delivery");
      await sequenceAll(bench);
      await claimsNothing(bench, "of a duplicate");
      same(await outboxOf(bench).event("default", "e2"), undefined, "the event of a duplicate");
    },
  },
  {
    name: "an incoming event of which a name is known with another body is a conflict, and is not stored",
    async check(bench) {
      await addEndpoint(bench);
      await ingest(bench, "e1", ["shop/1"]);
      const other = await ingest(bench, "e2", ["shop/new", "shop/1"], { body: "other" });
      alike(other, conflict("e1"), "another body");
      await sequenceAll(bench);
      same(await deliverAll(bench), "e1", "what is delivered");
      alike(await ingest(bench, "e3", ["shop/1"]), duplicate("e1"), "the first body again");
      alike(
        await ingest(bench, "e4", ["shop/new"], { body: "other" }),
        stored("e4"),
        "the conflict's other name",
      );
    },
  },
  {
    name: "where a name says nothing of the body, another body is no conflict",
    async check(bench) {
      await ingest(bench, "e1", ["shop/1"], { hashed: false });
      const unhashed = await ingest(bench, "e2", ["shop/1"], { body: "other", hashed: false });
      alike(unhashed, duplicate("e1"), "another body");
      alike(await ingest(bench, "e3", ["shop/1"], { body: "third" }), duplicate("e1"), "one with a hash");
      await ingest(bench, "e4", ["shop/4"]);
      const later = await ingest(bench, "e5", ["shop/4"], { body: "other", hashed: false });
      alike(later, duplicate("e4"), "one without a hash");
    },
  },
  {
    name: "all names of an incoming event that came before are known from then on",
    async check(bench) {
      await addEndpoint(bench);
      alike(await ingest(bench, "e1", ["shop/1", "shop/hash"]), stored("e1"), "the first");
      alike(await ingest(bench, "e2", ["shop/hash"], { at: 1 }), duplicate("e1"), "by its second name");
      alike(await ingest(bench, "e3", ["shop/new", "shop/1"]), duplicate("e1"), "with a third name");
      alike(await ingest(bench, "e4", ["shop/new"], { at: 1 }), duplicate("e1"), "by its third name");
      await sequenceAll(bench);
      same(await deliverAll(bench), "e1", "what is delivered");
    },
  },
  {
    name: "the same name of another tenant, or in other letters, is another incoming event",
    async check(bench) {
      const acme = { event: { tenant: "acme" }, body: "theirs" };
      alike(await ingest(bench, "e1", ["shop/a"]), stored("e1"), "the first");
      alike(await ingest(bench, "e2", ["shop/a"], acme), stored("e2"), "that of another tenant");
      for (const [n, name] of [
        "shop/A",
        "shop/a'",
        "shop/",
        "shop/a%",
        "__proto__",
        "a".repeat(255),
      ].entries()) {
        alike(await ingest(bench, `odd${n}`, [name]), stored(`odd${n}`), `the name ${name}`);
        alike(await ingest(bench, "again", [name]), duplicate(`odd${n}`), `the name ${name} again`);
      }
    },
  },
  {
    name: "a name is known for its window after the last receipt, and is a new event's then",
    async check(bench) {
      alike(await ingest(bench, "e1", ["shop/1", "shop/b"], { window: 3 }), stored("e1"), "the first");
      await passTicks(bench, 2);
      alike(await ingest(bench, "e2", ["shop/1"], { window: 3 }), duplicate("e1"), "within the window");
      await passTicks(bench, 2);
      alike(
        await ingest(bench, "e3", ["shop/1"], { window: 1 }),
        duplicate("e1"),
        "in the window begun again",
      );
      alike(
        await ingest(bench, "e4", ["shop/b"], { window: 3 }),
        stored("e4"),
        "a name that did not come again",
      );
      await passTicks(bench, 5);
      alike(
        await ingest(bench, "e5", ["shop/1"], { body: "other", window: 3 }),
        stored("e5"),
        "after the window",
      );
      alike(await ingest(bench, "e6", ["shop/1"], { body: "other" }), duplicate("e5"), "the new one again");
    },
  },
  {
    name: "the window of a name that does not renew counts from its first receipt, however often it comes",
    async check(bench) {
      const wish = { window: 3, renews: false };
      alike(await ingest(bench, "e1", ["shop/1"], wish), stored("e1"), "the first");
      await passTicks(bench, 2);
      alike(await ingest(bench, "e2", ["shop/1"], wish), duplicate("e1"), "within the window");
      await passTicks(bench, 2);
      alike(await ingest(bench, "e3", ["shop/1"], wish), stored("e3"), "after the first one's window");
      await passTicks(bench, 2);
      alike(await ingest(bench, "e4", ["shop/1"], wish), duplicate("e3"), "within the new window");
    },
  },
  {
    name: "a receipt never shortens a window, and a name without one is known for ever",
    async check(bench) {
      await ingest(bench, "e1", ["shop/1"], { window: 9 });
      await ingest(bench, "e2", ["shop/1"], { window: 1 });
      await ingest(bench, "e3", ["shop/ever"]);
      await ingest(bench, "e4", ["shop/ever"], { window: 1 });
      await passTicks(bench, 5);
      alike(await ingest(bench, "e5", ["shop/1"], { window: 1 }), duplicate("e1"), "in the longer window");
      await passTicks(bench, 500);
      alike(await ingest(bench, "e6", ["shop/ever"]), duplicate("e3"), "without a window");
    },
  },
  {
    name: "of incoming events that share a name and come at once, one is stored",
    async check(bench) {
      await addEndpoint(bench);
      const coming = Array.from({ length: 12 }, (_, n) =>
        ingest(bench, `e${n}`, n % 2 === 0 ? ["shop/a", "shop/b"] : ["shop/b", "shop/a"], { at: n % 3 }),
      );
      const ingested = await soon(Promise.all(coming), "ingests at once", bench.patienceMs);
      const [first, ...others] = ingested.filter(({ kind }) => kind === "stored");
      holds(first !== undefined && others.length === 0, `${others.length + 1} were stored, not one`);
      const twins = ingested.filter(({ kind, id }) => kind === "duplicate" && id === first.id);
      same(twins.length, 11, "how many are duplicates of it");
      await sequenceAll(bench);
      same(await deliverAll(bench), first.id, "what is delivered");
    },
  },
  {
    name: "incoming events of the same moment are in the order of the calls, each with its own answer",
    async check(bench) {
      await addEndpoint(bench);
      await ingest(bench, "known", ["shop/known"]);
      const ids = Array.from({ length: 20 }, (_, n) => `e${n}`);
      const coming = await Promise.all([
        ...ids.map((id) => incomingOf(bench, id, [`shop/${id}`])),
        incomingOf(bench, "other", ["shop/known"], { body: "other" }),
        incomingOf(bench, "again", ["shop/e3"]),
      ]);
      const ingested = await Promise.all(coming.map((each) => outboxOf(bench).ingest(each)));
      alike(ingested, [...ids.map(stored), conflict("known"), duplicate("e3")], "their answers");
      await sequenceAll(bench);
      same(await deliverAll(bench), ["known", ...ids].join(" "), "what is delivered");
    },
  },
  {
    name: "an incoming event with deliverAt takes its place when it is due",
    async check(bench) {
      const deliverAt = await dateAfter(bench, 2);
      await addEndpoint(bench);
      alike(await ingest(bench, "e1", ["shop/1"], { event: { deliverAt } }), stored("e1"), "ingest");
      await ingest(bench, "e2", ["shop/2"]);
      await sequenceAll(bench);
      same(await deliverAll(bench), "e2", "what is delivered before");
      await passTicks(bench, 3);
      await sequenceAll(bench);
      same(await deliverAll(bench), "e1", "what is delivered when it is due");
    },
  },
  {
    name: "ingest rings the bell",
    async check(bench) {
      const hints: string[] = [];
      const stop = outboxOf(bench).wake.listen((hint) => void hints.push(hint));
      await ingest(bench, "e1", ["shop/1"]);
      stop();
      holds(hints.includes("committed"), `The wake said ${hints.join(", ") || "nothing"}, not committed`);
    },
  },
  {
    name: "names whose window has passed are forgotten up to the limit, and no others",
    async check(bench) {
      const outbox = outboxOf(bench);
      for (const [n, window] of [2, 1, 1, 9].entries()) {
        await ingest(bench, `e${n}`, [`shop/${n}`], { window });
      }
      await ingest(bench, "ever", ["shop/ever"]);
      same(await outbox.forgetNames({ maxNames: 10 }), 0, "forgotten before any window has passed");
      await passTicks(bench, 4);
      same(await outbox.forgetNames({ maxNames: 2 }), 2, "forgotten up to the limit");
      same(await outbox.forgetNames({ maxNames: 10 }), 1, "forgotten after that");
      same(await outbox.forgetNames({ maxNames: 10 }), 0, "forgotten at last");
      alike(await ingest(bench, "e9", ["shop/3"]), duplicate("e3"), "a name within its window");
      alike(await ingest(bench, "e9", ["shop/ever"]), duplicate("ever"), "a name without a window");
      alike(await ingest(bench, "e9", ["shop/1"]), stored("e9"), "a name that was forgotten");
    },
  },
];

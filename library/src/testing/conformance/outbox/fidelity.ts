import { utf8 } from "../../../bytes.js";
import { alike, holds, print, same, sameBytes, shortly } from "../expectation.js";
import type { OutboxPledge } from "./harness.js";
import {
  acknowledge,
  addEndpoint,
  claim,
  claimOne,
  deliverAll,
  eventOf,
  kill,
  outboxOf,
  publish,
  sequenceAll,
  writeInTransaction,
} from "./steps.js";

const MEGABYTE = 1_048_576;

const BODIES: readonly (readonly [string, Uint8Array])[] = [
  ["empty", new Uint8Array()],
  ["all 256 byte values", Uint8Array.from({ length: 256 }, (_, byte) => byte)],
  ["a NUL", new Uint8Array([0])],
  ["no UTF-8", new Uint8Array([0xff, 0xfe, 0xc0, 0x80, 0xed, 0xa0, 0x80])],
  ["a byte order mark and line ends", new Uint8Array([0xef, 0xbb, 0xbf, 0x0d, 0x0a, 0x0a])],
  [
    "JSON that a parser would change",
    utf8('{"b":1, "a":1e400,"a":12345678901234567890,"n":"\\u0000\\ud800"}'),
  ],
  ["one megabyte", Uint8Array.from({ length: MEGABYTE }, (_, n) => (n * 31) & 0xff)],
];

/** Names that mean something to a language or a database, or that look like another. */
const ODD_NAMES: readonly string[] = [
  ["__proto__", "constructor", "toString", "hasOwnProperty"],
  ["' or '1'='1", "'; drop table lane; --", "$1", ":key", "?", "%", "_", "\\", "\\x00", '"', "{a,b}", "NULL"],
  ["\u{1f4ef}", "\u202eevil", "caf\u00e9", "cafe\u0301", "\ufffd", "stra\u00dfe", "STRASSE"],
  ["k", "K", "k ", " k", "01", "1", "1.0"],
  ["x".repeat(254), "x".repeat(255), "\u00e9".repeat(127)],
].flat();

const HEADERS: Readonly<Record<string, string>> = {
  "x-github-event": "push",
  "x-empty": "",
  "x-odd": `a\tb "c" 'd' \\ {e} \\u0000 %00 $1`,
  constructor: "of nothing",
  __proto__x: "y",
  "7": "a number",
};

const ODD_IDS: readonly string[] = [
  ["__proto__", "constructor", "'", '"', "\\", "$1", "%", "{}", "*", "null", "1", "01", "evt_1", "EVT_1"],
  ["x".repeat(254), "x".repeat(255), "'--", "/*"],
].flat();

/** What goes in comes out. */
export const outboxFidelity: readonly OutboxPledge[] = [
  {
    name: "a body is delivered byte for byte",
    async check(bench) {
      await addEndpoint(bench);
      for (const [what, body] of BODIES) {
        await publish(bench, ["appended"], { body });
        const appended = await claimOne(bench);
        sameBytes(appended.run[0].event.body, body, `an appended body (${what})`);
        await acknowledge(bench, appended);
        await writeInTransaction(bench, [[await eventOf({ id: "written", body, key: undefined })]]);
        await sequenceAll(bench);
        const written = await claimOne(bench);
        sameBytes(written.run[0].event.body, body, `a written body (${what})`);
        await acknowledge(bench, written);
      }
    },
  },
  {
    name: "bytes that the caller uses again afterwards are kept as they were",
    async check(bench) {
      await addEndpoint(bench);
      const body = utf8("first");
      await publish(bench, ["e1"], { body });
      body.fill(0);
      const head = await claimOne(bench);
      sameBytes(head.run[0].event.body, utf8("first"), "the body after its buffer was used again");
      head.run[0].event.body.fill(0);
      await outboxOf(bench).release("worker_1", []);
      const again = await claimOne(bench);
      sameBytes(again.run[0].event.body, utf8("first"), "the body after a worker changed its copy");
    },
  },
  {
    name: "a key of any characters is a lane of its own, and comes back as it is",
    async check(bench) {
      await addEndpoint(bench);
      const events = await Promise.all(ODD_NAMES.map((key, n) => eventOf({ id: `e${n}`, key })));
      await outboxOf(bench).append(events);
      await sequenceAll(bench);
      const { claims } = await claim(bench);
      same(new Set(claims.map(({ id }) => id)).size, ODD_NAMES.length, "how many lanes there are");
      for (const each of claims) {
        const key = ODD_NAMES[Number(each.run[0].event.id.slice(1))] ?? "";
        same(each.lane?.key, key, `the key ${shortly(key)}`);
        await kill(bench, each);
      }
      const keys = await deadKeys(bench, ODD_NAMES.length);
      alike(keys.toSorted(), ODD_NAMES.toSorted(), "the keys of dead letters");
    },
  },
  {
    name: "an id that was given is the id of its delivery, whatever its characters, and different ids are different events",
    async check(bench) {
      await addEndpoint(bench);
      const events = await Promise.all(ODD_IDS.map((id) => eventOf({ id, idGiven: true })));
      alike(
        await outboxOf(bench).append(events),
        ODD_IDS.map(() => "written"),
        "append",
      );
      alike(
        await outboxOf(bench, 1).append(events),
        ODD_IDS.map(() => "duplicate"),
        "append again",
      );
      await sequenceAll(bench);
      same(await deliverAll(bench), ODD_IDS.join(" "), "what is delivered");
    },
  },
  {
    name: "sources, types and tenants of any characters are matched and delivered",
    async check(bench) {
      for (const [n, name] of ODD_NAMES.entries()) {
        if (name.includes("*")) continue;
        await addEndpoint(bench, {
          id: `ep_${n}`,
          tenant: name,
          sources: [name],
          types: [name],
          order: "none",
        });
        await publish(bench, [`e${n}`], { tenant: name, source: name, type: name });
        const head = await claimOne(bench);
        alike([head.consumer.id, head.run[0].event.type], [`ep_${n}`, name], `an event of ${shortly(name)}`);
        await acknowledge(bench, head);
      }
    },
  },
  {
    name: "an event's time and content type come back as they were",
    async check(bench) {
      await addEndpoint(bench);
      const times = [
        0,
        1,
        Date.UTC(2038, 0, 19, 3, 14, 8),
        Date.UTC(2030, 0, 1, 0, 0, 0, 999),
        Date.UTC(8999, 0),
      ];
      for (const ms of times) {
        const contentType = `text/plain; charset="utf-8"; n='${ms}'`;
        await publish(bench, ["e1"], { time: new Date(ms), contentType });
        const head = await claimOne(bench);
        const { time, contentType: found } = head.run[0].event;
        alike([time, found], [new Date(ms), contentType], "the event's time and content type");
        await acknowledge(bench, head);
      }
    },
  },
  {
    name: "an event's headers come back as they were, and those of another never",
    async check(bench) {
      await addEndpoint(bench);
      await addEndpoint(bench, { id: "ep_loose", order: "none" });
      const run = { maxEvents: 8, maxBytes: MEGABYTE };
      await publish(bench, ["e1"], { headers: HEADERS });
      await writeInTransaction(bench, [
        [await eventOf({ id: "e2" }), await eventOf({ id: "e3", headers: { "x-other": "3" } })],
        [await eventOf({ id: "e4", idGiven: true, headers: { "x-other": "4" } })],
      ]);
      await sequenceAll(bench);
      const found = new Map<string, string>();
      for (const each of (await claim(bench, { run })).claims) {
        for (const { event } of each.run) {
          found.set(`${each.consumer.id} ${event.id}`, print(event.headers ?? "none"));
        }
      }
      const wanted = [print(HEADERS), print("none"), print({ "x-other": "3" }), print({ "x-other": "4" })];
      for (const endpointId of ["ep_a", "ep_loose"]) {
        const headers = ["e1", "e2", "e3", "e4"].map((id) => found.get(`${endpointId} ${id}`));
        alike(headers, wanted, `the headers at ${endpointId}`);
      }
    },
  },
  {
    name: "the next head that settle returns has its own headers",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"], { headers: { "x-first": "1" } });
      await publish(bench, ["e2"], { headers: HEADERS });
      const next = await acknowledge(bench, await claimOne(bench), { next: true });
      alike(next?.run[0].event.headers, HEADERS, "the headers of the next head");
    },
  },
  {
    name: "every event of a large publication has its place",
    async check(bench) {
      await addEndpoint(bench);
      const ids = Array.from({ length: 300 }, (_, n) => `e${n}`);
      await publish(bench, ids);
      const run = { maxEvents: 100, maxBytes: MEGABYTE };
      same(await deliverAll(bench, { run }), ids.join(" "), "what is delivered");
    },
  },
];

/** Of an outbox whose events are numbered from 2^53 + 1 on, where a number would round. */
export const outboxLargeSequences: readonly OutboxPledge[] = [
  {
    name: "sequences beyond 2^53 are kept to the last digit",
    needs: ["largeSequences"],
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2", "e3", "e4"]);
      const first = await claimOne(bench);
      const { sequence } = first.run[0];
      holds(sequence > 2n ** 53n, `The lane begins at ${sequence}, not beyond 2^53`);
      const second = await acknowledge(bench, first, { next: true });
      holds(second !== undefined, "There is no next head");
      alike([second.run[0].sequence, second.after], [sequence + 1n, sequence], "the next head");
      await kill(bench, second);
      const [letter] = (await outboxOf(bench).deadLetters({ limit: 1 })).items;
      same(letter?.sequence, sequence + 1n, "the dead letter's sequence");
      const [lane] = (await outboxOf(bench).blockedLanes({ limit: 1 })).items;
      alike([lane?.head, lane?.depth], [sequence + 1n, 3n], "the blocked lane");
      const [attempt] = await outboxOf(bench).attempts(letter?.id ?? "");
      same(attempt?.sequence, sequence + 1n, "the attempt's sequence");
      same(await outboxOf(bench).redrive(letter?.id ?? ""), "in_place", "redrive");
      const run = { maxEvents: 8, maxBytes: MEGABYTE };
      const rest = await claimOne(bench, { run });
      alike(
        [rest.run.map((each) => each.sequence), rest.after],
        [[sequence + 1n, sequence + 2n, sequence + 3n], sequence],
        "the run after the redrive",
      );
    },
  },
];

async function deadKeys(bench: Parameters<typeof claim>[0], limit: number): Promise<string[]> {
  const { items } = await outboxOf(bench).deadLetters({ limit });
  return items.map(({ key }) => key ?? "");
}

import { utf8 } from "../../../bytes.js";
import { alike, holds, same, sameBytes, shortly } from "../expectation.js";
import type { InboxPledge } from "./harness.js";
import { accept, apply, arrivalOf, failOnce, rowOf, storeOf } from "./harness.js";
import { LOOKALIKE_IDS, ODD_IDS } from "../odd-ids.js";

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

export const inboxFidelity: readonly InboxPledge[] = [
  {
    name: "a body is kept byte for byte",
    async check(bench) {
      for (const [what, body] of BODIES) {
        const arrival = await arrivalOf({ id: what, body });
        await apply(bench, arrival);
        const row = await rowOf(bench, arrival);
        sameBytes(row.body, body, `the body (${what})`);
        sameBytes(row.bodyHash, arrival.bodyHash, `the hash of the body (${what})`);
      }
    },
  },
  {
    name: "the body of a failed event is kept byte for byte",
    async check(bench) {
      for (const [what, body] of BODIES) {
        const arrival = await arrivalOf({ id: what, body });
        await failOnce(bench, arrival);
        sameBytes((await rowOf(bench, arrival)).body, body, `the body (${what})`);
      }
    },
  },
  {
    name: "bytes that the caller uses again afterwards are kept as they were",
    async check(bench) {
      const body = utf8("first");
      const arrival = await arrivalOf({ body });
      await apply(bench, arrival);
      body.fill(0);
      const row = await rowOf(bench, arrival);
      sameBytes(row.body, utf8("first"), "the body after its buffer was used again");
      row.body?.fill(0);
      sameBytes(
        (await rowOf(bench, arrival)).body,
        utf8("first"),
        "the body after a reader changed its copy",
      );
    },
  },
  {
    name: "events whose ids differ in anything at all are different events",
    async check(bench) {
      const ids = [...LOOKALIKE_IDS, ...ODD_IDS];
      for (const id of new Set(ids)) await apply(bench, await arrivalOf({ id }));
      for (const id of ids) {
        const arrival = await arrivalOf({ id });
        same(
          (await accept(bench, arrival, { at: 1 })).kind,
          "duplicate",
          `the second accept of ${shortly(id)}`,
        );
        same((await rowOf(bench, arrival)).idPreview, arrival.idPreview, `the preview of ${shortly(id)}`);
      }
    },
  },
  {
    name: "everything that arrived with an event can be read again",
    async check(bench) {
      const eventAt = new Date(Date.UTC(2029, 1, 28, 23, 59, 59, 987));
      const headers = '{"x":"\\u0000 \\"quoted\\" \\\\ \\ud800","a":"1"}';
      const arrival = await arrivalOf({ id: "caf\u00e9", eventAt, headers, type: "a.b/c:d" });
      await apply(bench, arrival);
      const { type, idPreview, ...row } = await rowOf(bench, arrival);
      alike({ type, idPreview }, { type: arrival.type, idPreview: arrival.idPreview }, "type and preview");
      const { tenant, source, id } = row;
      alike({ tenant, source, id }, { tenant: "default", source: "stripe", id: arrival.id }, "the key");
      alike(row.eventAt, eventAt, "the event's time");
      same(row.headers, headers, "the headers");
    },
  },
  {
    name: "an event of a type of any characters is applied like any other",
    async check(bench) {
      for (const [n, type] of [
        "a NUL \0",
        "half a pair \ud800",
        "\u{1f4ef}",
        "x".repeat(100_000),
      ].entries()) {
        const arrival = await arrivalOf({ id: `evt_${n}`, type });
        await apply(bench, arrival);
        await storeOf(bench, 0).fail(await arrivalOf({ id: `failed_${n}`, type }), "no");
        await storeOf(bench, 0).refuse(await arrivalOf({ id: `refused_${n}`, type }), "stale");
        same((await rowOf(bench, arrival)).type.slice(0, 1), type.slice(0, 1), "the beginning of the type");
      }
    },
  },
  {
    name: "an event without a time has none when it is read again",
    async check(bench) {
      const arrival = await arrivalOf({ eventAt: undefined });
      await apply(bench, arrival);
      same((await rowOf(bench, arrival)).eventAt, undefined, "the event's time");
    },
  },
  {
    name: "the window of a row ends that long after its last receipt",
    async check(bench) {
      const windowS = 14 * 24 * 3600;
      const arrival = await arrivalOf({ windowS });
      await apply(bench, arrival);
      const { lastReceivedAt, keepUntil } = await rowOf(bench, arrival);
      const keptMs = (keepUntil?.getTime() ?? 0) - lastReceivedAt.getTime();
      // Two readings of a clock within one transaction may lie a little apart.
      holds(
        Math.abs(keptMs - windowS * 1000) < 1000,
        `The row is kept for ${keptMs} ms of ${windowS * 1000}`,
      );
    },
  },
  {
    name: "the text of a failure may hold any characters",
    async check(bench) {
      for (const [n, error] of [
        "a NUL \0 in it",
        "half a pair \ud800",
        "\u{1f4ef}",
        "",
        "x".repeat(100_000),
      ].entries()) {
        const arrival = await arrivalOf({ id: `evt_${n}` });
        await storeOf(bench, 0).fail(arrival, error);
        const row = await rowOf(bench, arrival);
        same(row.outcome, "failed", `the outcome after the failure ${shortly(error)}`);
        same(row.error?.slice(0, 5), error.slice(0, 5), "the beginning of the failure's text");
      }
    },
  },
  {
    name: "a refused event is recorded apart from the inbox, with its bytes",
    needs: ["refusedListing"],
    async check(bench) {
      const stale = await arrivalOf({ id: "stale" });
      await storeOf(bench, 0).refuse(stale, "stale");
      same(await storeOf(bench, 0).find(stale), undefined, "find of the stale event");
      const applied = await arrivalOf({ id: "known" });
      await apply(bench, applied);
      for (const [what, body] of BODIES.slice(1)) {
        const conflict = await arrivalOf({ id: "known", body });
        await storeOf(bench, 1).refuse(conflict, "conflict");
        const refused = (await bench.refused?.()) ?? [];
        const found = refused.filter(({ id, because }) => id === "known" && because === "conflict");
        const kept = found.find((each) => each.body.length === body.length);
        sameBytes(kept?.body, body, `the body of the conflict (${what})`);
      }
      sameBytes((await rowOf(bench, applied)).body, applied.body, "the body of the row");
      const listed = ((await bench.refused?.()) ?? []).filter(({ because }) => because === "stale");
      alike(
        listed.map(({ id }) => id),
        ["stale"],
        "the stale events that are recorded",
      );
    },
  },
];

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Stamp } from "../event.js";
import { parseStamp, STAMP_HEADERS, stampContent, writeStamp } from "./stamp.js";

const INT8 = 2n ** 63n - 1n;
const int8 = fc.bigInt({ min: 0n, max: INT8 });
const key = fc
  .string({
    unit: fc.constantFrom(...Array.from("aZ09-_.!~*'()/%?#&=+ é\u{1f4ef}\n")),
    minLength: 1,
    maxLength: 60,
  })
  .filter((text) => Buffer.byteLength(text) <= 255);
const lane = fc.record({ generation: int8, key, sequence: int8, after: fc.option(int8, { nil: undefined }) });
const stamp: fc.Arbitrary<Stamp> = fc.record({
  lane: fc.option(lane, { nil: undefined }),
  time: fc.option(
    fc.integer({ min: -999_999_999_999_999, max: 999_999_999_999_999 }).map((ms) => new Date(ms)),
    { nil: undefined },
  ),
  attempt: fc.integer({ min: 1, max: 999_999_999_999_999 }),
  replay: fc.boolean(),
});

const FULL: Stamp = {
  lane: { generation: 3n, key: "order/7", sequence: 12n, after: 10n },
  time: new Date(1_794_770_453_123),
  attempt: 2,
  replay: true,
};

describe("a stamp", () => {
  it("is read back as it was written", () => {
    fc.assert(
      fc.property(stamp, (value) => {
        expect(parseStamp(writeStamp(value))).toEqual(value);
      }),
    );
  });

  it("is written in the order of its headers, in visible ASCII", () => {
    expect(Object.fromEntries(STAMP_HEADERS.map((name, index) => [name, writeStamp(FULL)[index]]))).toEqual({
      "posthorn-generation": "3",
      "posthorn-key": "order%2F7",
      "posthorn-sequence": "12",
      "posthorn-after": "10",
      "posthorn-time": "1794770453123",
      "posthorn-attempt": "2",
      "posthorn-replay": "1",
    });
    fc.assert(
      fc.property(stamp, (value) => {
        for (const text of writeStamp(value)) expect(text).toMatch(/^[\x21-\x7e]*$/);
      }),
    );
  });

  it("is read only from the texts that writing it gives", () => {
    const near = fc.string({
      unit: fc.constantFrom(...Array.from("0123456789-+%25eEa.\u0661 ")),
      maxLength: 20,
    });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 6 }), near, (index, text) => {
        const texts = writeStamp(FULL).with(index, text);
        const read = parseStamp(texts);
        if (read !== undefined) expect(writeStamp(read)).toEqual(texts);
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    ["generation", 0, ["", "-1", "01", "9223372036854775808", "1.0", "0x1", "99999999999999999999"]],
    ["key", 1, ["", "%", "%ff", "a b", "%61", "é", "%ED%A0%80", "a".repeat(256), "%C3%A9".repeat(128)]],
    ["sequence", 2, ["", "-1", "00", " 1"]],
    ["after", 3, ["-1", "00", "a"]],
    ["time", 4, ["NaN", "-0", "007", "1e3", "1".repeat(16)]],
    ["attempt", 5, ["", "0", "-1", "01", "1".repeat(16)]],
    ["replay", 6, ["0", "true", "11"]],
  ])("with a %s that no sender writes counts as absent", (_, index, texts) => {
    for (const text of texts)
      expect([text, parseStamp(writeStamp(FULL).with(index, text))]).toEqual([text, undefined]);
  });

  it("with half a lane counts as absent, rather than as an event without a key", () => {
    for (const index of [0, 1, 2]) expect(parseStamp(writeStamp(FULL).with(index, ""))).toBeUndefined();
    expect(parseStamp(["", "", "", "5", "", "1", ""])).toBeUndefined();
    expect(parseStamp([])).toBeUndefined();
  });

  it("that the wire cannot carry is refused before it is signed", () => {
    const position = { generation: 1n, key: "k", sequence: 1n, after: undefined };
    const impossible: Stamp[] = [
      { attempt: 0, replay: false },
      { attempt: 1.5, replay: false },
      { attempt: Number.NaN, replay: false },
      { attempt: 10 ** 15, replay: false },
      { attempt: 1, replay: false, time: new Date(Number.NaN) },
      { attempt: 1, replay: false, time: new Date(8.64e15) },
      { attempt: 1, replay: false, lane: { ...position, generation: -1n } },
      { attempt: 1, replay: false, lane: { ...position, sequence: INT8 + 1n } },
      { attempt: 1, replay: false, lane: { ...position, after: -1n } },
      { attempt: 1, replay: false, lane: { ...position, key: "" } },
      { attempt: 1, replay: false, lane: { ...position, key: "\ud800" } },
      { attempt: 1, replay: false, lane: { ...position, key: "é".repeat(128) } },
    ];
    for (const value of impossible)
      expect(() => writeStamp(value)).toThrow(expect.objectContaining({ code: "event_unsignable" }));
  });
});

describe("the content of a stamp's signature", () => {
  const identity = { id: "evt_1", timestamp: "1794770453" };

  it("is the version, id, time, every header and the standard signature, a line each", () => {
    expect(stampContent("ph1", identity, writeStamp(FULL), Uint8Array.of(1, 2, 3))).toEqual([
      "ph1\nevt_1\n1794770453\n3\norder%2F7\n12\n10\n1794770453123\n2\n1\nAQID",
    ]);
  });

  it("differs whenever anything in it differs", () => {
    const signature = fc.uint8Array({ minLength: 32, maxLength: 32 });
    fc.assert(
      fc.property(stamp, stamp, signature, signature, (one, two, mine, other) => {
        const content = stampContent("ph1", identity, writeStamp(one), mine);
        const same =
          writeStamp(one).join("\n") === writeStamp(two).join("\n") && Buffer.compare(mine, other) === 0;
        expect(stampContent("ph1", identity, writeStamp(two), other)[0] === content[0]).toBe(same);
        expect(stampContent("ph1a", identity, writeStamp(one), mine)).not.toEqual(content);
      }),
    );
  });

  it("is never a standard content, so that neither signature passes for the other", () => {
    const content = String(stampContent("ph1", identity, writeStamp(FULL), Uint8Array.of(1))[0]);
    const id = content.slice(0, content.indexOf(".") === -1 ? undefined : content.indexOf("."));
    expect(id).toContain("\n");
  });
});

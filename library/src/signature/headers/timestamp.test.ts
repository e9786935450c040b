import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkTimestamp, parseTimestamp, parseTimestampMs } from "./timestamp.js";

describe("a signed time", () => {
  it("is read only from the digits that print it", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 99_999_999_999 }), (seconds) => {
        expect(parseTimestamp(String(seconds), "h")).toBe(seconds);
      }),
    );
    const near = fc.string({
      unit: fc.constantFrom(...Array.from("0123456789 +-.eEx\n\u0661_,")),
      maxLength: 14,
    });
    fc.assert(
      fc.property(near, (text) => {
        let read: number | undefined;
        try {
          read = parseTimestamp(text, "h");
        } catch {
          // Refused, which is the other right answer.
          return;
        }
        expect(String(read)).toBe(text);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    "",
    "0",
    "01",
    "1794770453abc",
    "1794770453 ",
    " 1794770453",
    "+1",
    "-1",
    "1.0",
    "1e9",
    "0x1",
    "NaN",
    "1794770453\n",
    "\u0661\u0662",
    "179477045312",
    "1794770453,1794770453",
  ])("is not read from %j", (text) => {
    expect(() => parseTimestamp(text, "webhook-timestamp")).toThrow(
      expect.objectContaining({
        code: "timestamp_malformed",
        detail: { header: "webhook-timestamp", found: text },
      }),
    );
  });

  it("in milliseconds is read to the whole second below, and never longer than 14 digits", () => {
    expect(parseTimestampMs("1794770453999", "h")).toBe(1_794_770_453);
    expect(() => parseTimestampMs("1".repeat(15), "h")).toThrow(
      expect.objectContaining({
        code: "timestamp_malformed",
        message: 'The header "h" must be a whole number of unix milliseconds.',
      }),
    );
  });

  it("shows at most 32 characters of what was found", () => {
    expect(() => parseTimestamp("x".repeat(5000), "h")).toThrow(
      expect.objectContaining({ detail: { header: "h", found: "x".repeat(32) } }),
    );
  });
});

describe("the tolerance", () => {
  const tolerance = fc.integer({ min: 1, max: 1_000_000 });
  const signedAt = fc.integer({ min: 1_000_000, max: 4_000_000_000 });

  it("includes exactly its own number of seconds on both sides, and not one more", () => {
    fc.assert(
      fc.property(signedAt, tolerance, fc.integer({ min: 0, max: 999 }), (signedAtS, toleranceS, ms) => {
        for (const side of [-1, 1]) {
          const edgeMs = (signedAtS + side * toleranceS) * 1000 + ms;
          expect(() => {
            checkTimestamp(signedAtS, edgeMs, toleranceS);
          }).not.toThrow();
          expect(() => {
            checkTimestamp(signedAtS, edgeMs + side * 1000, toleranceS);
          }).toThrow(
            expect.objectContaining({
              code: "timestamp_out_of_range",
              detail: { skewS: side * (toleranceS + 1), toleranceS },
            }),
          );
        }
      }),
    );
  });

  it("is told with the skew and its side, so that the clock to mend is known", () => {
    expect(() => {
      checkTimestamp(1000, 1_412_000, 300);
    }).toThrow("The signed time is 412 s in the past; at most 300 s are allowed. Check both clocks.");
    expect(() => {
      checkTimestamp(1412, 1_000_000, 300);
    }).toThrow("The signed time is 412 s in the future; at most 300 s are allowed. Check both clocks.");
  });

  it("lets nothing through when the clock is broken", () => {
    for (const now of [NaN, Infinity, -Infinity])
      expect(() => {
        checkTimestamp(1000, now, 300);
      }).toThrow(expect.objectContaining({ code: "timestamp_out_of_range" }));
  });
});

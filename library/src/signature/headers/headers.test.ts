import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findHeader, needHeader } from "./headers.js";
import type { HeaderBag } from "./headers.js";

/** The same text with some letters in the other case. */
function recased(name: string, choices: readonly boolean[]): string {
  return Array.from(name, (char, index) => (choices[index] === true ? char.toUpperCase() : char)).join("");
}

describe("a header", () => {
  it("is found whatever the case of its name, in a record and in Headers", () => {
    const name = fc.constantFrom("webhook-id", "x-hub-signature-256", "stripe-signature");
    fc.assert(
      fc.property(name, fc.array(fc.boolean(), { maxLength: 20 }), (wanted, choices) => {
        const sent = recased(wanted, choices);
        expect(findHeader({ other: "b", [sent]: "a" }, wanted)).toBe("a");
        expect(findHeader(new Headers({ other: "b", [sent]: "a" }), wanted)).toBe("a");
      }),
    );
  });

  it("is not another that merely lowers to the same length or starts alike", () => {
    const headers = { "webhook-i": "a", "webhook-id2": "b", "web-hook-id": "c", webhook_id: "d" };
    expect(findHeader(headers, "webhook-id")).toBeUndefined();
    // U+212A, the Kelvin sign, lowers to an ASCII "k".
    expect(findHeader({ "webhoo\u212a-id": "a", "webhoo\u212a-idx": "b" }, "x-webhook-id")).toBeUndefined();
  });

  it("named __proto__ or constructor is like any other: found when sent, absent when not", () => {
    const sent = JSON.parse('{"__proto__":"a","Constructor":"b"}') as HeaderBag;
    expect(findHeader(sent, "__proto__")).toBe("a");
    expect(findHeader(sent, "constructor")).toBe("b");
    expect(findHeader({}, "__proto__")).toBeUndefined();
    expect(findHeader({}, "constructor")).toBeUndefined();
    const inherited = Object.create({ "webhook-id": "forged", "WEBHOOK-ID": "forged" }) as HeaderBag;
    expect(findHeader(inherited, "webhook-id")).toBeUndefined();
  });

  it("is found in a record without a prototype, as Node's headersDistinct makes it", () => {
    const headers = Object.assign(Object.create(null) as Record<string, string[]>, { "webhook-id": ["a"] });
    expect(findHeader(headers, "webhook-id")).toBe("a");
  });

  it("called get does not pass a record off as Headers", () => {
    expect(findHeader({ get: "x", "webhook-id": "a" }, "webhook-id")).toBe("a");
  });

  it("sent once as a list is its one value; sent twice, it is refused", () => {
    expect(findHeader({ "webhook-id": ["a"] }, "webhook-id")).toBe("a");
    for (const list of [
      ["a", "b"],
      ["a", "a"],
    ])
      expect(() => findHeader({ "webhook-id": list }, "webhook-id")).toThrow(
        expect.objectContaining({
          code: "header_malformed",
          message: 'The header "webhook-id" cannot be right: it was sent more than once.',
        }),
      );
  });

  it("of more than 8192 characters is refused, of 8192 not", () => {
    expect(findHeader({ h: "a".repeat(8192) }, "h")).toHaveLength(8192);
    expect(() => findHeader({ h: "a".repeat(8193) }, "h")).toThrow(
      expect.objectContaining({
        code: "header_malformed",
        message: 'The header "h" cannot be right: it is longer than 8192 characters.',
        detail: { header: "h" },
      }),
    );
  });

  it("that is no text at all is refused with an error of ours", () => {
    for (const value of [1, true, {}, [], [undefined]] as unknown[])
      expect(() => findHeader({ h: value } as HeaderBag, "h")).toThrow(
        expect.objectContaining({ code: "header_malformed" }),
      );
  });

  it("that is needed but absent or empty is an error that names it", () => {
    expect(needHeader({ h: "a" }, "h")).toBe("a");
    for (const headers of [{}, { h: "" }, { h: undefined }, new Headers()])
      expect(() => needHeader(headers, "h")).toThrow(
        expect.objectContaining({
          code: "header_missing",
          message: 'The request has no "h" header: is it signed, or does a proxy drop headers?',
          detail: { header: "h" },
        }),
      );
  });
});

import { describe, expect, it } from "vitest";
import { canonicalRule, WHOLE } from "./canonical-json.js";
import { sha256 } from "./content-hash.js";
import { namesOf } from "./names.js";
import type { NamingRule } from "./names.js";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const hex = (content: Uint8Array): string => Buffer.from(sha256(content)).toString("hex");
const ID: NamingRule = { source: "acme", by: "id", content: undefined, bodyVaries: false };
const nameOf = (rule: NamingRule, id: string | undefined, body = "{}"): readonly string[] =>
  namesOf(rule, id, bytes(body)).names.map(({ name }) => name);

describe("an event is known by", () => {
  it("its id, under which another body is a conflict", () => {
    expect(namesOf(ID, "evt_1", bytes("a"))).toEqual({
      names: [{ name: "acme/id/evt_1", bodyHash: sha256(bytes("a")) }],
      fellBack: false,
    });
  });

  it("its id alone where bodies vary under it", () => {
    const { names } = namesOf({ ...ID, bodyVaries: true }, "evt_1", bytes("a"));
    expect(names).toEqual([{ name: "acme/id/evt_1", bodyHash: undefined }]);
  });

  it("its bytes where it has no id", () => {
    expect(nameOf(ID, undefined, "a")).toEqual([`acme/hash/${hex(bytes("a"))}`]);
    expect(nameOf(ID, "", "a")).toEqual([`acme/hash/${hex(bytes("a"))}`]);
    expect(nameOf({ ...ID, by: "content" }, "evt_1", "a")).toEqual([`acme/hash/${hex(bytes("a"))}`]);
  });

  it("both, where a sender gives one event two ids", () => {
    const rule: NamingRule = { ...ID, by: "both", content: WHOLE };
    const [first, second] = [nameOf(rule, "1", '{"a":1,"b":2}'), nameOf(rule, "2", '{ "b": 2, "a": 1 }')];
    expect(first[0]).not.toBe(second[0]);
    expect(first[1]).toBe(second[1]);
  });

  it("both, under one id with a conflict by what counts alone", () => {
    const rule: NamingRule = { ...ID, by: "both", content: canonicalRule([], [["sent_at"]]) };
    const [one, two] = ['{"a":1,"sent_at":1}', '{"a":1,"sent_at":2}'].map((body) =>
      namesOf(rule, "1", bytes(body)),
    );
    expect(one).toEqual(two);
    expect(one?.names[0].bodyHash).toEqual(sha256('{"a":1}'));
  });
});

describe("a name", () => {
  const long = "x".repeat(4096);

  it.each([
    ["a space", "a b"],
    ["a line break", "a\nb"],
    ["NUL", "a\0b"],
    ["an emoji", "\u{1f600}"],
    ["half of a surrogate pair", "\ud800"],
    ["four thousand characters", long],
  ])("is visible ASCII of at most 255 bytes, for an id with %s", (_what, id) => {
    expect(nameOf(ID, id)[0]).toMatch(/^acme\/id-hash\/[0-9a-f]{64}$/);
  });

  it("differs for ids that differ", () => {
    const ids = ["a b", "a\nb", "\ud800", "\ud801", "\ufffd", "caf\u00e9", "cafe\u0301", long, `${long}x`];
    expect(new Set(ids.map((id) => nameOf(ID, id)[0])).size).toBe(ids.length);
  });

  it("of one kind is never that of another", () => {
    const hashed = nameOf(ID, "a b")[0]?.split("/").at(-1) ?? "";
    expect(nameOf(ID, hashed)[0]).not.toBe(nameOf(ID, "a b")[0]);
    expect(nameOf(ID, hex(bytes("{}")))).not.toEqual(nameOf(ID, undefined));
  });

  it("of an id with slashes belongs to its own source", () => {
    expect(nameOf(ID, "../other/id/1")[0]).toBe("acme/id/../other/id/1");
  });

  it("of a source with the longest name and id fits", () => {
    const [name = ""] = nameOf({ ...ID, source: "s".repeat(64) }, "i".repeat(180));
    expect(name.length).toBeLessThanOrEqual(255);
  });
});

it("a body without the canonical form that was asked for is known by its bytes, and that is told", () => {
  const rule: NamingRule = { ...ID, by: "content", content: WHOLE };
  expect(namesOf(rule, undefined, bytes('{"a":1,"a":2}'))).toEqual({
    names: [{ name: `acme/hash/${hex(bytes('{"a":1,"a":2}'))}`, bodyHash: undefined }],
    fellBack: true,
  });
});

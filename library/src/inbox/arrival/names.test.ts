import { describe, expect, it } from "vitest";
import { sha256Sync as sha256 } from "#crypto";
import { encodeHex, utf8 as bytes } from "../../bytes.js";
import { canonicalRule, WHOLE } from "../../canonical-json.js";
import { LOOKALIKE_IDS, ODD_IDS } from "../../testing/conformance/odd-ids.js";
import { namesOf } from "./names.js";
import type { NamingRule } from "./names.js";
import { storedId } from "./stored-id.js";

const hex = (content: Uint8Array): string => encodeHex(sha256(content));
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
  const ids = [...LOOKALIKE_IDS, ...ODD_IDS];

  it("of an id is the one that the inbox stores", async () => {
    for (const id of ids) expect(nameOf(ID, id)).toEqual([`acme/id/${(await storedId(id)).id}`]);
    expect(nameOf(ID, "x".repeat(255))).toEqual([`acme/id/${"x".repeat(255)}`]);
    expect(nameOf(ID, "x".repeat(256))[0]).toMatch(/^acme\/id\/sha256 [0-9a-f]{64}$/);
  });

  it("differs for ids that differ", () => {
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

  it("is ASCII of at most 323 bytes, whatever the id", () => {
    const names = ids.map((id) => nameOf({ ...ID, source: "s".repeat(64) }, id)[0] ?? "");
    for (const name of names) expect(name).toMatch(/^[\x20-\x7e]{68,323}$/);
  });
});

it("a body without the canonical form that was asked for is known by its bytes, and that is told", () => {
  const rule: NamingRule = { ...ID, by: "content", content: WHOLE };
  expect(namesOf(rule, undefined, bytes('{"a":1,"a":2}'))).toEqual({
    names: [{ name: `acme/hash/${hex(bytes('{"a":1,"a":2}'))}`, bodyHash: undefined }],
    fellBack: true,
  });
});

import { describe, expect, it } from "vitest";
import { storedId, storedIdSync } from "./stored-id.js";

describe("the stored form of an id", () => {
  it("keeps visible ASCII up to 255 bytes as it is", async () => {
    for (const id of ["evt_1", "~!@#", "x".repeat(255), "__proto__"]) {
      expect(await storedId(id)).toEqual({ id, preview: undefined });
    }
  });

  it("hashes everything else, so that no two ids become one key", async () => {
    const odd = [
      "a b",
      "x".repeat(256),
      "é",
      "e\u0301",
      "\ud800",
      "\udc00",
      "a\u0000",
      "a\u0000\u0000",
      "",
      "\n",
    ];
    const stored = await Promise.all(odd.map((id) => Promise.resolve(storedId(id))));
    expect(new Set(stored.map(({ id }) => id)).size).toBe(odd.length);
    for (const { id } of stored) expect(id).toMatch(/^sha256 [0-9a-f]{64}$/);
  });

  it("cannot be imitated by an id that is kept as it is", async () => {
    const { id } = await storedId("a b");
    expect((await storedId(id)).id).not.toBe(id);
  });

  it("shows the beginning of a foreign id without anything a terminal would obey", async () => {
    expect((await storedId("a\u001b[31m\u0000é")).preview).toBe("a\\u{1b}[31m\\u{0}\\u{e9}");
  });

  it("is the same with and without a promise", async () => {
    for (const id of ["evt_1", "a b", "\ud800"]) expect(storedIdSync(id)).toEqual(await storedId(id));
  });
});

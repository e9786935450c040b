import { randomBytes } from "node:crypto";
import { assert, property, string } from "fast-check";
import { expect, it } from "vitest";
import { createSeal, keyIdOf } from "./seal.js";

const key = randomBytes(32);

it("a secret that was sealed opens to the same text", () => {
  const seal = createSeal(key);
  assert(
    property(string({ unit: "binary" }), (secret) => {
      expect(seal.open(seal.seal(secret))).toBe(Buffer.from(secret).toString());
    }),
  );
});

it("the same secret sealed twice gives two texts, and neither holds it", () => {
  const seal = createSeal(key);
  const [one, two] = [seal.seal("whsec_abc"), seal.seal("whsec_abc")];
  expect(one).not.toBe(two);
  expect(one + two).not.toContain("whsec_abc");
});

it("a text that was sealed under another key is refused, and both keys are named", () => {
  const other = randomBytes(32);
  const sealed = createSeal(other).seal("whsec_abc");
  expect(() => createSeal(key).open(sealed)).toThrow(new RegExp(`${keyIdOf(other)}.*${keyIdOf(key)}`));
});

const bytesOf = (text: string): string =>
  text
    .split(".")
    .map((part, index) => (index < 2 ? part : Buffer.from(part, "base64url").toString("hex")))
    .join(".");

it("a text of which one letter was changed, or a piece is missing, is refused", () => {
  const seal = createSeal(key);
  const sealed = seal.seal("whsec_abcdefghijk");
  for (let at = 0; at < sealed.length; at++) {
    const changed = sealed.slice(0, at) + (sealed[at] === "A" ? "Z" : "A") + sealed.slice(at + 1);
    // The last letter of base64 has bits that mean nothing.
    if (bytesOf(changed) !== bytesOf(sealed))
      expect(() => seal.open(changed), `letter ${at}`).toThrow(/secret of the database/);
    expect(() => seal.open(sealed.slice(0, at)), `cut at ${at}`).toThrow(/secret of the database/);
  }
});

it("a secret that was never sealed is not taken for one", () => {
  expect(() => createSeal(key).open("whsec_abc")).toThrow(/form of a sealed secret/);
});

it("a key of another length is refused", () => {
  expect(() => createSeal(randomBytes(16))).toThrow(/16 bytes/);
});

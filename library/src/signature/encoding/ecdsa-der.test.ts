import { expect, it } from "vitest";
import { joinEcdsa, splitEcdsa } from "./ecdsa-der.js";

function half(first: number, second: number, rest: number): Uint8Array {
  return new Uint8Array(32).fill(rest).with(0, first).with(1, second);
}

it.each([
  ["whose first bit is 1", half(0x80, 1, 1)],
  ["whose first bit is 0", half(0x7f, 1, 1)],
  ["with zeros in front", half(0, 0, 0x80)],
  ["of one digit", new Uint8Array(32).with(31, 1)],
])("an integer %s is the same after it was written as DER and read", (_, integer) => {
  for (const other of [half(0xff, 0, 0), half(1, 0, 0)]) {
    const joined = Uint8Array.of(...integer, ...other);
    expect(joinEcdsa(splitEcdsa(joined))).toEqual(joined);
  }
});

it("zero, which no signature has, is written as DER's zero and refused when read", () => {
  const der = splitEcdsa(new Uint8Array(64));
  expect([...der]).toEqual([0x30, 6, 2, 1, 0, 2, 1, 0]);
  expect(joinEcdsa(der)).toBeUndefined();
});

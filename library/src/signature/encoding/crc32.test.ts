import { expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import { crc32 } from "./crc32.js";

it.each([
  ["", 0],
  ["123456789", 3_421_780_262],
  ["The quick brown fox jumps over the lazy dog", 1_095_738_169],
  ["Zoë", 1_739_342_378],
])("the CRC-32 of %j is zlib's, without a sign", (text, sum) => {
  expect(crc32(utf8(text))).toBe(sum);
});

it("every byte value counts", () => {
  expect(crc32(Uint8Array.from({ length: 256 }, (_, byte) => byte))).toBe(688_229_491);
});

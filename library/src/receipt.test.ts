import { expect, it } from "vitest";
import { utf8 } from "./bytes.js";
import { readReceipt, receiptText } from "./receipt.js";

it("a receipt is read as it was written, whatever the provider's id, in characters that every database takes", () => {
  const receipt = {
    id: "a\0b\ud800é\n",
    storedId: "sha256 00",
    idPreview: "a",
    time: new Date(1_700_000_000_123),
    bodyHash: utf8("hash"),
    windowS: 0.5,
  };
  const text = receiptText(receipt);
  expect(text).toMatch(/^[\x20-\x7e]+$/);
  expect(readReceipt(text)).toEqual(receipt);
  const bare = { id: "a", storedId: "a", bodyHash: utf8("") };
  const missing = { idPreview: undefined, time: undefined, windowS: undefined };
  expect(readReceipt(receiptText(bare))).toEqual({ ...bare, ...missing });
});

import { describe, expect, it } from "vitest";
import { bytesOfText } from "./bytea.js";

describe("a column of bytes", () => {
  it.each([
    ["in hex", String.raw`\x00ff5c78`],
    ["escaped", String.raw`\000\377\\x`],
  ])("is read %s, whichever the server was told to write", (_form, text) => {
    expect([...bytesOfText(text)]).toEqual([0x00, 0xff, 0x5c, 0x78]);
  });

  it("may be empty", () => {
    expect([...bytesOfText(String.raw`\x`)]).toEqual([]);
    expect([...bytesOfText("")]).toEqual([]);
  });
});

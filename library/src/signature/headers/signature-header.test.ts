import { describe, expect, it } from "vitest";
import { encodeHex } from "../../bytes.js";
import { claims, readSignature, readTagged } from "./signature-header.js";
import type { TaggedForm } from "./signature-header.js";

const LIST: TaggedForm = { header: "x-list", encoding: "hex", separator: ",", time: "t", signature: "v1" };

function list(text: string): { time: string; signatures: string[] } {
  const { time, signatures } = readTagged({ "x-list": text }, LIST);
  return { time, signatures: signatures.map(encodeHex) };
}

function entries(count: number): string {
  return `t=17${",v1=aa".repeat(count - 1)}`;
}

describe("a header with one signature", () => {
  it("is read behind its prefix", () => {
    const read = readSignature(
      { "X-Sig": "sha256=00fF" },
      { header: "x-sig", encoding: "hex", prefix: "sha256=" },
    );
    expect([...read]).toEqual([0, 255]);
    expect([...readSignature({ "x-sig": "AP8=" }, { header: "x-sig", encoding: "base64" })]).toEqual([
      0, 255,
    ]);
  });

  it.each(["00ff", "SHA256=00ff", "sha256=", "sha256=0", "sha256=0x", "sha256=00ff ", " sha256=00ff"])(
    "is refused when it is %j",
    (text) => {
      expect(() =>
        readSignature({ "x-sig": text }, { header: "x-sig", encoding: "hex", prefix: "sha256=" }),
      ).toThrow(expect.objectContaining({ code: "header_malformed", detail: { header: "x-sig" } }));
    },
  );
});

describe("a header that lists signatures", () => {
  it("gives the time and every signature that counts, in order", () => {
    expect(list("v1=aa,t=17,v1=bb")).toEqual({ time: "17", signatures: ["aa", "bb"] });
  });

  it("passes over tags that nobody knows and signatures that cannot be read", () => {
    expect(list("t=17,v0=cc,kid,v1=zz,v1=,xv1=dd,V1=ee,v1=aa")).toEqual({ time: "17", signatures: ["aa"] });
  });

  it("allows spaces around its entries, as some senders put them", () => {
    expect(list("t=17, v1=aa")).toEqual({ time: "17", signatures: ["aa"] });
  });

  it("is refused without a time, and with two", () => {
    for (const text of ["v1=aa", "t,v1=aa", "t=1,t=1,v1=aa"])
      expect(() => list(text)).toThrow(expect.objectContaining({ code: "header_malformed" }));
  });

  it("is read with sixteen entries and refused with seventeen", () => {
    expect(list(entries(16)).signatures).toHaveLength(15);
    expect(() => list(entries(17))).toThrow(expect.objectContaining({ code: "header_malformed" }));
  });
});

it("no signature makes no claim", () => {
  const claim = { algorithm: "hmac_sha256", content: ["x"], signatures: [Uint8Array.of(1)] } as const;
  expect(claims(claim)).toEqual([claim]);
  expect(claims({ ...claim, signatures: [] })).toEqual([]);
});

import { describe, expect, it } from "vitest";
import { isEncoded, refusalOf } from "./refusal.js";

describe("a refusal", () => {
  it.each([
    ["signature_mismatch", 401],
    ["header_missing", 401],
    ["", 401],
    ["constructor", 401],
    ["body_not_raw", 500],
    ["url_required", 500],
    ["signature_unverifiable", 503],
  ])("for %j is answered %i, without a word", (code, status) => {
    expect(refusalOf(code)).toEqual({ status });
  });
});

describe("a body", () => {
  it.each([[{}], [{ "content-encoding": "" }], [{ "Content-Encoding": "Identity" }], [new Headers()]])(
    "is as it was signed with %o",
    (headers) => {
      expect(isEncoded(headers)).toBe(false);
    },
  );

  it.each([
    [{ "content-encoding": "gzip" }],
    [{ "content-encoding": "identity, gzip" }],
    [{ "content-encoding": ["identity", "identity"] }],
    [{ "content-encoding": "x".repeat(10_000) }],
    [new Headers({ "content-encoding": "br" })],
  ])("may be compressed with %o", (headers) => {
    expect(isEncoded(headers)).toBe(true);
  });
});

import { expect, it } from "vitest";
import { redactFields, redactText } from "./redact.js";

it.each([
  ["the token phk_abcdefghijklmnop failed", "the token phk_[redacted] failed"],
  ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_[redacted]"],
  [
    "connect to postgres://ph:s3cret@db:5432/x failed",
    "connect to postgres://ph:[redacted]@db:5432/x failed",
  ],
  ["Authorization: Bearer abc.def-ghi", "Authorization: Bearer [redacted]"],
  ["https://example.com/hooks?x=1 at 10:30", "https://example.com/hooks?x=1 at 10:30"],
  ["http://127.0.0.1:8710/api", "http://127.0.0.1:8710/api"],
])("%j is logged as %j", (text, line) => {
  expect(redactText(text)).toBe(line);
});

it("fields that hold secrets or payloads are taken out, however deep they stand", () => {
  const fields = {
    event: "evt_1",
    headers: { Authorization: "x", accept: "y" },
    a: { b: { secrets: ["s"] } },
    body: "b",
  };
  expect(redactFields(fields)).toEqual({
    event: "evt_1",
    headers: { Authorization: "[redacted]", accept: "y" },
    a: { b: { secrets: "[redacted]" } },
    body: "[redacted]",
  });
});

import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import type { Event } from "../../event.js";
import { readEvents } from "../read-events.js";
import { verifySync } from "../verify.js";
import { sentry } from "./sentry.js";

const SECRET = "4f6b2d9e8c1a4f6b2d9e8c1a4f6b2d9e";

function receive(body: string, headers: Record<string, string | string[]> = {}): readonly Event[] {
  const signature = createHmac("sha256", SECRET).update(body).digest("hex");
  const all = { "sentry-hook-signature": signature, "sentry-hook-resource": "issue", ...headers };
  return readEvents(verifySync(sentry({ secrets: SECRET }), { headers: all, body: utf8(body) }));
}

it("two attempts of one event are not told apart by the request id, which is new on each", () => {
  const [first] = receive('{"action":"created"}', { "request-id": "a" });
  const [second] = receive('{"action":"created"}', { "request-id": "b" });
  expect(first?.id).toBeUndefined();
  expect(second).toEqual(first);
});

it.each(["", "{", "[]", '{"action":7}'])("an event of the body %j is named by its resource alone", (body) => {
  expect(receive(body)).toMatchObject([{ type: "issue", time: undefined }]);
});

it("a resource that stands twice is refused before the event is named", () => {
  expect(() => receive("{}", { "sentry-hook-resource": ["issue", "error"] })).toThrow(
    expect.objectContaining({ code: "header_malformed" }),
  );
});

import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import type { Event } from "../../event.js";
import { readEvents } from "../read-events.js";
import { verifySync } from "../verify.js";
import { vercel } from "./vercel.js";

const SECRET = "vercel-webhook-secret-24";

function receive(body: string): readonly Event[] {
  const headers = { "x-vercel-signature": createHmac("sha1", SECRET).update(body).digest("hex") };
  return readEvents(verifySync(vercel({ secrets: SECRET }), { headers, body: utf8(body) }));
}

it.each([1_699_999_999_123, "2023-11-14T22:13:19.123Z"])("a creation at %j is read", (createdAt) => {
  expect(receive(JSON.stringify({ createdAt }))[0]?.time?.toISOString()).toBe("2023-11-14T22:13:19.123Z");
});

it.each(["", "{", "[]", '{"id":7,"type":[],"createdAt":{}}', '{"__proto__":{"id":"x","type":"y"}}'])(
  "an event has neither id nor type nor time when the body is %j",
  (body) => {
    expect(receive(body)).toMatchObject([{ id: undefined, type: "unknown", time: undefined }]);
  },
);

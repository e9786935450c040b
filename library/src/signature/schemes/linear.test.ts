import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import { systemClock } from "../../clock.js";
import { readEvents } from "../read-events.js";
import type { Verified } from "../scheme.js";
import { verifySync } from "../verify.js";
import { linear } from "./linear.js";

const SECRET = "lin_wh_tqWpZ5n1vYk8s3Dj6Gm0";
const NOW_MS = 1_700_000_000_000;
const verifier = linear({ secrets: SECRET, clock: { ...systemClock, now: () => NOW_MS } });

function receive(body: string, more: Record<string, string | string[]> = {}): Verified {
  const signature = createHmac("sha256", SECRET).update(body).digest("hex");
  return verifySync(verifier, { headers: { "linear-signature": signature, ...more }, body: utf8(body) });
}

it("the time of a request of Linear's is the one in its body, in milliseconds", () => {
  const verified = receive(`{"webhookTimestamp":${NOW_MS - 1}}`, { "linear-timestamp": "1" });
  expect(verified.signedAt).toEqual(new Date(NOW_MS - 1000));
});

it.each(["null", "0", "-1", "1700000000000.5", '"1700000000000"', "[]", "1e300"])(
  "a time of %s is refused as no time",
  (value) => {
    expect(() => receive(`{"webhookTimestamp":${value}}`)).toThrow(
      expect.objectContaining({ code: "timestamp_malformed" }),
    );
  },
);

it.each(["", "[]", "{}", '{"data":{"webhookTimestamp":1700000000000}}'])(
  "a body of %j, without a time, is refused",
  (body) => {
    expect(() => receive(body)).toThrow(expect.objectContaining({ code: "body_malformed" }));
  },
);

it("an event with nothing but a time has neither id nor type nor time of its own", () => {
  expect(
    readEvents(receive(`{"webhookTimestamp":${NOW_MS},"type":7,"action":"x","createdAt":"?"}`)),
  ).toMatchObject([{ id: undefined, type: "unknown", time: undefined }]);
});

it("a Linear-Delivery header that stands twice is refused", () => {
  expect(() => receive(`{"webhookTimestamp":${NOW_MS}}`, { "linear-delivery": ["a", "b"] })).toThrow(
    expect.objectContaining({ code: "header_malformed" }),
  );
});

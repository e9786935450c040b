import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import { readEvents } from "../read-events.js";
import type { Verified } from "../scheme.js";
import { verifySync } from "../verify.js";
import { shopify } from "./shopify.js";

const SECRET = "hush-shpss_8f9c4d1e2b3a4c5d";
const BODY = '{"id":1}';
const SIGNATURE = createHmac("sha256", SECRET).update(BODY).digest("base64");

function check(headers: Record<string, string | string[]>): Verified {
  return verifySync(shopify({ secrets: SECRET }), { headers, body: utf8(BODY) });
}

function receive(headers: Record<string, string>): unknown {
  return readEvents(check(headers)).map(({ id, type, time }) => ({ id, type, time }));
}

it("the headers of webhooks and of Events are never mixed", () => {
  const both = {
    "shopify-hmac-sha256": SIGNATURE,
    "shopify-topic": "product.update",
    "x-shopify-topic": "orders/paid",
    "x-shopify-webhook-id": "w_1",
    "x-shopify-triggered-at": "2023-11-14T22:13:20Z",
  };
  expect(receive(both)).toEqual([{ id: undefined, type: "product.update", time: undefined }]);
});

it("a wrong signature in the newer header is not mended by a right one in the older", () => {
  const headers = {
    "shopify-hmac-sha256": SIGNATURE.replaceAll(/[a-z]/g, "A"),
    "x-shopify-hmac-sha256": SIGNATURE,
  };
  expect(() => receive(headers)).toThrow(expect.objectContaining({ code: "signature_mismatch" }));
});

it("the id of a Shopify event is that of the delivery, since topics share the event's", () => {
  const headers = {
    "x-shopify-hmac-sha256": SIGNATURE,
    "x-shopify-event-id": "e_1",
    "x-shopify-webhook-id": "w_1",
  };
  expect(receive(headers)).toEqual([{ id: "w_1", type: "unknown", time: undefined }]);
});

it.each(["x-shopify-webhook-id", "x-shopify-topic", "x-shopify-triggered-at"])(
  "a %s header that stands twice is refused",
  (name) => {
    expect(() => check({ "x-shopify-hmac-sha256": SIGNATURE, [name]: ["a", "b"] })).toThrow(
      expect.objectContaining({ code: "header_malformed" }),
    );
  },
);

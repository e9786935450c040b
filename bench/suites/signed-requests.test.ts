import { Webhook } from "standardwebhooks";
import { Webhook as SvixWebhook } from "svix";
import { expect, test } from "vitest";
import { createKeys, orderBody, signed, SIZES } from "./signed-requests.js";

test.each(Object.values(SIZES))("a body of %i bytes has that size and is valid JSON", (bytes) => {
  const body = orderBody(bytes);
  expect(body.byteLength).toBe(bytes);
  expect(JSON.parse(body.toString())).toMatchObject({ type: "order.paid" });
});

test("the official libraries accept a request that is signed here, and refuse it with one byte changed", () => {
  const keys = createKeys();
  const { headers, body } = signed("v1", keys, orderBody(1_000));
  const changed = Buffer.from(body.toString().replace("order", "0rder"));
  for (const webhook of [new Webhook(keys.secret), new SvixWebhook(keys.secret)]) {
    expect(webhook.verify(body, headers)).toMatchObject({ type: "order.paid" });
    expect(() => webhook.verify(changed, headers)).toThrow("No matching signature");
  }
});

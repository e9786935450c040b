import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import type { Event } from "../../event.js";
import { readEvents } from "../read-events.js";
import { verifySync } from "../verify.js";
import { LEMON_SQUEEZY, lemonSqueezy } from "./lemon-squeezy.js";

const SECRET = "lemon-squeezy-signing-secret";

function receive(body: string, name: string | string[]): readonly Event[] {
  const signature = createHmac("sha256", SECRET).update(body).digest("hex");
  const headers = { "x-signature": signature, "x-event-name": name };
  return readEvents(verifySync(lemonSqueezy({ secrets: SECRET }), { headers, body: utf8(body) }));
}

it("neither the order's id nor the undocumented webhook id is taken for the event's", () => {
  const body = '{"meta":{"event_name":"order_created","webhook_id":"w"},"data":{"id":"1"}}';
  expect(receive(body, "order_created")[0]?.id).toBeUndefined();
});

it.each(["", "{", "[]", '{"meta":[]}', '{"meta":{"event_name":7}}'])(
  "an event of the body %j is named by the header",
  (body) => {
    expect(receive(body, "order_created")).toMatchObject([{ type: "order_created", time: undefined }]);
  },
);

it("a name that stands twice is refused before the event is named", () => {
  expect(() => receive("{}", ["a", "b"])).toThrow(expect.objectContaining({ code: "header_malformed" }));
});

it("success is 200, since 204 would be repeated", () => {
  expect(LEMON_SQUEEZY.replies.success).toEqual({ status: 200 });
});

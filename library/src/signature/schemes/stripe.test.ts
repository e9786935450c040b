import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import { systemClock } from "../../clock.js";
import { readEvents } from "../read-events.js";
import { verifySync } from "../verify.js";
import { stripe } from "./stripe.js";

const SECRET = "whsec_4f1c0e8a9b7d6c5e4f3a2b1c0d9e8f7a";
const NOW_S = 1_700_000_000;
const verifier = stripe({ secrets: SECRET, clock: { ...systemClock, now: () => NOW_S * 1000 } });

function receive(body: string): unknown {
  const signature = createHmac("sha256", SECRET).update(`${NOW_S}.${body}`).digest("hex");
  const headers = { "Stripe-Signature": `t=${NOW_S},v1=${signature}` };
  return readEvents(verifySync(verifier, { headers, body: utf8(body) })).map(({ id, type, time }) => ({
    id,
    type,
    time,
  }));
}

describe("an event of Stripe's", () => {
  it("has the time of its creation, in seconds or as text", () => {
    expect(receive('{"id":"evt_1","type":"a.b","created":1700000000}')).toEqual([
      { id: "evt_1", type: "a.b", time: new Date(NOW_S * 1000) },
    ]);
    expect(receive('{"id":"evt_1","type":"a.b","created":"2023-11-14T22:13:20Z"}')).toEqual([
      { id: "evt_1", type: "a.b", time: new Date(NOW_S * 1000) },
    ]);
  });

  it.each(["", "null", "[]", '"text"', "{", '{"id":7,"type":{},"created":[]}', '{"created":1e300}'])(
    "has neither id nor type nor time when the body is %j",
    (body) => {
      expect(receive(body)).toEqual([{ id: undefined, type: "unknown", time: undefined }]);
    },
  );
});

import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import { systemClock } from "../../clock.js";
import { readEvents } from "../read-events.js";
import type { Verified } from "../scheme.js";
import { verifySync } from "../verify.js";
import { zoom } from "./zoom.js";

const SECRET = "Z0oMSecretTokenOf22chr";
const NOW_S = 1_700_000_000;
const clock = { ...systemClock, now: () => NOW_S * 1000 };
const verifier = zoom({ secrets: ["another-secret-token-22", SECRET], clock });

function receive(body: string, secret = SECRET): Verified {
  const signature = `v0=${createHmac("sha256", secret).update(`v0:${NOW_S}:${body}`).digest("hex")}`;
  const headers = { "x-zm-request-timestamp": String(NOW_S), "x-zm-signature": signature };
  return verifySync(verifier, { headers, body: utf8(body) });
}

function validation(plainToken: unknown): string {
  return JSON.stringify({ event: "endpoint.url_validation", payload: { plainToken } });
}

describe("the validation of an address", () => {
  it("is answered with the token and its MAC under the secret that signed the request", async () => {
    const reply = await verifier.scheme.handshake?.(receive(validation("qgg8vlvZRS6UYooatFL8Aw")));
    expect(reply).toMatchObject({
      status: 200,
      headers: { "content-type": "application/json", "x-content-type-options": "nosniff" },
    });
    // What @zoom/rivet 0.4.0 answers.
    expect(JSON.parse(reply?.body ?? "")).toEqual({
      plainToken: "qgg8vlvZRS6UYooatFL8Aw",
      encryptedToken: "8f89b46ffc30630517ee238b146180bd39684fa7e6c444dce268d9c2b73e212b",
    });
  });

  it("is never answered to a stranger", () => {
    expect(() => receive(validation("qgg8vlvZRS6UYooatFL8Aw"), "a stranger's secret")).toThrow(
      expect.objectContaining({ code: "signature_mismatch" }),
    );
  });

  it("is answered up to 128 characters", async () => {
    await expect(verifier.scheme.handshake?.(receive(validation("x".repeat(128))))).resolves.toMatchObject({
      status: 200,
    });
  });

  it("signs nothing that could pass as a request", () => {
    const forged = `v0:${NOW_S}:{"event":"meeting.ended"}`;
    expect(verifier.scheme.handshake?.(receive(validation(forged)))).toEqual({ status: 400 });
    expect(verifier.scheme.handshake?.(receive(validation("v0:1:x")))).toEqual({ status: 400 });
  });

  it.each(["x".repeat(129), "", "a b", "a\nb", "<b>", "ä", 7, null, ["a"]])(
    "is refused when the token is %j",
    (token) => {
      expect(verifier.scheme.handshake?.(receive(validation(token)))).toEqual({ status: 400 });
    },
  );

  it("is not seen in anything else", () => {
    const event = '{"event":"meeting.started","payload":{"plainToken":"x"}}';
    for (const body of [event, '["endpoint.url_validation"]', ""])
      expect(verifier.scheme.handshake?.(receive(body))).toBeUndefined();
  });
});

it("two people who join in the same millisecond are two events: no id is made up", () => {
  const object = { id: "1", participant: { user_name: "a" } };
  const body = JSON.stringify({ event: "meeting.participant_joined", event_ts: 1, payload: { object } });
  expect(readEvents(receive(body))[0]?.id).toBeUndefined();
  expect(readEvents(receive(body.replace('"a"', '"b"')))[0]?.id).toBeUndefined();
});

it.each(["", "{", "[]", '{"event":7,"event_ts":"1699999999123"}', '{"event_ts":1e300}'])(
  "an event has neither id nor type nor time when the body is %j",
  (body) => {
    expect(readEvents(receive(body))).toMatchObject([{ id: undefined, type: "unknown", time: undefined }]);
  },
);

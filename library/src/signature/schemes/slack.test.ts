import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import { systemClock } from "../../clock.js";
import { readEvents } from "../read-events.js";
import type { Verified } from "../scheme.js";
import { verifySync } from "../verify.js";
import { slack } from "./slack.js";

const SECRET = "8f742231b10e8888abcd99yyyzzz85a5";
const NOW_S = 1_700_000_000;
const verifier = slack({ secrets: SECRET, clock: { ...systemClock, now: () => NOW_S * 1000 } });

function receive(body: string, secret = SECRET): Verified {
  const signature = `v0=${createHmac("sha256", secret).update(`v0:${NOW_S}:${body}`).digest("hex")}`;
  const headers = { "x-slack-request-timestamp": String(NOW_S), "x-slack-signature": signature };
  return verifySync(verifier, { headers, body: utf8(body) });
}

function challenge(value: unknown): string {
  return JSON.stringify({ type: "url_verification", challenge: value });
}

describe("the question whether an address is ours", () => {
  it("is answered by its challenge, as plain text that no browser takes for a page", () => {
    expect(verifier.scheme.handshake?.(receive(challenge("3eZbrw1aBm2rZgRNFdxV")))).toEqual({
      status: 200,
      headers: { "content-type": "text/plain", "x-content-type-options": "nosniff" },
      body: "3eZbrw1aBm2rZgRNFdxV",
    });
  });

  it("is never answered to a stranger", () => {
    expect(() => receive(challenge("3eZbrw1aBm2rZgRNFdxV"), "another secret")).toThrow(
      expect.objectContaining({ code: "signature_mismatch" }),
    );
  });

  it("is answered up to 256 characters", () => {
    expect(verifier.scheme.handshake?.(receive(challenge("x".repeat(256))))).toMatchObject({ status: 200 });
  });

  it.each(["x".repeat(257), "", "a b", "a\nb", "ä", 7, null])(
    "is refused when the challenge is %j",
    (value) => {
      expect(verifier.scheme.handshake?.(receive(challenge(value)))).toEqual({ status: 400 });
    },
  );

  it("is not seen in anything else, such as an event that carries a challenge", () => {
    const event = '{"type":"event_callback","challenge":"x","event":{"type":"url_verification"}}';
    for (const body of [event, "type=url_verification&challenge=x", "[]", ""])
      expect(verifier.scheme.handshake?.(receive(body))).toBeUndefined();
  });
});

it.each(["", "[]", "{", '{"type":7,"event":[],"event_id":{}}', "payload=%7B", "payload=%zz", "text=hello"])(
  "an event has neither id nor type nor time when the body is %j",
  (body) => {
    expect(readEvents(receive(body))).toMatchObject([{ id: undefined, type: "unknown", time: undefined }]);
  },
);

it("the reply that stops an event is a failure with the header that forbids to repeat it", () => {
  expect(verifier.scheme.replies.stopEvent).toEqual({ status: 400, headers: { "x-slack-no-retry": "1" } });
});

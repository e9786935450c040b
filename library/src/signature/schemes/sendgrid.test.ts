import { generateKeyPairSync, sign } from "node:crypto";
import { expect, it } from "vitest";
import { encodeBase64, utf8 } from "../../bytes.js";
import type { Event } from "../../event.js";
import { readEvents } from "../read-events.js";
import { verifySync } from "../verify.js";
import { sendgrid } from "./sendgrid.js";

const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
const KEY = pair.publicKey.export({ format: "der", type: "spki" }).toString("base64");
const P384 = generateKeyPairSync("ec", { namedCurve: "P-384" }).publicKey;

function receive(body: string): readonly Event[] {
  const headers = {
    "x-twilio-email-event-webhook-timestamp": "1700000000",
    "x-twilio-email-event-webhook-signature": sign(
      "sha256",
      utf8(`1700000000${body}`),
      pair.privateKey,
    ).toString("base64"),
  };
  return readEvents(verifySync(sendgrid({ secrets: KEY }), { headers, body: utf8(body) }));
}

it("each event's body is its own slice of the very bytes", () => {
  const events = receive('[{"sg_event_id":"a","x":"},\\"{"},\r\n{"sg_event_id":"b"}]\r\n');
  expect(events.map(({ id, body }) => [id, new TextDecoder().decode(body)])).toEqual([
    ["a", '{"sg_event_id":"a","x":"},\\"{"}'],
    ["b", '{"sg_event_id":"b"}'],
  ]);
});

it("an empty array carries no event", () => {
  expect(receive("[]")).toEqual([]);
});

it.each(["", "{", "null", '{"sg_event_id":7,"event":{},"timestamp":"1"}', '[["sg_event_id"]]'])(
  "a body of %j is one event that has neither id nor type nor time",
  (body) => {
    expect(receive(body)).toMatchObject([{ id: undefined, type: "unknown", time: undefined }]);
  },
);

const NOT_P256 = "is not a public key on the curve P-256";

it.each([
  [
    "has its BEGIN and END lines",
    pair.publicKey.export({ format: "pem", type: "spki" }).toString(),
    "is not base64",
  ],
  ["is on another curve", P384.export({ format: "der", type: "spki" }).toString("base64"), NOT_P256],
  ["is cut short", KEY.slice(0, -4), NOT_P256],
  [
    "is a point without what stands before it",
    Buffer.from(KEY, "base64").subarray(-65).toString("base64"),
    NOT_P256,
  ],
  ["names another curve of the same size", encodeBase64(Buffer.from(KEY, "base64").with(22, 0x08)), NOT_P256],
  ["is an API key", "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", "is not base64"],
])("a verification key that %s is refused at construction, with what to look for", (_, secrets, found) => {
  expect(() => sendgrid({ secrets })).toThrow(
    expect.objectContaining({
      code: "secret_malformed",
      message:
        `secret 1 ${found}. Expected the "Verification Key" of Mail Settings, Event Webhook: 124 characters, ` +
        "without BEGIN and END lines.",
    }),
  );
});

import { generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import { readEvents } from "../read-events.js";
import type { Reply, Verified } from "../scheme.js";
import { successReply } from "../success-reply.js";
import { verifySync } from "../verify.js";
import { discord } from "./discord.js";

const pair = generateKeyPairSync("ed25519");
const PUBLIC_KEY = pair.publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("hex");
const verifier = discord({ secrets: PUBLIC_KEY });

function receive(body: string): Verified {
  const signature = sign(null, utf8(`1700000000${body}`), pair.privateKey).toString("hex");
  const headers = { "x-signature-timestamp": "1700000000", "x-signature-ed25519": signature };
  return verifySync(verifier, { headers, body: utf8(body) });
}

function replyTo(body: string): Reply | Promise<Reply> | undefined {
  return verifier.scheme.handshake?.(receive(body));
}

describe("a ping", () => {
  it("of webhook events, which is number 0, gets 204 without a body but with a content type", () => {
    expect(replyTo('{"version":1,"application_id":"1","type":0}')).toEqual({
      status: 204,
      headers: { "content-type": "application/json" },
    });
  });

  it("of interactions, which is number 1, gets a pong", () => {
    expect(replyTo('{"id":"7","application_id":"1","type":1,"token":"t","version":1}')).toEqual({
      status: 200,
      headers: { "content-type": "application/json" },
      body: '{"type":1}',
    });
  });

  it("is not seen in a webhook event, whose number is 1 as well", () => {
    expect(replyTo('{"version":1,"type":1,"event":{"type":"ENTITLEMENT_CREATE"}}')).toBeUndefined();
  });

  it("is not seen in anything else", () => {
    const bodies = ['{"type":2,"id":"7"}', '{"type":"0"}', '{"type":false}', "{}", "[0]", "null", ""];
    for (const body of bodies) expect(replyTo(body)).toBeUndefined();
  });
});

it.each([
  [2, "APPLICATION_COMMAND"],
  [3, "MESSAGE_COMPONENT"],
  [4, "APPLICATION_COMMAND_AUTOCOMPLETE"],
  [5, "MODAL_SUBMIT"],
  [99, "unknown"],
])("an interaction of type %i is called %s, with an id of its own", (type, name) => {
  expect(readEvents(receive(JSON.stringify({ type, id: "786008729715212338" })))).toMatchObject([
    { id: "786008729715212338", type: name },
  ]);
});

describe("what was accepted", () => {
  it.each([
    ["a webhook event", '{"version":1,"type":1,"event":{"type":"ENTITLEMENT_CREATE"}}', 204],
    ["a command", '{"type":2,"id":"7"}', 202],
    ["a component", '{"type":3,"id":"7"}', 202],
    ["an autocompletion", '{"type":4,"id":"7"}', 202],
    ["a modal", '{"type":5,"id":"7"}', 202],
    ["an interaction of a kind to come", '{"type":99,"id":"7"}', 202],
    ["something that is neither", "[]", 204],
  ])("%s, is answered %s", (_, body, status) => {
    const headers = { "content-type": "application/json" };
    expect(successReply(receive(body))).toEqual(status === 204 ? { status, headers } : { status });
  });
});

it("the id of a webhook event's subject is not taken for the event's", () => {
  const body = '{"type":1,"id":"1","event":{"type":"ENTITLEMENT_UPDATE","data":{"id":"7"}}}';
  expect(readEvents(receive(body))[0]).toMatchObject({ id: undefined, type: "ENTITLEMENT_UPDATE" });
});

it.each([
  "",
  "{",
  "[]",
  '{"event":"x","type":"constructor"}',
  '{"event":{"type":1,"timestamp":"x"},"id":"1"}',
])("an event has neither id nor type nor time when the body is %j", (body) => {
  expect(readEvents(receive(body))).toMatchObject([{ id: undefined, type: "unknown", time: undefined }]);
});

it.each([
  ["is cut short", PUBLIC_KEY.slice(2), "has 31 bytes"],
  ["is not hexadecimal", `${PUBLIC_KEY.slice(2)}zz`, "is not hexadecimal"],
  [
    "is the application's token",
    "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs",
    "is not hexadecimal",
  ],
])("a public key that %s is refused at construction, with what to look for", (_, secrets, found) => {
  expect(() => discord({ secrets })).toThrow(
    expect.objectContaining({
      code: "secret_malformed",
      message: `secret 1 ${found}. Expected the 64 characters of "Public Key" on the application's General Information page.`,
    }),
  );
});

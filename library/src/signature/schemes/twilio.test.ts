import { createHmac } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import type { Event } from "../../event.js";
import { readEvents } from "../read-events.js";
import type { Verified, Verifier } from "../scheme.js";
import { signedUrl } from "../signed-url.js";
import { verifySync } from "../verify.js";
import { twilio } from "./twilio.js";

const TOKEN = "b7a1c3d5e7f90123456789abcdef0123";
const URL_SIGNED = "https://example.com/hooks?x=1";
const EMPTY = new Uint8Array();
const verifier = twilio({ secrets: TOKEN });

function sign(text: string): string {
  return createHmac("sha1", TOKEN).update(text).digest("base64");
}

type Headers = Record<string, string | string[]>;

function check(url: string, body: string, headers: Headers): Verified {
  return verifySync(verifier, { headers, body: utf8(body), url });
}

function receive(url: string, body: string, signature: string, more: Headers = {}): unknown {
  const events = readEvents(check(url, body, { "x-twilio-signature": signature, ...more }));
  return events.map(({ id, type, time }) => ({ id, type, time }));
}

describe("a form of Twilio's", () => {
  it("is verified whatever the order of its fields", () => {
    const names = fc.uniqueArray(fc.string({ unit: "grapheme", minLength: 1, maxLength: 4 }), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(names, fc.func(fc.string({ unit: "grapheme", maxLength: 4 })), (keys, valueOf) => {
        const pairs = keys.map((key): [string, string] => [key, valueOf(key)]);
        const signed =
          URL_SIGNED +
          pairs
            .toSorted(([a], [b]) => (a < b ? -1 : 1))
            .flat()
            .join("");
        const body = new URLSearchParams(pairs).toString();
        expect(check(URL_SIGNED, body, { "x-twilio-signature": sign(signed) }).keyIndex).toBe(0);
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    ["RecordingSid=RE1&CallSid=CA1&RecordingStatus=completed", "recording.completed"],
    ["MessageSid=SM1&MessageStatus=sent&SmsStatus=queued", "message.sent"],
    ["CallSid=CA1", "call"],
    ["EventType=task.created&CallSid=CA1", "task.created"],
    ["Digits=1", "unknown"],
  ])("%s is of the type %s", (body, type) => {
    const pairs = [...new URLSearchParams(body)].toSorted(([a], [b]) => (a < b ? -1 : 1));
    expect(receive(URL_SIGNED, body, sign(URL_SIGNED + pairs.flat().join("")))).toMatchObject([{ type }]);
  });

  it("has an id only from the idempotency header, because a call's sid is shared by all that happens to it", () => {
    const signature = sign(`${URL_SIGNED}CallSidCA1`);
    expect(receive(URL_SIGNED, "CallSid=CA1", signature)).toMatchObject([{ id: undefined }]);
    const more = { "I-Twilio-Idempotency-Token": "t_1" };
    expect(receive(URL_SIGNED, "CallSid=CA1", signature, more)).toMatchObject([{ id: "t_1" }]);
  });

  it("is refused with two idempotency headers", () => {
    const headers = { "x-twilio-signature": sign(URL_SIGNED), "i-twilio-idempotency-token": ["a", "b"] };
    expect(() => check(URL_SIGNED, "", headers)).toThrow(
      expect.objectContaining({ code: "header_malformed" }),
    );
  });
});

/** The events of a call by GET. */
function fetched(url: string, more: Headers = {}, using: Verifier = verifier): readonly Event[] {
  const headers = {
    "x-twilio-signature": sign(signedUrl({ url }, using)),
    ...more,
  };
  return readEvents(verifySync(using, { headers, body: EMPTY, url, method: "GET" }));
}

describe("a call by GET", () => {
  const ringing = "https://example.com/hooks?CallSid=CA1&CallStatus=ringing";

  it("has its parameters for a body, so that two calls are two events", () => {
    const answered = ringing.replace("ringing", "in-progress");
    const [first, second] = [...fetched(ringing), ...fetched(answered)];
    expect([first?.id, first?.type, first?.body]).toEqual([
      undefined,
      "call.ringing",
      utf8("CallSid=CA1&CallStatus=ringing"),
    ]);
    expect(second?.body).toEqual(utf8("CallSid=CA1&CallStatus=in-progress"));
  });

  it("is named by its idempotency token, where it has one", () => {
    expect(fetched(ringing, { "i-twilio-idempotency-token": "t_1" })).toMatchObject([
      { id: "t_1", body: utf8("CallSid=CA1&CallStatus=ringing") },
    ]);
  });

  it("is read from the URL that was signed, not from what else the request says", () => {
    const proxied = twilio({ secrets: TOKEN, publicUrl: "https://example.com/hooks?CallSid=CA7" });
    const headers = { "x-twilio-signature": sign("https://example.com/hooks?CallSid=CA7") };
    expect(readEvents(verifySync(proxied, { headers, body: EMPTY, method: "GET" }))).toMatchObject([
      { type: "call", body: utf8("CallSid=CA7") },
    ]);
  });

  it("without parameters is an empty event", () => {
    expect(fetched("https://example.com/hooks")).toMatchObject([{ type: "unknown", body: EMPTY }]);
  });
});

describe("the port of a URL", () => {
  it.each([
    ["https://example.com/a", "https://example.com:443/a"],
    ["http://example.com/a", "http://example.com:80/a"],
    ["https://example.com:8443/a", "https://example.com/a"],
    ["https://[::1]/a", "https://[::1]:443/a"],
    ["https://[::1]:9/a", "https://[::1]/a"],
    ["https://u:1@example.com/a:2?b=:3", "https://u:1@example.com:443/a:2?b=:3"],
    ["https://example.com?a=:1", "https://example.com:443?a=:1"],
  ])("%s is also tried as %s", (url, variant) => {
    for (const signed of [url, variant])
      expect(check(url, "", { "x-twilio-signature": sign(signed) }).keyIndex).toBe(0);
  });

  it("is not guessed: another port than the default one is another URL", () => {
    expect(() => receive("https://example.com/a", "", sign("https://example.com:8443/a"))).toThrow(
      expect.objectContaining({ code: "signature_mismatch" }),
    );
  });
});

function bound(hash: string): string {
  return `https://example.com/events?bodySHA256=${hash}`;
}

describe("a JSON body of Twilio's", () => {
  it("is refused when the URL names the hash of another, though the signature holds", () => {
    const url = bound("0".repeat(64));
    expect(() => receive(url, "{}", sign(url))).toThrow(
      expect.objectContaining({
        code: "signature_mismatch",
        message: "The signature holds, but not for this body.",
      }),
    );
  });

  it("may be one CloudEvent, many, or none", async () => {
    const events = ['{"id":"EZ1","type":"a","time":"2023-11-14T22:13:20Z"}', '{"id":7}'];
    const time = new Date("2023-11-14T22:13:20Z");
    const first = { id: "EZ1", type: "a", time };
    const cases = [
      [events[0] ?? "", [first]],
      [`[${events.join(" , ")}]`, [first, { id: undefined, type: "unknown", time: undefined }]],
      ["[]", []],
    ] as const;
    for (const [body, expected] of cases) {
      const digest = await crypto.subtle.digest("SHA-256", utf8(body));
      const url = bound(Buffer.from(digest).toString("hex"));
      expect(receive(url, body, sign(url))).toEqual(expected);
    }
  });
});

import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import type { HmacOptions } from "../hmac-options.js";
import { readEvents } from "../read-events.js";
import type { Verified } from "../scheme.js";
import { verifySync } from "../verify.js";
import { hmac } from "./hmac.js";

const SECRET = "a secret of more than sixteen bytes";
const OPTIONS = {
  name: "acme",
  secrets: SECRET,
  header: "X-Acme-Signature",
  encoding: "hex",
  retryHorizonS: 3600,
} as const satisfies HmacOptions;

type Headers = Record<string, string | string[]>;

function check(options: Partial<HmacOptions>, body: string, headers: Headers = {}): Verified {
  const signature = createHmac("sha256", SECRET).update(body).digest("hex");
  return verifySync(hmac({ ...OPTIONS, ...options }), {
    headers: { "x-acme-signature": signature, ...headers },
    body: utf8(body),
  });
}

function receive(options: Partial<HmacOptions>, body: string, headers: Headers = {}): unknown {
  return readEvents(check(options, body, headers)).map(({ id, type, time }) => ({ id, type, time }));
}

describe("a described scheme", () => {
  it("says that it is described, and by nobody confirmed", () => {
    const { scheme } = hmac({
      ...OPTIONS,
      title: "Acme",
      id: { json: "/data/id" },
      type: { header: "X-Acme-Event" },
    });
    expect(scheme).toMatchObject({
      name: "acme",
      title: "Acme",
      evidence: { kind: "unconfirmed", why: "described by the caller" },
      covers: { body: true, url: false, time: false, id: true },
      identity: { id: "body `data.id`", type: "header `x-acme-event`", time: undefined },
      toleranceS: undefined,
      retryHorizonS: 3600,
    });
  });

  it("knows what its content covers", () => {
    const options = { ...OPTIONS, id: { header: "x-id" }, timestampHeader: "x-time" };
    expect(hmac({ ...options, content: "{timestamp}{body}" }).scheme.covers).toMatchObject({
      time: true,
      id: false,
    });
    expect(hmac({ ...options, content: "{id}:{timestamp}:{body}" }).scheme.covers).toMatchObject({
      id: true,
    });
    expect(hmac({ ...OPTIONS, content: "{url}|{body}" }).scheme.covers).toMatchObject({
      url: true,
      time: false,
    });
  });

  it("allows 300 s where a time is signed, or what it is told", () => {
    const options = { ...OPTIONS, content: "{timestamp}.{body}", timestampHeader: "x-time" };
    expect(hmac(options).toleranceS).toBe(300);
    expect(hmac({ ...options, toleranceS: 30 }).toleranceS).toBe(30);
  });

  it("reads times as ISO, seconds or milliseconds, and leaves out what is none", () => {
    const at = new Date("2023-11-14T22:13:20Z");
    expect(receive({ time: { json: "/t" } }, '{"t":"2023-11-14T22:13:20Z"}')).toMatchObject([{ time: at }]);
    expect(receive({ time: { json: "/t", unit: "s" } }, '{"t":1700000000}')).toMatchObject([{ time: at }]);
    expect(receive({ time: { header: "x-t", unit: "ms" } }, "", { "x-t": "1700000000000" })).toMatchObject([
      { time: at },
    ]);
    for (const body of ['{"t":"soon"}', '{"t":-1}', '{"t":1.5}', '{"t":null}', "[]"])
      expect(receive({ time: { json: "/t", unit: "s" } }, body)).toMatchObject([{ time: undefined }]);
  });

  it("prefers no id to one that JSON.parse has rounded", () => {
    expect(receive({ id: { json: "/a/id" } }, '{"a":{"id":12345678901234567891}}')).toMatchObject([
      { id: undefined },
    ]);
    expect(receive({ id: { json: "/a/id" } }, '{"a":{"id":12}}')).toMatchObject([{ id: "12" }]);
  });

  it("refuses a header that names the event and stands twice", () => {
    expect(() => check({ type: { header: "x-type" } }, "{}", { "x-type": ["a", "b"] })).toThrow(
      expect.objectContaining({ code: "header_malformed" }),
    );
  });
});

describe("a description that cannot work", () => {
  it.each<[string, Record<string, unknown>, string]>([
    [
      "no name",
      { name: undefined },
      'name is undefined; expected lower-case letters, digits and "_", such as "acme".',
    ],
    [
      "a name with capitals",
      { name: "Acme" },
      'name is "Acme"; expected lower-case letters, digits and "_", such as "acme".',
    ],
    [
      "no header",
      { header: undefined },
      'header is undefined; expected the name of a header, such as "x-acme-signature".',
    ],
    [
      "a header with a space",
      { header: "x acme" },
      'header is "x acme"; expected the name of a header, such as "x-acme-signature".',
    ],
    ["no encoding", { encoding: undefined }, 'encoding is undefined; expected "hex" or "base64".'],
    ["an unknown encoding", { encoding: "base58" }, 'encoding is "base58"; expected "hex" or "base64".'],
    ["an unknown algorithm", { algorithm: "md5" }, 'algorithm is "md5"; expected "sha256" or "sha1".'],
    [
      "content without the body",
      { content: "{url}" },
      'content is "{url}"; expected a text with {body} in it.',
    ],
    [
      "content with the body twice",
      { content: "{body}{body}" },
      'content is "{body}{body}"; expected {body} at most once.',
    ],
    [
      "content with an unknown part",
      { content: "{method}{body}" },
      'content is "{method}"; expected {body}, {timestamp}, {id} or {url} between the braces.',
    ],
    [
      "a time without its header",
      { content: "{timestamp}.{body}" },
      "timestampHeader is undefined; expected the header of the time, because `content` has {timestamp}.",
    ],
    [
      "a header of a time that is not signed",
      { timestampHeader: "x-time" },
      'timestampHeader is "x-time"; expected nothing, unless {timestamp} in `content` says where it is signed.',
    ],
    [
      "a unit that is none",
      { content: "{timestamp}{body}", timestampHeader: "x", timestampUnit: "min" },
      'timestampUnit is "min"; expected "s" or "ms".',
    ],
    [
      "a signed id from nowhere",
      { content: "{id}.{body}" },
      'id is undefined; expected a header such as { header: "x-acme-id" }, because `content` has {id}.',
    ],
    [
      "a signed id from the body",
      { content: "{id}.{body}", id: { json: "/id" } },
      'id is {"pointer":["id"]}; expected a header such as { header: "x-acme-id" }, because `content` has {id}.',
    ],
    [
      "a signed id without a mark behind it",
      { content: "{id}{body}", id: { header: "x-id" } },
      'content is "{body}"; expected a character such as "." after {id}.',
    ],
    [
      "a signed id at the end",
      { content: "{body}.{id}", id: { header: "x-id" } },
      'content is ""; expected a character such as "." after {id}.',
    ],
    [
      "a pointer without a slash",
      { id: { json: "id" } },
      'id is {"json":"id"}; expected { header: "x-acme-id" } or { json: "/id" }, a JSON pointer that starts with "/".',
    ],
    [
      "a place that is none",
      { type: {} },
      'type is {}; expected { header: "x-acme-id" } or { json: "/id" }, a JSON pointer that starts with "/".',
    ],
    [
      "a place that is a text",
      { id: "x-acme-id" },
      'id is "x-acme-id"; expected { header: "x-acme-id" } or { json: "/id" }, a JSON pointer that starts with "/".',
    ],
    [
      "a place that is null",
      { time: null },
      'time is null; expected { header: "x-acme-id" } or { json: "/id" }, a JSON pointer that starts with "/".',
    ],
    [
      "a time's unit that is none",
      { time: { json: "/t", unit: "h" } },
      'time.unit is "h"; expected "iso" or "s" or "ms".',
    ],
    [
      "no retry horizon",
      { retryHorizonS: undefined },
      "retryHorizonS is undefined; expected a number of seconds, 0 if the provider never tries again.",
    ],
    [
      "a negative retry horizon",
      { retryHorizonS: -1 },
      "retryHorizonS is -1; expected a number of seconds, 0 if the provider never tries again.",
    ],
    [
      "a secret's encoding that is none",
      { secretEncoding: "latin1" },
      'secretEncoding is "latin1"; expected "utf8" or "base64" or "hex".',
    ],
    [
      "a tolerance without a time",
      { toleranceS: 60 },
      "toleranceS is 60; acme signs no time, so no tolerance can be kept. Leave it out.",
    ],
  ])("is refused when it is made: %s", (_, change, says) => {
    const options = { ...OPTIONS, ...change } as unknown as HmacOptions;
    expect(() => hmac(options)).toThrow(expect.objectContaining({ code: "option_invalid", message: says }));
  });

  it.each(["base64", "hex"] as const)("is refused with a secret that is not %s", (secretEncoding) => {
    expect(() => hmac({ ...OPTIONS, secretEncoding })).toThrow(
      expect.objectContaining({ code: "secret_malformed" }),
    );
  });
});

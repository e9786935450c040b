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
    ["no name", { name: undefined }, "name is undefined"],
    ["a name with capitals", { name: "Acme" }, 'name is "Acme"'],
    ["no header", { header: undefined }, "header is undefined"],
    ["a header with a space", { header: "x acme" }, 'header is "x acme"'],
    ["no encoding", { encoding: undefined }, "encoding is undefined"],
    ["an unknown encoding", { encoding: "base58" }, '"hex" or "base64"'],
    ["an unknown algorithm", { algorithm: "md5" }, '"sha256" or "sha1"'],
    ["content without the body", { content: "{url}" }, "{body}"],
    ["content with the body twice", { content: "{body}{body}" }, "at most once"],
    ["content with an unknown part", { content: "{method}{body}" }, '"{method}"'],
    ["a time without its header", { content: "{timestamp}.{body}" }, "timestampHeader is undefined"],
    ["a header of a time that is not signed", { timestampHeader: "x-time" }, "{timestamp}"],
    [
      "a unit that is none",
      { content: "{timestamp}{body}", timestampHeader: "x", timestampUnit: "min" },
      "timestampUnit",
    ],
    ["a signed id from nowhere", { content: "{id}.{body}" }, "id is undefined"],
    ["a signed id from the body", { content: "{id}.{body}", id: { json: "/id" } }, "header"],
    ["a signed id without a mark behind it", { content: "{id}{body}", id: { header: "x-id" } }, "after {id}"],
    ["a signed id at the end", { content: "{body}.{id}", id: { header: "x-id" } }, "after {id}"],
    ["a pointer without a slash", { id: { json: "id" } }, "JSON pointer"],
    ["a place that is none", { type: {} }, "JSON pointer"],
    ["a place that is a text", { id: "x-acme-id" }, "JSON pointer"],
    ["a place that is null", { time: null }, "JSON pointer"],
    ["a time's unit that is none", { time: { json: "/t", unit: "h" } }, "time.unit"],
    ["no retry horizon", { retryHorizonS: undefined }, "retryHorizonS is undefined"],
    ["a negative retry horizon", { retryHorizonS: -1 }, "retryHorizonS is -1"],
    ["a secret's encoding that is none", { secretEncoding: "latin1" }, "secretEncoding"],
    ["a tolerance without a time", { toleranceS: 60 }, "signs no time"],
  ])("is refused when it is made: %s", (_, change, says) => {
    const options = { ...OPTIONS, ...change } as unknown as HmacOptions;
    expect(() => hmac(options)).toThrow(
      expect.objectContaining({ code: "option_invalid", message: expect.stringContaining(says) }),
    );
  });

  it.each(["base64", "hex"] as const)("is refused with a secret that is not %s", (secretEncoding) => {
    expect(() => hmac({ ...OPTIONS, secretEncoding })).toThrow(
      expect.objectContaining({ code: "secret_malformed" }),
    );
  });
});

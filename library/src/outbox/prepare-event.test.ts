import { describe, expect, it } from "vitest";
import type { Publication } from "../publication.js";
import { contentToHash, prepareEvent } from "./prepare-event.js";

const NOW = Date.UTC(2026, 10, 16);
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

function prepared(given: Partial<Publication> = {}) {
  return prepareEvent({ type: "order.paid", data: { amount: 12 }, ...given }, NOW, { maxBodyBytes: 1000 })
    .event;
}

function contentOf(given: Publication) {
  return prepareEvent(given, NOW, { maxBodyBytes: 1000 }).content;
}

describe("what must be the same when an id is published again", () => {
  it("is the type and the body, and no other type and body make the same bytes", () => {
    const given = { type: "order.paid", id: "a", body: new Uint8Array([1]) };
    expect(contentOf(given)).toEqual(contentToHash("order.paid", given.body));
    expect(contentOf({ ...given, type: "order.refunded" })).not.toEqual(contentOf(given));
    expect(contentToHash("ab", new Uint8Array([0x63]))).not.toEqual(
      contentToHash("a", new Uint8Array([0x62, 0x63])),
    );
  });

  it("is nothing where the caller gave no id", () => {
    expect(contentOf({ type: "t", data: 1 })).toBe(undefined);
  });
});

describe("a publication", () => {
  it("is completed with an id, the time, and the body that Standard Webhooks describes", () => {
    const event = prepared();
    expect(event).toMatchObject({ idGiven: false, tenant: "default", source: "app", key: undefined });
    expect(event.id).toMatch(/^evt_/);
    expect(JSON.parse(text(event.body))).toEqual({
      type: "order.paid",
      timestamp: "2026-11-16T00:00:00.000Z",
      data: { amount: 12 },
    });
  });

  it("is sent as the very bytes that were given", () => {
    const body = new Uint8Array([0, 255, 10]);
    expect(
      prepareEvent({ type: "t", body, contentType: "text/plain" }, NOW, { maxBodyBytes: 3 }).event,
    ).toMatchObject({
      body,
      contentType: "text/plain",
    });
  });

  it.each<[string, Partial<Publication>]>([
    ["without a type", { type: "" }],
    ["with a type that breaks the line", { type: "a\nb" }],
    ["with half a surrogate pair in its key", { key: "\ud800" }],
    ["with an empty key", { key: "" }],
    ["with a key of 256 bytes", { key: "é".repeat(128) }],
    ["with a NUL in its tenant", { tenant: "a\0b" }],
    ["with a full stop in its id", { id: "a.b" }],
    ["with a space in its id", { id: "a b" }],
    ["with data and body", { body: new Uint8Array() }],
    ["with neither data nor body", { data: undefined }],
    ["with data that JSON cannot hold", { data: 1n }],
    ["with a body that is too large", { data: "x".repeat(1000) }],
    ["with a body that is a text", { data: undefined, body: "text" as never }],
    ["with a content type that is two headers", { contentType: "a\r\nb: c" }],
    ["with a date that is none", { deliverAt: new Date(Number.NaN) }],
    ["with a date that is a text", { deliverAt: "tomorrow" as never }],
    ["that has expired", { expiresAt: new Date(NOW) }],
    ["that expires before it is due", { deliverAt: new Date(NOW + 2000), expiresAt: new Date(NOW + 1000) }],
  ])("%s is refused, and the message says what to mend", (_, given) => {
    expect(() => prepared(given)).toThrow(
      expect.objectContaining({
        code: "publication_invalid",
        message: expect.stringMatching(/cannot be published: .{20}/) as string,
      }) as Error,
    );
  });
});

function headersOf(headers: unknown) {
  return prepared({ headers: headers as Record<string, string> }).headers;
}

describe("the headers of a publication", () => {
  it("get names in lower case, and keep their values", () => {
    expect(headersOf({ "X-Shop": "eu\twest", "content-encoding": "gzip", "x-empty": "" })).toEqual({
      "x-shop": "eu\twest",
      "content-encoding": "gzip",
      "x-empty": "",
    });
  });

  it("are none where none were given", () => {
    expect([headersOf(undefined), headersOf({})]).toEqual([undefined, undefined]);
  });

  it("may have a name that means something to the language", () => {
    const headers = headersOf(JSON.parse('{"__proto__":"a","constructor":"b"}'));
    expect(Object.entries(headers ?? {})).toEqual([
      ["__proto__", "a"],
      ["constructor", "b"],
    ]);
  });

  it.each<[string, unknown, string]>([
    [
      "that would sign it anew",
      { "Webhook-Signature": "v1,x" },
      '"Webhook-Signature" is written by the sender',
    ],
    ["of Svix", { "svix-id": "x" }, "written by the sender"],
    ["of Posthorn", { "posthorn-seq": "1" }, "written by the sender"],
    ["that names another host", { HOST: "internal" }, "written by the sender"],
    ["that says what the body is", { "content-type": "text/html" }, "written by the sender"],
    ["that says how long it is", { "Content-Length": "1" }, "written by the sender"],
    ["of the connection", { "transfer-encoding": "chunked" }, "written by the sender"],
    ["that receivers know it by", { "idempotency-key": "x" }, "written by the sender"],
    ["that writes another", { "x-a": "b\r\nwebhook-id: c" }, "visible ASCII"],
    ["that is no text", { "x-a": 7 }, "visible ASCII"],
    ["beyond ASCII", { "x-a": "é" }, "visible ASCII"],
    ["with a space in its name", { "x a": "b" }, "name that HTTP does not allow"],
    ["without a name", { "": "b" }, "name that HTTP does not allow"],
    ["that is there twice", { "x-a": "b", "X-A": "c" }, "given twice"],
  ])("one %s is refused, and the message says what to mend", (_, given, message) => {
    expect(() => headersOf(given)).toThrow(message);
  });

  it.each<[string, unknown]>([
    ["a Headers", new Headers({ "x-a": "b" })],
    ["a Map", new Map([["x-a", "b"]])],
    ["a list", [["x-a", "b"]]],
    ["a text", "x-a: b"],
    ["null", null],
  ])("as %s are refused: they would be left out without a word", (_, given) => {
    expect(() => headersOf(given)).toThrow("plain object");
  });

  it("are refused where there are too many of them, or too much", () => {
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`x-${n}`, "a"]));
    expect(() => headersOf(many)).toThrow("65 headers; at most 64");
    expect(() => headersOf({ "x-a": "a".repeat(8190) })).toThrow("at most 8192");
  });
});

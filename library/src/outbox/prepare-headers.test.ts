import { describe, expect, it } from "vitest";
import { prepareHeaders } from "./prepare-headers.js";

const refuse = (found: string): Error => new Error(found);
const prepared = (given: unknown) => prepareHeaders(given, refuse);

describe("the headers of a publication", () => {
  it("get names in lower case, and keep their values", () => {
    expect(prepared({ "X-Shop": "eu\twest", "content-encoding": "gzip", "x-empty": "" })).toEqual({
      "x-shop": "eu\twest",
      "content-encoding": "gzip",
      "x-empty": "",
    });
  });

  it("are none where none were given", () => {
    expect([prepared(undefined), prepared({})]).toEqual([undefined, undefined]);
  });

  it("may have a name that means something to the language", () => {
    const headers = prepared(JSON.parse('{"__proto__":"a","constructor":"b"}'));
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
    expect(() => prepared(given)).toThrow(message);
  });

  it.each<[string, unknown]>([
    ["a Headers", new Headers({ "x-a": "b" })],
    ["a Map", new Map([["x-a", "b"]])],
    ["a list", [["x-a", "b"]]],
    ["a text", "x-a: b"],
    ["null", null],
  ])("as %s are refused: they would be left out without a word", (_, given) => {
    expect(() => prepared(given)).toThrow("plain object");
  });

  it("are refused where there are too many of them, or too much", () => {
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`x-${n}`, "a"]));
    expect(() => prepared(many)).toThrow("65 headers; at most 64");
    expect(() => prepared({ "x-a": "a".repeat(8190) })).toThrow("at most 8192");
  });
});

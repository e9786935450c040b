import { describe, expect, it } from "vitest";
import { headersOf, parseRawRequest } from "./raw-request.js";
import { curlLine, rawText } from "./written-request.js";

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}

describe("a pasted request", () => {
  it("with CRLF, with LF, and without a request line is the same", () => {
    const forms = [
      "POST /hooks?a=1 HTTP/1.1\r\nA: 1\r\nB: 2\r\n\r\n{\r\n}\n",
      "POST /hooks?a=1 HTTP/1.1\nA: 1\nB:2\n\n{\r\n}\n",
      "\n\nPOST /hooks?a=1\na: 1\nb:  2 \n\n{\r\n}\n",
    ];
    for (const form of forms) {
      const parsed = parseRawRequest(Buffer.from(form));
      expect(parsed).toMatchObject({
        method: "POST",
        target: "/hooks?a=1",
        headers: { a: "1", b: "2" },
        notes: [],
      });
      expect(text(parsed.body)).toBe("{\r\n}\n");
    }
    expect(parseRawRequest(Buffer.from("a: 1\n\nx"))).toMatchObject({ method: "POST", target: undefined });
  });

  it("keeps every byte of its body", () => {
    const body = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const parsed = parseRawRequest(Buffer.concat([Buffer.from("a: 1\r\n\r\n"), body]));
    expect(Buffer.from(parsed.body)).toEqual(body);
  });

  it("is as long as its Content-Length says, and tells what differs", () => {
    const longer = parseRawRequest(Buffer.from("content-length: 2\n\n{}\n"));
    expect(text(longer.body)).toBe("{}");
    expect(longer.notes).toEqual(["Content-Length says 2 bytes: the 1 after them were left out."]);
    const shorter = parseRawRequest(Buffer.from("content-length: 9\n\n{}"));
    expect(text(shorter.body)).toBe("{}");
    expect(shorter.notes).toEqual(["Content-Length says 9 bytes, and only 2 are here: something was lost."]);
  });

  it("without a body, or without anything, is read too", () => {
    expect(parseRawRequest(Buffer.from("GET / HTTP/1.1\nhost: a")).body).toHaveLength(0);
    expect(parseRawRequest(new Uint8Array())).toMatchObject({ headers: {} });
  });

  it("that is none is refused with what was expected", () => {
    expect(() => parseRawRequest(Buffer.from("hello there\n\n{}"))).toThrow(/is no header/);
    expect(() => headersOf([": x"])).toThrow(/is no header/);
  });

  it("has a header that comes twice joined", () => {
    expect(headersOf(["A: 1", "a: 2"])).toEqual({ a: "1, 2" });
  });
});

describe("a written request", () => {
  const request = {
    method: "POST",
    url: "https://example.com/hooks?a=1",
    headers: { "x-a": "it's" },
    body: Buffer.from('{"name":"Zoë\'s"}'),
  };

  it("is read again byte for byte", () => {
    const parsed = parseRawRequest(rawText(request));
    expect(parsed).toMatchObject({ method: "POST", target: "/hooks?a=1", notes: [] });
    expect(parsed.headers).toMatchObject({ host: "example.com", "x-a": "it's" });
    expect(Buffer.from(parsed.body)).toEqual(request.body);
  });

  it("as a curl line is quoted for a shell", () => {
    expect(curlLine(request)).toBe(
      [
        "curl -sS -i \\",
        `  -H 'x-a: it'\\''s' \\`,
        `  --data-binary '{"name":"Zoë'\\''s"}' \\`,
        "  'https://example.com/hooks?a=1'",
      ].join("\n"),
    );
  });

  it("with bytes that no shell hands on goes through base64", () => {
    for (const body of [Buffer.from([0, 255]), Buffer.from("a\u001b[2J"), Buffer.from("@/etc/passwd")]) {
      const line = curlLine({ ...request, body });
      expect(line).toContain(`printf %s '${body.toString("base64")}' | base64 -d | \\\n  curl`);
      expect(line).toContain("--data-binary @-");
    }
  });
});

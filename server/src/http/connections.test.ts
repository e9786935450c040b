import { connect } from "node:net";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiBench, closeBenches } from "../../../test/server/api-bench.js";

let port: number;
beforeAll(async () => {
  const { app } = await apiBench({ settings: { requestTimeoutMs: 300, maxHeaderBytes: 4096 } });
  await app.listen({ host: "127.0.0.1", port: 0 });
  ({ port } = app.server.address() as AddressInfo);
});
afterAll(closeBenches);

/** Everything that the server says on one connection until it closes it. */
function said(...texts: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    let heard = "";
    const socket = connect(port, "127.0.0.1", () => {
      for (const text of texts) socket.write(text);
    });
    socket.setEncoding("latin1").on("data", (text: string) => (heard += text));
    // What the server no longer reads makes the connection break; it has answered by then.
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(heard));
  });
}

describe("a connection", () => {
  it.each([
    ["that speaks something else", "\u0016\u0003\u0001\r\n\r\n", "400", "request_malformed"],
    [
      "with a header that is none",
      "GET /healthz HTTP/1.1\r\nhost: a\r\nb c\r\n\r\n",
      "400",
      "request_malformed",
    ],
    [
      "with two lengths",
      "POST /api/v1/tokens HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
      "400",
      "request_malformed",
    ],
    [
      "with headers that are too large",
      `GET / HTTP/1.1\r\nhost: a\r\nx: ${"x".repeat(9000)}\r\n\r\n`,
      "431",
      "headers_too_large",
    ],
    ["that never ends its headers", "GET /healthz HTTP/1.1\r\nhost: a\r\n", "408", "request_timeout"],
  ])("%s is told so, strictly, and closed", async (_what, text, status, code) => {
    const heard = await said(text);
    const [head = "", body = ""] = heard.split("\r\n\r\n");
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toContain("content-type: application/problem+json");
    expect(head).toContain("x-content-type-options: nosniff");
    expect(JSON.parse(body)).toMatchObject({ code, status: Number(status) });
  });

  it("of a caller without a token is closed after the answer, instead of listened to", async () => {
    const head = "POST /api/v1/events HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    const heard = await said(`${head}content-length: 1000000000\r\n\r\n`, "[");
    expect(heard).toMatch(/^HTTP\/1.1 401 /);
    expect(heard).toContain('"code":"unauthorised"');
  });

  it("is kept for the next request where all is well", async () => {
    const request = "GET /healthz HTTP/1.1\r\nhost: localhost\r\n";
    const heard = await said(`${request}\r\n${request}connection: close\r\n\r\n`);
    expect(heard.match(/HTTP\/1.1 200 OK/g)).toHaveLength(2);
  });
});

import { describe, expect, it } from "vitest";
import { drip, hostile, openEgress } from "./hostile-server.js";

// The way out for reads is that for deliveries; here is what a read has beyond them.

const OK = "HTTP/1.1 200 OK\r\n";
const ok = (body: string, headers = ""): string =>
  `${OK}${headers}content-length: ${body.length}\r\n\r\n${body}`;

describe("a read", () => {
  it("is a GET without a body, and tells the answer's headers", async () => {
    const { port, received } = await hostile((socket) =>
      socket.write(ok("[1]", 'Link: <x>; rel="next"\r\n')),
    );
    const { get } = await openEgress();
    const result = await get(`http://127.0.0.1:${port}/v1/events?limit=1`);
    expect(result).toMatchObject({
      outcome: { kind: "acknowledged", status: 200 },
      headers: { link: '<x>; rel="next"' },
      cut: false,
    });
    expect(Buffer.from(result.answer ?? []).toString()).toBe("[1]");
    const request = received.join("");
    expect(request).toMatch(/^GET \/v1\/events\?limit=1 HTTP\/1\.1\r\n/);
    expect(request).toContain("x-test: 1");
    expect(request).not.toMatch(/content-length|transfer-encoding/i);
  });

  it.each([
    ["is longer than its limit", (text: string) => ok(text)],
    ["breaks off", (text: string) => `${OK}content-length: 1000\r\n\r\n${text}`],
  ])("says so where the answer %s: half of a list is no list", async (_what, answer) => {
    const { port } = await hostile((socket) => socket.end(answer("[1,2,3,4]")));
    const { get } = await openEgress();
    const result = await get(`http://127.0.0.1:${port}/`, { maxAnswerBytes: 8 });
    expect(result).toMatchObject({ outcome: { kind: "acknowledged" }, cut: true });
  });

  it("says so where the answer drips past the deadline", async () => {
    const { port } = await hostile(
      (socket) => (socket.write(`${OK}content-length: 1000\r\n\r\n`), drip(socket, "y".repeat(1000))),
    );
    const { get } = await openEgress();
    expect(await get(`http://127.0.0.1:${port}/`)).toMatchObject({ cut: true });
  });

  it("is judged before it leaves, as a delivery is, and follows no redirect", async () => {
    const inside = await hostile((socket) => socket.write(ok("secret")));
    const location = `http://127.0.0.1:${inside.port}/`;
    const { port } = await hostile((socket) =>
      socket.write(`HTTP/1.1 302 x\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`),
    );
    const { get } = await openEgress();
    expect(await get(`http://127.0.0.1:${port}/`)).toMatchObject({
      outcome: { kind: "refused", status: 302 },
      location,
    });
    expect(inside.received).toEqual([]);
    const closed = await openEgress({ allowAddresses: [] });
    expect(await closed.get(location)).toMatchObject({
      outcome: { kind: "forbidden" },
      headers: {},
      cut: false,
    });
    expect(inside.received).toEqual([]);
  });
});

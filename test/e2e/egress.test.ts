import { gzipSync } from "node:zlib";
import { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Outcome } from "../../library/src/delivery/outcome.js";
import { selfSigned } from "./certificates.js";
import { drip, flood, greeting, hostile, openEgress } from "./hostile-server.js";
import type { Behaviour } from "./hostile-server.js";
import { until } from "./receiving-server.js";

const OK = "HTTP/1.1 200 OK\r\n";
const ok = (body = ""): string => `${OK}content-length: ${body.length}\r\n\r\n${body}`;
const timeout: Outcome = { kind: "unknown", reason: "timeout" };
const reset: Outcome = { kind: "unknown", reason: "reset" };
const badAnswer: Outcome = { kind: "unknown", reason: "bad_answer" };
const acknowledged: Outcome = { kind: "acknowledged", status: 200 };

const toLoopback = (): Promise<string[]> => Promise.resolve(["127.0.0.1"]);

const answers: readonly (readonly [string, Outcome, Behaviour])[] = [
  ["that is whole", acknowledged, (socket) => socket.write(ok("done"))],
  [
    "without a body",
    { kind: "acknowledged", status: 204 },
    (socket) => socket.write("HTTP/1.1 204 No Content\r\n\r\n"),
  ],
  [
    "of a server error",
    { kind: "refused", status: 503 },
    (socket) => socket.write("HTTP/1.1 503 x\r\ncontent-length: 0\r\n\r\n"),
  ],
  [
    "of a status that nobody knows",
    { kind: "refused", status: 799 },
    (socket) => socket.write("HTTP/1.1 799 x\r\ncontent-length: 0\r\n\r\n"),
  ],
  ["that never comes", timeout, () => {}],
  ["whose headers drip", timeout, (socket) => drip(socket, `${OK}x: ${"y".repeat(1000)}`)],
  ["whose status line drips", timeout, (socket) => drip(socket, `HTTP/1.1 200 ${"y".repeat(1000)}`)],
  [
    "whose body drips: the status decides",
    acknowledged,
    (socket) => (socket.write(`${OK}content-length: 1000\r\n\r\n`), drip(socket, "y".repeat(1000))),
  ],
  [
    "of an error whose body drips: the status decides",
    { kind: "refused", status: 500 },
    (socket) => (
      socket.write("HTTP/1.1 500 x\r\ncontent-length: 1000\r\n\r\n"),
      drip(socket, "y".repeat(1000))
    ),
  ],
  [
    "whose body breaks off: the status decides",
    acknowledged,
    (socket) => socket.end(`${OK}content-length: 1000\r\n\r\npart`),
  ],
  [
    "whose body is reset: the status decides",
    acknowledged,
    (socket) =>
      socket.write(`${OK}content-length: 1000\r\n\r\npart`, () =>
        setTimeout(() => socket.resetAndDestroy(), 50),
      ),
  ],
  [
    "whose chunks are none: the status decides",
    acknowledged,
    (socket) => socket.write(`${OK}transfer-encoding: chunked\r\n\r\nzz\r\n`),
  ],
  [
    "with interim answers before it",
    acknowledged,
    (socket) => socket.write(`${"HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n".repeat(3)}${ok()}`),
  ],
  [
    "of interim answers without end",
    badAnswer,
    (socket) => flood(socket, "HTTP/1.1 103 Early Hints\r\n\r\n"),
  ],
  [
    "after one to continue, which nobody asked for",
    acknowledged,
    (socket) => socket.write(`HTTP/1.1 100 Continue\r\n\r\n${ok()}`),
  ],
  [
    "after one to continue that comes in pieces, between early hints",
    acknowledged,
    (socket) => {
      const hints = "HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n";
      socket.write(`${hints}HTTP/1.1 1`);
      setTimeout(() => socket.write("00 Continue\r\nx: y\r"), 20);
      setTimeout(() => socket.write(`\n\r\n${hints}${ok()}`), 40);
    },
  ],
  ["to continue, and nothing more", timeout, (socket) => socket.write("HTTP/1.1 100 Continue\r\n\r\n")],
  ["to continue without end", badAnswer, (socket) => flood(socket, "HTTP/1.1 100 Continue\r\n\r\n")],
  [
    "that changes the protocol",
    badAnswer,
    (socket) => socket.write("HTTP/1.1 101 x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n"),
  ],
  [
    "of chunks without end",
    acknowledged,
    (socket) => (
      socket.write(`${OK}transfer-encoding: chunked\r\n\r\n`),
      flood(socket, `2000\r\n${"y".repeat(8192)}\r\n`)
    ),
  ],
  [
    "of bytes without end or length",
    acknowledged,
    (socket) => (socket.write(`${OK}\r\n`), flood(socket, "y".repeat(65_536))),
  ],
  [
    "with a megabyte of headers",
    badAnswer,
    (socket) => (socket.write(OK), flood(socket, `x: ${"y".repeat(1000)}\r\n`)),
  ],
  [
    "with one header of a megabyte",
    badAnswer,
    (socket) => (socket.write(`${OK}x: `), flood(socket, "y".repeat(65_536))),
  ],
  [
    "with two lengths",
    badAnswer,
    (socket) => socket.write(`${OK}content-length: 2\r\ncontent-length: 3\r\n\r\nabc`),
  ],
  [
    "with a length and chunks",
    badAnswer,
    (socket) =>
      socket.write(`${OK}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`),
  ],
  [
    "with a length that is no number",
    badAnswer,
    (socket) => socket.write(`${OK}content-length: many\r\n\r\n`),
  ],
  [
    "with a length beyond 64 bits",
    badAnswer,
    (socket) => socket.write(`${OK}content-length: 99999999999999999999999\r\n\r\n`),
  ],
  ["of garbage", badAnswer, (socket) => socket.write("\u0016\u0003\u0001 what is this")],
  ["of HTTP/0.9", badAnswer, (socket) => socket.end("<html>hello</html>")],
  ["of HTTP/2", badAnswer, (socket) => socket.write(Buffer.from("000006040000000000000300000064", "hex"))],
  ["with a null byte in a header", badAnswer, (socket) => socket.write(`${OK}x: a\0b\r\n\r\n`)],
  ["that is reset at once", reset, (socket) => socket.resetAndDestroy()],
  ["that is closed at once", reset, (socket) => socket.destroy()],
  ["that is half-closed without a word", reset, (socket) => socket.end()],
  ["that ends within the headers", reset, (socket) => socket.end(`${OK}x: y`)],
];

describe("an answer", () => {
  it.each(answers)("%s", async (_what, expected, behave) => {
    const server = await hostile(behave);
    const post = await openEgress();
    const { outcome, answer } = await post(`http://127.0.0.1:${server.port}/hook`);
    expect(outcome).toEqual(expected);
    expect(answer?.length ?? 0).toBeLessThanOrEqual(16_384);
    await post.close();
    // What the kernel has buffered, and not what the server would still have sent.
    for (const written of server.closed) expect(await written).toBeLessThan(16 * 1024 * 1024);
  });

  it("is kept up to its limit, as bytes, and the connection on which more comes is closed", async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024), { level: 1 });
    expect(bomb.length).toBeGreaterThan(100_000);
    const head = `${OK}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`;
    const { port, closed } = await hostile((socket) => void (socket.write(head), socket.write(bomb)));
    const post = await openEgress();
    const result = await post(`http://127.0.0.1:${port}/`);
    expect(result.outcome).toEqual(acknowledged);
    expect(Buffer.from(result.answer ?? []).equals(bomb.subarray(0, 16_384))).toBe(true);
    await Promise.all(closed);
  });

  it("is kept whole when it is exactly as long as the limit, and the connection is used again", async () => {
    const { port, received } = await hostile((socket) => socket.write(ok("12345678")));
    const post = await openEgress();
    for (let n = 0; n < 3; n += 1) {
      const { answer } = await post(`http://127.0.0.1:${port}/`, { maxAnswerBytes: 8 });
      expect(Buffer.from(answer ?? []).toString()).toBe("12345678");
    }
    expect(received).toHaveLength(1);
  });

  it("before the body was read counts", async () => {
    const { port } = await hostile((socket) => (socket.pause(), socket.write(ok())));
    const post = await openEgress();
    const { outcome } = await post(`http://127.0.0.1:${port}/`, { body: Buffer.alloc(8 * 1024 * 1024) });
    expect(outcome).toEqual(acknowledged);
  });

  it("that was sent twice answers one request, not the next one", async () => {
    const refused = "HTTP/1.1 500 x\r\ncontent-length: 0\r\n\r\n";
    const { port } = await hostile((socket, number) => socket.write(number === 1 ? ok() + ok() : refused));
    const post = await openEgress();
    expect((await post(`http://127.0.0.1:${port}/`)).outcome).toEqual(acknowledged);
    expect((await post(`http://127.0.0.1:${port}/`)).outcome).toEqual({ kind: "refused", status: 500 });
  });

  it.each(["301 x", "302 x", "303 x", "307 x", "308 x"])("of %s is followed nowhere", async (status) => {
    const inside = await hostile((socket) => socket.write(ok()));
    const location = `http://127.0.0.1:${inside.port}/latest/meta-data/`;
    const { port, received } = await hostile((socket) =>
      socket.write(`HTTP/1.1 ${status}\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`),
    );
    const post = await openEgress();
    const result = await post(`http://127.0.0.1:${port}/`);
    expect(result).toMatchObject({
      outcome: { kind: "refused", status: Number(status.slice(0, 3)) },
      location,
    });
    expect([received.length, inside.received.length]).toEqual([1, 0]);
  });

  it.each([
    ["retry-after: 120", 120_000],
    ["date: Sun, 15 Nov 2026 12:00:00 GMT\r\nretry-after: Sun, 15 Nov 2026 12:00:30 GMT", 30_000],
    ["retry-after: soon", undefined],
  ])("that says when to come back is understood: %s", async (headers, retryAfterMs) => {
    const { port } = await hostile((socket) =>
      socket.write(`HTTP/1.1 503 x\r\n${headers}\r\ncontent-length: 0\r\n\r\n`),
    );
    const post = await openEgress();
    expect((await post(`http://127.0.0.1:${port}/`)).outcome).toEqual({
      kind: "refused",
      status: 503,
      retryAfterMs,
    });
  });
});

describe("a request", () => {
  it("carries its bytes, its headers and the name of its host", async () => {
    const { port, received } = await hostile((socket) => socket.write(ok()));
    const post = await openEgress({ resolve: toLoopback });
    const body = Buffer.from([0, 255, 13, 10, 128]);
    await post(`http://hooks.acme.com:${port}/a%20b?c=d#e`, { body, headers: { "Webhook-Id": "evt_1" } });
    const [text = ""] = received;
    expect(text).toMatch(/^POST \/a%20b\?c=d HTTP\/1\.1\r\n/);
    expect(text).toMatch(new RegExp(`\r\nhost: hooks\\.acme\\.com:${port}\r\n`));
    expect(text).toMatch(/\r\nWebhook-Id: evt_1\r\n/);
    expect(text.endsWith(`content-length: 5\r\n\r\n${body.toString("latin1")}`)).toBe(true);
  });

  it("without a body says so", async () => {
    const { port, received } = await hostile((socket) => socket.write(ok()));
    const post = await openEgress();
    await post(`http://127.0.0.1:${port}/`, { body: new Uint8Array() });
    expect(received[0]).toMatch(/\r\ncontent-length: 0\r\n\r\n$/);
  });

  it("that nobody reads ends at its deadline", async () => {
    const { port } = await hostile((socket) => socket.pause());
    const post = await openEgress();
    const { outcome } = await post(`http://127.0.0.1:${port}/`, { body: Buffer.alloc(16 * 1024 * 1024) });
    expect(outcome).toEqual(timeout);
  });

  it("that is reset while it is written may have landed", async () => {
    const { port } = await hostile((socket) => socket.resetAndDestroy());
    const post = await openEgress();
    const { outcome } = await post(`http://127.0.0.1:${port}/`, { body: Buffer.alloc(8 * 1024 * 1024) });
    expect(outcome).toEqual(reset);
  });

  it("on a connection that is closed as it is written may have landed, and is not sent again by itself", async () => {
    const { port, received } = await hostile((socket, number) =>
      number === 1 ? socket.write(ok()) : socket.destroy(),
    );
    const post = await openEgress();
    expect((await post(`http://127.0.0.1:${port}/`)).outcome).toEqual(acknowledged);
    expect((await post(`http://127.0.0.1:${port}/`)).outcome).toEqual(reset);
    expect(received.join("").split("POST ")).toHaveLength(3);
  });

  it("after the connection was closed in peace takes another one", async () => {
    const { port, closed } = await hostile((socket) => socket.end(ok()));
    const post = await openEgress();
    for (let n = 0; n < 3; n += 1) {
      expect((await post(`http://127.0.0.1:${port}/`)).outcome).toEqual(acknowledged);
      await closed[n];
    }
  });

  it("that is ended by its signal ends as at its deadline", async () => {
    const stop = new AbortController();
    const { port } = await hostile(() => stop.abort());
    const post = await openEgress();
    const request = { deadlineMs: 20_000, signal: stop.signal };
    expect((await post(`http://127.0.0.1:${port}/`, request)).outcome).toEqual(timeout);
    const late = await post(`http://127.0.0.1:${port}/`, request);
    expect(late.outcome).toEqual({ kind: "unreachable", reason: "connect" });
  });

  it.each([
    [{ headers: { "x-a": "b\r\nx-c: d" } }],
    [{ headers: { "x a": "b" } }],
    [{ headers: { Host: "169.254.169.254" } }],
    [{ headers: { "transfer-encoding": "chunked" } }],
    [{ headers: { "content-length": "1" } }],
    [{ deadlineMs: Number.NaN }],
    [{ deadlineMs: 0 }],
  ])("that cannot be written is the caller's mistake: %j", async (request) => {
    const { port, received } = await hostile((socket) => socket.write(ok()));
    const post = await openEgress();
    await expect(post(`http://127.0.0.1:${port}/`, request)).rejects.toMatchObject({
      code: "egress_request_invalid",
    });
    expect((await post(`http://127.0.0.1:${port}/`)).outcome).toEqual(acknowledged);
    expect(received.join("").split("POST ")).toHaveLength(2);
  });
});

describe("a connection", () => {
  it("that is refused was not reached", async () => {
    const post = await openEgress({ allowPorts: [1] });
    const result = await post("http://127.0.0.1:1/");
    expect(result).toMatchObject({
      outcome: { kind: "unreachable", reason: "connect" },
      detail: "ECONNREFUSED",
    });
  });

  it("into nothing ends at its deadline", async () => {
    const spy = vi.spyOn(Socket.prototype, "connect").mockImplementation(function connect(this: Socket) {
      return this;
    });
    onTestFinished(() => spy.mockRestore());
    const post = await openEgress();
    expect((await post("http://127.0.0.1:8080/")).outcome).toEqual({
      kind: "unreachable",
      reason: "connect",
    });
  });

  it("for a name that is never resolved ends at its deadline, and opens nothing later", async () => {
    const waiting: ((addresses: readonly string[]) => void)[] = [];
    const { port, received } = await hostile((socket) => socket.write(ok()));
    const post = await openEgress({ resolve: () => new Promise((resolve) => void waiting.push(resolve)) });
    const { outcome } = await post(`http://hooks.acme.com:${port}/`);
    expect(outcome).toEqual({ kind: "unreachable", reason: "dns" });
    expect(waiting).toHaveLength(1);
    waiting[0]?.(["127.0.0.1"]);
    await post.close();
    expect(received).toEqual([]);
  });

  it("goes to the next address where the first does not answer", async () => {
    const { port } = await hostile((socket) => socket.write(ok()));
    const addresses = ["127.0.0.77", "127.0.0.1"];
    const post = await openEgress({
      allowAddresses: ["127.0.0.0/8"],
      resolve: () => Promise.resolve(addresses),
    });
    const { outcome } = await post(`http://hooks.acme.com:${port}/`, { deadlineMs: 10_000 });
    expect(outcome).toEqual(acknowledged);
  });

  it("is kept and used again, and the name is resolved once for it", async () => {
    const counted = vi.fn<() => Promise<string[]>>(() => Promise.resolve(["127.0.0.1"]));
    const { port, received } = await hostile((socket) => socket.write(ok()));
    const post = await openEgress({ resolve: counted });
    for (let n = 0; n < 5; n += 1) await post(`http://hooks.acme.com:${port}/`);
    expect([received.length, counted.mock.calls.length]).toEqual([1, 1]);
  });

  it("is never shared by two requests at once: further ones wait for their turn, within their deadline", async () => {
    const held: Socket[] = [];
    const { port, received } = await hostile((socket) => void held.push(socket));
    const post = await openEgress({ maxConnections: 1 });
    const url = `http://127.0.0.1:${port}/`;
    const [first, late, third] = [
      post(url, { deadlineMs: 20_000 }),
      post(url),
      post(url, { deadlineMs: 20_000 }),
    ];
    expect((await late).outcome).toEqual({ kind: "unreachable", reason: "connect" });
    held[0]?.write(ok());
    expect((await first).outcome).toEqual(acknowledged);
    await until(() => held.length === 2);
    held[1]?.write(ok());
    expect((await third).outcome).toEqual(acknowledged);
    expect(received).toHaveLength(1);
  });

  it("after a failure is another one, and those who wait for it are sent", async () => {
    const { port } = await hostile((socket, number) =>
      number === 1 ? socket.resetAndDestroy() : socket.write(ok()),
    );
    const post = await openEgress({ maxConnections: 1 });
    const url = `http://127.0.0.1:${port}/`;
    const results = await Promise.all([post(url), post(url), post(url)]);
    expect(results.map(({ outcome }) => outcome)).toEqual([reset, acknowledged, acknowledged]);
  });

  it("closes with the egress, once those under way have ended", async () => {
    const held: Socket[] = [];
    const { port, closed } = await hostile((socket) => void held.push(socket));
    const post = await openEgress();
    const under = post(`http://127.0.0.1:${port}/`, { deadlineMs: 20_000 });
    await until(() => held.length === 1);
    const closing = post.close();
    held[0]?.write(ok());
    expect((await under).outcome).toEqual(acknowledged);
    await closing;
    await Promise.all(closed);
    await expect(post(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ code: "egress_closed" });
  });
});

describe("TLS", () => {
  it("that hangs within its handshake was not reached", async () => {
    const post = await openEgress();
    const { port } = await greeting("");
    expect((await post(`https://127.0.0.1:${port}/`)).outcome).toEqual({
      kind: "unreachable",
      reason: "tls",
    });
  });

  it("on a port that speaks something else was not reached", async () => {
    const { port } = await greeting("220 mail.acme.com ESMTP\r\n");
    const post = await openEgress();
    const { outcome } = await post(`https://127.0.0.1:${port}/`, { deadlineMs: 10_000 });
    expect(outcome).toEqual({ kind: "unreachable", reason: "tls" });
  });

  it.each([
    ["signed by itself", { host: "hooks.acme.com" }, false, "DEPTH_ZERO_SELF_SIGNED_CERT"],
    ["that has expired", { host: "hooks.acme.com", expired: true }, true, "CERT_HAS_EXPIRED"],
    ["of another host", { host: "other.acme.com" }, true, "ERR_TLS_CERT_ALTNAME_INVALID"],
  ])("with a certificate %s gets no byte of the request", async (_what, options, trusted, detail) => {
    const certified = selfSigned(options);
    const { port, received } = await hostile((socket) => socket.write(ok()), certified);
    const post = await openEgress({ resolve: toLoopback, ca: trusted ? [certified.cert] : [] });
    const result = await post(`https://hooks.acme.com:${port}/`, { deadlineMs: 10_000 });
    expect(result).toMatchObject({ outcome: { kind: "unreachable", reason: "tls" }, detail });
    expect(received.join("")).toBe("");
  });

  it.each(["TLSv1.2", "TLSv1.3"] as const)(
    "with a certificate of another host is refused again when the server offers to resume it: %s",
    async (maxVersion) => {
      const certified = selfSigned({ host: "other.acme.com" });
      const { port, received } = await hostile((socket) => socket.write(ok()), { ...certified, maxVersion });
      const post = await openEgress({ resolve: toLoopback, ca: [certified.cert] });
      for (let n = 0; n < 3; n += 1) {
        const { outcome } = await post(`https://hooks.acme.com:${port}/`, { deadlineMs: 10_000 });
        expect(outcome).toEqual({ kind: "unreachable", reason: "tls" });
      }
      expect(received.join("")).toBe("");
    },
  );

  it.each(["TLSv1.2", "TLSv1.3"] as const)(
    "of a receiver that is known is resumed: %s",
    async (maxVersion) => {
      const certified = selfSigned({ host: "hooks.acme.com" });
      const resumed: boolean[] = [];
      const { port, closed } = await hostile(
        (socket) => {
          resumed.push((socket as TLSSocket).isSessionReused());
          socket.end(ok());
        },
        { ...certified, maxVersion },
      );
      const post = await openEgress({ resolve: toLoopback, ca: [certified.cert] });
      for (let n = 0; n < 2; n += 1) {
        await post(`https://hooks.acme.com:${port}/`, { deadlineMs: 10_000 });
        await closed[n];
      }
      expect(resumed).toEqual([false, true]);
    },
  );

  it("is not turned off by the environment", async () => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    onTestFinished(() => void vi.unstubAllEnvs());
    const { port } = await hostile((socket) => socket.write(ok()), selfSigned({ host: "hooks.acme.com" }));
    const post = await openEgress({ resolve: toLoopback });
    const { outcome } = await post(`https://hooks.acme.com:${port}/`, { deadlineMs: 10_000 });
    expect(outcome).toEqual({ kind: "unreachable", reason: "tls" });
  });

  it("with a certificate that is trusted carries the request to the name that was asked for", async () => {
    const certified = selfSigned({ host: "hooks.acme.com" });
    const names: unknown[] = [];
    const { port, received } = await hostile((socket) => {
      names.push((socket as TLSSocket & { servername?: unknown }).servername);
      socket.write(ok());
    }, certified);
    const post = await openEgress({ resolve: toLoopback, ca: [certified.cert] });
    const { outcome } = await post(`https://hooks.acme.com:${port}/`, { deadlineMs: 10_000 });
    expect(outcome).toEqual(acknowledged);
    expect(names).toEqual(["hooks.acme.com"]);
    expect(received[0]).toMatch(new RegExp(`\r\nhost: hooks\\.acme\\.com:${port}\r\n`));
  });
});

describe("an answer says where the request went and how long each step took", () => {
  it("with the steps of the connection where one was opened for it, and without them where it stood", async () => {
    const { port } = await hostile((socket) => socket.write(ok()));
    const post = await openEgress();
    const first = await post(`http://localhost:${port}/`);
    expect(first.address).toMatch(/^(127\.0\.0\.1|::1)$/);
    const { dnsMs = -1, connectMs = -1, tlsMs, firstByteMs = -1, totalMs = -1 } = first.timings ?? {};
    expect(Math.min(dnsMs, connectMs)).toBeGreaterThanOrEqual(0);
    expect(tlsMs).toBeUndefined();
    expect(firstByteMs).toBeGreaterThanOrEqual(dnsMs + connectMs);
    expect(totalMs).toBeGreaterThanOrEqual(firstByteMs);
    const second = await post(`http://localhost:${port}/`);
    expect(second.address).toBe(first.address);
    expect(Object.keys(second.timings ?? {})).toEqual(["firstByteMs", "totalMs"]);
  });

  it("without an address where nothing was reached", async () => {
    const post = await openEgress();
    const { address, timings } = await post("http://127.0.0.1:1025/");
    expect(address).toBeUndefined();
    expect(timings).toMatchObject({ firstByteMs: undefined });
  });
});

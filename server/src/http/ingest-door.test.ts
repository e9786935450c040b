import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import type { FastifyInstance } from "fastify";
import { systemClock } from "posthorn";
import type { Reply } from "posthorn";
import { afterEach, describe, expect, it } from "vitest";
import { knock, portOf } from "../../../test/server/knock.js";
import type { Knock, Knocked } from "../../../test/server/knock.js";
import type { Ingest, Refusal } from "../ingest/ingest.js";
import type { ReceivedRequest } from "../ingest/received-request.js";
import type { AnsweredRequest } from "../observe/metrics.js";
import type { ServerParts } from "../parts.js";
import { createHttpServer } from "./server.js";

const MAX_BODY_BYTES = 1000;
const LARGE_BODY_BYTES = 100 * 1024 * 1024;

const nothing = (): void => undefined;

/** Answers what it is told to, and remembers what it was handed. */
class RecordingIngest implements Ingest {
  readonly received: { readonly source: string; readonly request: ReceivedRequest }[] = [];
  readonly refused: { readonly source: string; readonly refusal: Refusal }[] = [];
  reply: Reply | Error = { status: 200, headers: { "posthorn-verdict": "stored" } };
  /** What it waits for before it answers. */
  until: Promise<void> = Promise.resolve();

  async receive(source: string, request: ReceivedRequest): Promise<Reply> {
    this.received.push({ source, request });
    await this.until;
    if (this.reply instanceof Error) throw this.reply;
    return this.reply;
  }

  refuse(source: string, _request: ReceivedRequest, refusal: Refusal): Promise<Reply> {
    this.refused.push({ source, refusal });
    return Promise.resolve({ status: refusal.status });
  }

  begun = 0;

  bodyLimit(source: string): number {
    this.begun++;
    return source === "github" ? LARGE_BODY_BYTES : MAX_BODY_BYTES;
  }

  refresh = (): Promise<void> => Promise.resolve();
  start = (): Promise<void> => Promise.resolve();
  stop = (): Promise<void> => Promise.resolve();
}

const small = (n: number): string => `POST /in/s${n} HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n${n}`;

const open: FastifyInstance[] = [];

interface Node {
  readonly app: FastifyInstance;
  readonly ingest: RecordingIngest;
  readonly answered: readonly AnsweredRequest[];
  readonly logged: readonly string[];
  readonly post: (sent: Knock) => Promise<Knocked>;
}

async function node({ behindProxy = false, requestTimeoutMs = 300 } = {}): Promise<Node> {
  const ingest = new RecordingIngest();
  const settings = {
    maxBodyBytes: MAX_BODY_BYTES,
    maxHeaderBytes: 16_384,
    requestTimeoutMs,
    maxConnections: 100,
    behindProxy,
    hosts: [],
    listen: { host: "127.0.0.1", port: 0 },
    allowAddresses: [],
    dev: true,
  };
  const answered: AnsweredRequest[] = [];
  const metrics = { answered: (request: AnsweredRequest) => void answered.push(request) };
  const logged: string[] = [];
  const log = {
    debug: nothing,
    info: nothing,
    warn: nothing,
    error: (_facts: unknown, text: string) => void logged.push(text),
  };
  const parts = { settings, metrics, log, clock: systemClock, registry: {} };
  const app = createHttpServer(parts as unknown as ServerParts, { ingest, roles: ["ingest"] });
  open.push(app);
  await app.listen({ host: "127.0.0.1", port: 0 });
  return { app, ingest, answered, logged, post: (sent) => knock(app.server, sent) };
}

afterEach(async () => {
  for (const app of open.splice(0)) await app.close();
});

/** Writes bytes to the server, and resolves with all that it answers until the connection ends. */
function exchange(port: number, write: (send: (text: string) => void) => void): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let answer = "";
    socket.on("data", (chunk) => (answer += chunk.toString("latin1")));
    socket.on("close", () => resolve(answer));
    socket.on("error", () => undefined);
    write((text) => socket.write(text));
  });
}

describe("POST /in/:source", () => {
  it.each([
    ["application/json"],
    ["application/x-www-form-urlencoded"],
    ["text/plain; charset=utf-8"],
    ["multipart/form-data; boundary=x"],
    ["json"],
    ["application/json, application/json"],
    [";"],
    ["\ttext/html"],
    [undefined],
  ])("hands on the exact bytes, whatever the content type says: %s", async (type) => {
    const { ingest, post } = await node();
    const body = Buffer.from([0x7b, 0x00, 0xff, 0x0d, 0x0a, 0x7d, 0xef, 0xbb, 0xbf]);
    const headers = type === undefined ? {} : { "content-type": type };
    const answer = await post({ url: "/in/stripe?a=1", headers, payload: body });
    expect(answer.status).toBe(200);
    expect(answer.headers["posthorn-verdict"]).toBe("stored");
    expect(answer.body).toBe("");
    const [{ source, request } = { source: "", request: undefined }] = ingest.received;
    expect(source).toBe("stripe");
    expect(request).toMatchObject({ method: "POST", url: "/in/stripe?a=1" });
    expect(Buffer.from(request?.body ?? [])).toEqual(body);
    expect(request?.headers["content-type"]).toBe(type?.trim());
  });

  it("hands on an empty body, sent with a length or without", async () => {
    const { app, ingest, post } = await node();
    await post({ url: "/in/stripe" });
    const port = await portOf(app.server);
    await exchange(port, (send) => send("POST /in/stripe HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
    expect(ingest.received.map(({ request }) => request.body.length)).toEqual([0, 0]);
  });

  it("sends the reply of the scheme: status, headers and body", async () => {
    const { ingest, post } = await node();
    ingest.reply = { status: 200, headers: { "content-type": "text/xml" }, body: "<Response/>" };
    const xml = await post({ url: "/in/a", payload: "x" });
    expect([xml.headers["content-type"], xml.body]).toEqual(["text/xml", "<Response/>"]);
    ingest.reply = { status: 204 };
    const none = await post({ url: "/in/a", payload: "x" });
    expect([none.status, none.body]).toEqual([204, ""]);
  });

  it("answers 500 where ingest itself fails", async () => {
    const { ingest, post } = await node();
    ingest.reply = new Error("a mistake");
    expect((await post({ url: "/in/a", payload: "x" })).status).toBe(500);
  });

  it("says 413 before it reads a body that is announced too large, and the sender gets to read it", async () => {
    const { app, ingest } = await node();
    const port = await portOf(app.server);
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const sent = httpRequest(
        { host: "127.0.0.1", port, path: "/in/a", method: "POST", headers: { "content-length": 5_000_000 } },
        (answer) => resolve(answer.resume().statusCode),
      );
      sent.on("error", reject);
      // It goes on sending, as most senders do that have not looked at the answer yet.
      sent.end(Buffer.alloc(5_000_000));
    });
    expect(status).toBe(413);
    expect(ingest.received).toHaveLength(0);
    expect(ingest.refused).toMatchObject([
      { source: "a", refusal: { code: "body_too_large", bodyBytes: 5_000_000 } },
    ]);
  });

  it("takes from a source whose provider sends more as much as that, and from others no more than the setting", async () => {
    const { ingest, post } = await node();
    const payload = Buffer.alloc(5 * MAX_BODY_BYTES, 1);
    expect((await post({ url: "/in/github", payload })).status).toBe(200);
    expect((await post({ url: "/in/stripe", payload })).status).toBe(413);
    expect(ingest.received.map(({ request }) => request.body.length)).toEqual([5 * MAX_BODY_BYTES]);
  });

  it("holds no more large bodies at once than fit in memory, and refuses no small one for it", async () => {
    const { app, ingest, post } = await node({ requestTimeoutMs: 30_000 });
    const port = await portOf(app.server);
    // Together they announce all of the 256 MiB, and none of them sends its body.
    const sockets = [100, 100, 56].map((mebibytes) => {
      const socket = connect(port, "127.0.0.1").on("error", () => undefined);
      socket.write(
        `POST /in/github HTTP/1.1\r\nHost: a\r\nContent-Length: ${mebibytes * 1024 * 1024}\r\n\r\n`,
      );
      return socket;
    });
    await expect.poll(() => ingest.begun).toBe(3);
    const large = { url: "/in/github", payload: Buffer.alloc(MAX_BODY_BYTES + 1) };
    expect(await post(large)).toMatchObject({ status: 503, headers: { "retry-after": "1" }, body: "" });
    expect((await post({ url: "/in/github", payload: Buffer.alloc(MAX_BODY_BYTES) })).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    await expect.poll(async () => (await post(large)).status).toBe(200);
  });

  it("says 413 to a body without a length as soon as it is too large", async () => {
    const { app, ingest } = await node();
    const port = await portOf(app.server);
    const chunk = `400\r\n${"x".repeat(1024)}\r\n`;
    const answer = await exchange(port, (send) => {
      send(`POST /in/a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain("connection: close");
    expect(ingest.received).toHaveLength(0);
  });

  it("ends its half of a refused connection at once, and lets the sender end the other", async () => {
    const { app } = await node();
    const port = await portOf(app.server);
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    socket.write("POST /in/a HTTP/1.1\r\nHost: a\r\nContent-Length: 2000\r\n\r\n");
    let answer = "";
    socket.setEncoding("latin1").on("data", (text: string) => (answer += text));
    await once(socket, "end");
    // To a connection that were closed altogether, the second write would be an error.
    socket.write("x".repeat(1000), () => setImmediate(() => socket.end("x".repeat(999))));
    await once(socket, "close");
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  });

  it("takes a body of exactly the limit", async () => {
    const { post } = await node();
    const statusOf = async (bytes: number): Promise<number | undefined> =>
      (await post({ url: "/in/a", payload: Buffer.alloc(bytes) })).status;
    expect(await statusOf(MAX_BODY_BYTES)).toBe(200);
    expect(await statusOf(MAX_BODY_BYTES + 1)).toBe(413);
  });

  it.each(["gzip", "GZIP", "br", "gzip, gzip", "zstd", "deflate"])(
    "refuses a body in %s",
    async (encoding) => {
      const { ingest, post } = await node();
      const headers = { "content-encoding": encoding };
      expect((await post({ url: "/in/a", headers, payload: "x" })).status).toBe(415);
      expect(ingest.refused).toMatchObject([{ refusal: { code: "body_encoded" } }]);
    },
  );

  it("takes a body that says it is as it is", async () => {
    const { post } = await node();
    const headers = { "content-encoding": "identity" };
    expect((await post({ url: "/in/a", headers, payload: "x" })).status).toBe(200);
  });

  it("takes nothing of a body that breaks off, and goes on serving others", async () => {
    const { app, ingest } = await node();
    const port = await portOf(app.server);
    await new Promise<void>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => {
        socket.write("POST /in/a HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf", () => {
          socket.destroy();
          resolve();
        });
      });
    });
    await exchange(port, (send) =>
      send("POST /in/b HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx"),
    );
    expect(ingest.received.map(({ source }) => source)).toEqual(["b"]);
  });

  it("cuts off a body that does not come in time", async () => {
    const { app, ingest } = await node();
    const port = await portOf(app.server);
    const answer = await exchange(port, (send) =>
      send("POST /in/a HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf"),
    );
    expect(answer).toMatch(/^HTTP\/1\.1 408 |^$/);
    expect(ingest.received).toHaveLength(0);
  });

  it("answers requests that are sent one behind the other on one connection, in their order", async () => {
    const { app, ingest } = await node();
    const port = await portOf(app.server);
    const last = "POST /in/s9 HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    const answer = await exchange(port, (send) => send(small(1) + small(2) + small(3) + last));
    expect(answer.match(/HTTP\/1\.1 200/g)).toHaveLength(4);
    expect(ingest.received.map(({ source }) => source)).toEqual(["s1", "s2", "s3", "s9"]);
  });
});

async function tlsAskedFor(behindProxy: boolean, proto: string): Promise<string | undefined> {
  const { post } = await node({ behindProxy });
  const { headers } = await post({ url: "/in/a", headers: { "x-forwarded-proto": proto } });
  return headers["strict-transport-security"];
}

describe("the door of a source", () => {
  it.each(["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"] as const)(
    "is for POST alone, not for %s",
    async (method) => {
      const { ingest, post } = await node();
      const answer = await post({ method, url: "/in/stripe" });
      expect([answer.status, answer.headers["allow"]]).toEqual([405, "POST"]);
      expect(ingest.received).toHaveLength(0);
    },
  );

  it.each([
    ["/in/stripe", "stripe"],
    ["/in/str%69pe", "stripe"],
    ["/in/stripe?", "stripe"],
    ["/in/stripe?to=/a/b", "stripe"],
    ["http://hooks.example/in/stripe?a", "stripe"],
    ["HTTPS://hooks.example:8443/in/stripe", "stripe"],
    ["/in/a%2Fb", "a/b"],
    ["/in/__proto__", "__proto__"],
  ])("%s leads to %s", async (url, source) => {
    const { ingest, post } = await node();
    expect((await post({ url })).status).toBe(200);
    expect(ingest.received.map((each) => each.source)).toEqual([source]);
  });

  it.each([
    ["/in", 404],
    ["/in/", 404],
    ["/in/a/b", 404],
    ["//in/a", 404],
    ["/In/a", 404],
    ["http://hooks.example", 404],
    ["/in/%E0%A4%A", 400],
  ])("%s leads to none", async (url, status) => {
    const { ingest, post } = await node();
    const answer = await post({ url });
    expect(answer.status).toBe(status);
    expect(answer.headers["content-type"]).toContain("application/problem+json");
    expect(ingest.received).toHaveLength(0);
  });

  it("answers strictly, whatever it answers", async () => {
    const { ingest, post } = await node();
    const headersOf = async (sent: Omit<Knock, "url">): Promise<object> => {
      const { status, headers } = await post({ url: "/in/stripe", ...sent });
      return { status, nosniff: headers["x-content-type-options"], cache: headers["cache-control"] };
    };
    const strict = { nosniff: "nosniff", cache: "no-store" };
    const payload = Buffer.alloc(MAX_BODY_BYTES);
    expect(await headersOf({ payload })).toEqual({ status: 200, ...strict });
    expect(await headersOf({ payload: Buffer.alloc(MAX_BODY_BYTES + 1) })).toEqual({
      status: 413,
      ...strict,
    });
    const encoded = { headers: { "content-encoding": "br" }, payload: "x" };
    expect(await headersOf(encoded)).toEqual({ status: 415, ...strict });
    ingest.reply = new Error("a mistake");
    expect(await headersOf({ payload })).toEqual({ status: 500, ...strict });
  });

  it("asks browsers for TLS only where the proxy before it says that it speaks TLS", async () => {
    expect(await tlsAskedFor(true, "https")).toBe("max-age=31536000");
    expect(await tlsAskedFor(true, "http, https")).toBe("max-age=31536000");
    expect(await tlsAskedFor(true, "https, http")).toBeUndefined();
    expect(await tlsAskedFor(false, "https")).toBeUndefined();
  });

  it("tells the log and the sender of a failure under one id, and the sender nothing else", async () => {
    const { ingest, post, logged } = await node();
    ingest.reply = new Error("the password is hunter2");
    const { status, body } = await post({ url: "/in/a", payload: "x" });
    expect([status, logged]).toEqual([500, ["request failed"]]);
    expect(JSON.parse(body)).toMatchObject({ code: "internal", requestId: expect.stringMatching(/^req_/) });
    expect(body).not.toContain("hunter2");
  });

  it("goes on serving after a reply that cannot be written", async () => {
    const { ingest, post, logged } = await node();
    ingest.reply = { status: 200, headers: { "x-scheme": "two\nlines" } };
    expect((await post({ url: "/in/a", payload: "x" })).status).toBe(500);
    ingest.reply = { status: 200 };
    expect((await post({ url: "/in/a", payload: "x" })).status).toBe(200);
    expect(logged).toEqual(["request failed"]);
  });

  it("ends the connection of a sender whose refusal fails while its body still comes", async () => {
    const { app, ingest } = await node();
    ingest.refuse = () => Promise.reject(new Error("a mistake"));
    const port = await portOf(app.server);
    const answer = await exchange(port, (send) =>
      send("POST /in/a HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\nhalf"),
    );
    expect(answer).toMatch(/^HTTP\/1\.1 500 /);
  });

  it("counts every answer under its route, never under its path", async () => {
    const { ingest, post, answered } = await node();
    await post({ url: "/in/a", payload: "x" });
    await post({ url: "/in/b", payload: Buffer.alloc(MAX_BODY_BYTES + 1) });
    ingest.reply = new Error("a mistake");
    await post({ url: "/in/c", payload: "x" });
    const expected = [200, 413, 500].map((status) => ({ method: "POST", route: "/in/:source", status }));
    expect(answered).toMatchObject(expected);
  });

  it("answers what is under way when the server closes, and then ends the connection", async () => {
    const { app, ingest } = await node();
    const port = await portOf(app.server);
    let release = nothing;
    ingest.until = new Promise<void>((resolve) => (release = resolve));
    const answer = exchange(port, (send) => send(small(1)));
    while (ingest.received.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const closed = app.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
    release();
    const text = await answer;
    await closed;
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(text).toContain("connection: close");
  });

  it("sends those away who come on an open connection after that", async () => {
    const { app, ingest } = await node();
    const port = await portOf(app.server);
    let release = nothing;
    ingest.until = new Promise<void>((resolve) => (release = resolve));
    let later = nothing;
    const first = exchange(port, (send) => send(small(1)));
    const second = exchange(port, (send) => {
      send("POST /in/b HTTP/1.1\r\nHost: a\r\n");
      later = () => send("Content-Length: 1\r\n\r\nx");
    });
    while (ingest.received.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const closed = app.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
    later();
    const text = await second;
    release();
    await Promise.all([first, closed]);
    expect(text).toMatch(/^HTTP\/1\.1 503 /);
    expect(text).toContain("retry-after: 1");
    expect(ingest.received.map(({ source }) => source)).toEqual(["s1"]);
  });
});

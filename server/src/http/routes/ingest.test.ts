import { once } from "node:events";
import { request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { fastify } from "fastify";
import type { FastifyInstance } from "fastify";
import { systemClock } from "posthorn";
import type { Reply } from "posthorn";
import { afterEach, describe, expect, it } from "vitest";
import type { Ingest, Refusal } from "../../ingest/ingest.js";
import type { ReceivedRequest } from "../../ingest/received-request.js";
import type { ServerParts } from "../../parts.js";
import { createHttpServer } from "../server.js";
import { registerIngest } from "./ingest.js";

const MAX_BODY_BYTES = 1000;

const nothing = (): void => undefined;

/** Answers what it is told to, and remembers what it was handed. */
class RecordingIngest implements Ingest {
  readonly received: { readonly source: string; readonly request: ReceivedRequest }[] = [];
  readonly refused: { readonly source: string; readonly refusal: Refusal }[] = [];
  reply: Reply | Error = { status: 200, headers: { "posthorn-verdict": "stored" } };

  receive(source: string, request: ReceivedRequest): Promise<Reply> {
    this.received.push({ source, request });
    return this.reply instanceof Error ? Promise.reject(this.reply) : Promise.resolve(this.reply);
  }

  refuse(source: string, _request: ReceivedRequest, refusal: Refusal): Promise<Reply> {
    this.refused.push({ source, refusal });
    return Promise.resolve({ status: refusal.status });
  }

  refresh = (): Promise<void> => Promise.resolve();
  start = (): Promise<void> => Promise.resolve();
  stop = (): Promise<void> => Promise.resolve();
}

const small = (n: number): string => `POST /in/s${n} HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n${n}`;

const open: FastifyInstance[] = [];

function server(): { app: FastifyInstance; ingest: RecordingIngest } {
  const ingest = new RecordingIngest();
  const app = fastify({
    bodyLimit: 10,
    requestTimeout: 300,
    http: { connectionsCheckingInterval: 50, headersTimeout: 300 },
  });
  registerIngest(app, ingest, { maxBodyBytes: MAX_BODY_BYTES });
  open.push(app);
  return { app, ingest };
}

afterEach(async () => {
  for (const app of open.splice(0)) await app.close();
});

async function portOf(app: FastifyInstance): Promise<number> {
  await app.listen({ host: "127.0.0.1", port: 0 });
  return (app.server.address() as AddressInfo).port;
}

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
    const { app, ingest } = server();
    const body = Buffer.from([0x7b, 0x00, 0xff, 0x0d, 0x0a, 0x7d, 0xef, 0xbb, 0xbf]);
    const headers = type === undefined ? {} : { "content-type": type };
    const answer = await app.inject({ method: "POST", url: "/in/stripe?a=1", headers, payload: body });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers["posthorn-verdict"]).toBe("stored");
    expect(answer.body).toBe("");
    const [{ source, request } = { source: "", request: undefined }] = ingest.received;
    expect(source).toBe("stripe");
    expect(request).toMatchObject({ method: "POST", url: "/in/stripe?a=1" });
    expect(Buffer.from(request?.body ?? [])).toEqual(body);
    expect(request?.headers["content-type"]).toBe(type);
  });

  it("hands on an empty body, sent with a length or without", async () => {
    const { app, ingest } = server();
    await app.inject({ method: "POST", url: "/in/stripe" });
    const port = await portOf(app);
    await exchange(port, (send) => send("POST /in/stripe HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
    expect(ingest.received.map(({ request }) => request.body.length)).toEqual([0, 0]);
  });

  it("sends the reply of the scheme: status, headers and body", async () => {
    const { app, ingest } = server();
    ingest.reply = { status: 200, headers: { "content-type": "text/xml" }, body: "<Response/>" };
    const xml = await app.inject({ method: "POST", url: "/in/a", payload: "x" });
    expect([xml.headers["content-type"], xml.body]).toEqual(["text/xml", "<Response/>"]);
    ingest.reply = { status: 204 };
    const none = await app.inject({ method: "POST", url: "/in/a", payload: "x" });
    expect([none.statusCode, none.body]).toEqual([204, ""]);
  });

  it("answers 500 where ingest itself fails", async () => {
    const { app, ingest } = server();
    ingest.reply = new Error("a mistake");
    expect((await app.inject({ method: "POST", url: "/in/a", payload: "x" })).statusCode).toBe(500);
  });

  it("says 413 before it reads a body that is announced too large, and the sender gets to read it", async () => {
    const { app, ingest } = server();
    const port = await portOf(app);
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

  it("says 413 to a body without a length as soon as it is too large", async () => {
    const { app, ingest } = server();
    const port = await portOf(app);
    const chunk = `400\r\n${"x".repeat(1024)}\r\n`;
    const answer = await exchange(port, (send) => {
      send(`POST /in/a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain("connection: close");
    expect(ingest.received).toHaveLength(0);
  });

  it("ends its half of a refused connection at once, and lets the sender end the other", async () => {
    const { app } = server();
    const port = await portOf(app);
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
    const { app } = server();
    const post = (bytes: number): Promise<number> =>
      app
        .inject({ method: "POST", url: "/in/a", payload: Buffer.alloc(bytes) })
        .then(({ statusCode }) => statusCode);
    expect(await post(MAX_BODY_BYTES)).toBe(200);
    expect(await post(MAX_BODY_BYTES + 1)).toBe(413);
  });

  it.each(["gzip", "GZIP", "br", "gzip, gzip", "zstd", "deflate"])(
    "refuses a body in %s",
    async (encoding) => {
      const { app, ingest } = server();
      const headers = { "content-encoding": encoding };
      expect((await app.inject({ method: "POST", url: "/in/a", headers, payload: "x" })).statusCode).toBe(
        415,
      );
      expect(ingest.refused).toMatchObject([{ refusal: { code: "body_encoded" } }]);
    },
  );

  it("takes a body that says it is as it is", async () => {
    const { app } = server();
    const headers = { "content-encoding": "identity" };
    expect((await app.inject({ method: "POST", url: "/in/a", headers, payload: "x" })).statusCode).toBe(200);
  });

  it("takes nothing of a body that breaks off, and goes on serving others", async () => {
    const { app, ingest } = server();
    const port = await portOf(app);
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
    const { app, ingest } = server();
    const port = await portOf(app);
    const answer = await exchange(port, (send) =>
      send("POST /in/a HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf"),
    );
    expect(answer).toMatch(/^HTTP\/1\.1 408 |^$/);
    expect(ingest.received).toHaveLength(0);
  });

  it("answers requests that are sent one behind the other on one connection, in their order", async () => {
    const { app, ingest } = server();
    const port = await portOf(app);
    const last = "POST /in/s9 HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    const answer = await exchange(port, (send) => send(small(1) + small(2) + small(3) + last));
    expect(answer.match(/HTTP\/1\.1 200/g)).toHaveLength(4);
    expect(ingest.received.map(({ source }) => source)).toEqual(["s1", "s2", "s3", "s9"]);
  });
});

function nodeServer(): { app: FastifyInstance; ingest: RecordingIngest } {
  const ingest = new RecordingIngest();
  const settings = {
    maxBodyBytes: MAX_BODY_BYTES,
    maxHeaderBytes: 16_384,
    requestTimeoutMs: 15_000,
    maxConnections: 100,
    behindProxy: false,
    hosts: [],
    listen: { host: "127.0.0.1", port: 0 },
    allowAddresses: [],
    dev: true,
  };
  const metrics = { answered: nothing };
  const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
  const parts = { settings, metrics, log, clock: systemClock, registry: {} };
  const app = createHttpServer(parts as unknown as ServerParts, { ingest, roles: ["ingest"] });
  open.push(app);
  return { app, ingest };
}

describe("on the server of a node", () => {
  it.each(["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"] as const)(
    "%s is no method of a source",
    async (method) => {
      const { app, ingest } = nodeServer();
      const answer = await app.inject({ method, url: "/in/stripe" });
      expect([answer.statusCode, answer.headers["allow"]]).toEqual([405, "POST"]);
      expect(ingest.received).toHaveLength(0);
    },
  );

  it("bytes, refusals and strict headers are as on any other", async () => {
    const { app, ingest } = nodeServer();
    const post = (bytes: number, headers = {}): Promise<{ statusCode: number; headers: object }> =>
      app.inject({ method: "POST", url: "/in/stripe", headers, payload: Buffer.alloc(bytes) });
    const strict = { "x-content-type-options": "nosniff" };
    expect(await post(MAX_BODY_BYTES, { "content-type": "odd" })).toMatchObject({
      statusCode: 200,
      headers: strict,
    });
    expect(await post(MAX_BODY_BYTES + 1)).toMatchObject({ statusCode: 413, headers: strict });
    expect(await post(1, { "content-encoding": "br" })).toMatchObject({ statusCode: 415 });
    ingest.reply = new Error("a mistake");
    expect(await post(1)).toMatchObject({ statusCode: 500 });
  });
});

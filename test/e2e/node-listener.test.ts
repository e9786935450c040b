import { once } from "node:events";
import type { IncomingMessage, RequestListener, Server } from "node:http";
import { promisify } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { twilio } from "posthorn/providers";
import { TEST_SECRETS } from "posthorn/testing";
import type { TestRequest } from "posthorn/testing";
import { nodeListener } from "posthorn/node";
import { describe, expect, it } from "vitest";
import { createGate } from "../gate.js";
import { dial, headOf, listenerOf, post, serve, setStage, until, wireText } from "./receiving-server.js";
import type { Stage, StageOptions } from "./receiving-server.js";

type Write = (chunk: Uint8Array, done: (error?: Error | null) => void) => void;

const MAX_BODY_BYTES = 10_000;

interface Opened extends Stage {
  readonly port: number;
  readonly server: Server;
}

async function open(given: StageOptions = {}): Promise<Opened> {
  const stage = setStage(() => ({ maxBodyBytes: MAX_BODY_BYTES, ...given }));
  return { ...stage, ...(await serve(listenerOf("node", stage.receiver))) };
}

/** A server whose framework does something to the request before our listener gets it. */
async function openBehind(
  framework: (request: IncomingMessage & { body?: unknown; rawBody?: unknown }) => Promise<void> | void,
): Promise<Opened> {
  const stage = setStage();
  const listener = nodeListener(stage.receiver, { source: "acme" });
  const serveBehind: RequestListener = (request, response) => {
    void Promise.resolve(framework(request)).then(() => listener(request, response));
  };
  return { ...stage, ...(await serve(serveBehind)) };
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function large(request: TestRequest): TestRequest {
  return { ...request, body: new Uint8Array(MAX_BODY_BYTES + 1).fill(0x20) };
}

describe("a body over the limit", () => {
  it("is answered 413 by its stated length alone, and the connection is closed", async () => {
    const { port, signed, effects, signals } = await open();
    const wire = await dial(port);
    wire.socket.write(headOf(await signed(), [`content-length: ${MAX_BODY_BYTES + 1}`]));
    const reply = await wire.until("\r\n\r\n");
    expect(reply).toMatch(/^HTTP\/1\.1 413 /);
    expect(reply.toLowerCase()).toContain("connection: close");
    expect(reply.toLowerCase()).toContain("content-length: 0");
    await wire.closed();
    expect(effects).toEqual([]);
    expect(signals).toEqual([expect.objectContaining({ kind: "request_refused", status: 413 })]);
  });

  it("is answered 413 as soon as it passes the limit where no length is stated, also to who sends on", async () => {
    const { port, signed } = await open();
    const wire = await dial(port);
    const chunk = `${(1000).toString(16)}\r\n${" ".repeat(1000)}\r\n`;
    wire.socket.write(headOf(await signed(), ["transfer-encoding: chunked"]));
    wire.socket.write(chunk.repeat(MAX_BODY_BYTES / 1000 + 1));
    expect(await wire.until("\r\n\r\n")).toMatch(/^HTTP\/1\.1 413 /);
    await wire.closed();
  });

  it("lets its sender see our half of the connection closed at once, and end the other", async () => {
    const { port, signed } = await open();
    const wire = await dial(port, { allowHalfOpen: true });
    wire.socket.write(headOf(await signed(), [`content-length: ${MAX_BODY_BYTES + 1}`]));
    await once(wire.socket, "end");
    // To a connection that were closed altogether, the second write would be an error.
    wire.socket.write(" ".repeat(MAX_BODY_BYTES), () => setImmediate(() => wire.socket.end(" ")));
    expect(await wire.closed()).toMatch(/^HTTP\/1\.1 413 /);
  });

  it("is answered, not reset, to a sender that reads only after it has sent everything", async () => {
    const { port, signed } = await open();
    const wire = await dial(port);
    wire.socket.pause();
    wire.socket.write(headOf(await signed(), ["content-length: 5000000"]));
    await promisify(wire.socket.write.bind(wire.socket) as Write)(new Uint8Array(5_000_000));
    wire.socket.resume();
    expect(await wire.closed()).toMatch(/^HTTP\/1\.1 413 /);
  });

  it("is dropped as it comes, however much there is", async () => {
    const { port, signed } = await open();
    // A sender that goes on though it saw the end.
    const wire = await dial(port, { allowHalfOpen: true });
    const before = memoryHeld();
    wire.socket.write(headOf(await signed(), ["transfer-encoding: chunked"]));
    const chunk = Buffer.from(`${(100_000).toString(16)}\r\n${" ".repeat(100_000)}\r\n`);
    let sent = 0;
    while (sent < 100_000_000 && !wire.socket.closed) {
      sent += chunk.length;
      if (!wire.socket.write(chunk)) await new Promise((resolve) => setImmediate(resolve));
      if (wire.socket.writableLength > 1_000_000) await drained(wire.socket);
    }
    expect(sent).toBeGreaterThan(10_000_000);
    // What is on its way between the two sockets counts too, and on a busy machine that is a lot.
    expect(memoryHeld() - before).toBeLessThan(sent / 2);
  });

  it("is answered 413 where a framework has read it already", async () => {
    const stage = setStage(() => ({ maxBodyBytes: MAX_BODY_BYTES }));
    const listener = nodeListener(stage.receiver, { source: "acme" });
    const { port } = await serve((request, response) => {
      void bytesOf(request).then((body) => listener(Object.assign(request, { body }), response));
    });
    expect((await post(port, "acme", large(await stage.signed()))).status).toBe(413);
  });
});

async function drained(socket: { writableLength: number; closed: boolean }): Promise<void> {
  await until(() => socket.writableLength === 0 || socket.closed);
}

/** Bytes of buffers that somebody still holds. */
function memoryHeld(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().arrayBuffers;
}

describe("a body that a framework has read", () => {
  it("and parsed is answered 500, so that the sender comes again, and told with the cure", async () => {
    const { port, signed, effects, signals } = await openBehind(async (request) => {
      request.body = JSON.parse((await bytesOf(request)).toString());
    });
    expect((await post(port, "acme", await signed())).status).toBe(500);
    expect(effects).toEqual([]);
    expect(signals).toEqual([
      expect.objectContaining({
        kind: "request_refused",
        source: "acme",
        status: 500,
        code: "body_parsed",
        why: expect.stringContaining("before express.json()") as string,
      }),
    ]);
  });

  it("and thrown away, or decoded to text, is told in the same way", async () => {
    const thrownAway = await openBehind(async (request) => void (await bytesOf(request)));
    expect((await post(thrownAway.port, "acme", await thrownAway.signed())).status).toBe(500);
    const decoded = await openBehind((request) => void request.setEncoding("utf8"));
    expect((await post(decoded.port, "acme", await decoded.signed())).status).toBe(500);
    expect(decoded.signals).toMatchObject([{ why: expect.stringContaining("express.raw") }]);
  });

  it("and kept as a Buffer, as express.raw does, is verified", async () => {
    const { port, signed, effects } = await openBehind(async (request) => {
      request.body = await bytesOf(request);
    });
    expect((await post(port, "acme", await signed({ id: "evt_1" }))).status).toBe(204);
    expect(effects).toEqual(["evt_1"]);
  });

  it("and kept in rawBody beside what it parsed is verified by its bytes", async () => {
    const { port, signed, effects } = await openBehind(async (request) => {
      request.rawBody = await bytesOf(request);
      request.body = { type: "something.else" };
    });
    expect((await post(port, "acme", await signed({ id: "evt_1" }))).status).toBe(204);
    expect(effects).toEqual(["evt_1"]);
  });

  it("by word only, as Express 4 says of a content type that it does not parse, is read", async () => {
    const { port, signed, effects } = await openBehind((request) => {
      request.body = {};
    });
    expect((await post(port, "acme", await signed({ id: "evt_1" }))).status).toBe(204);
    expect(effects).toEqual(["evt_1"]);
  });
});

describe("a sender that is gone", () => {
  it("in the middle of its body leaves no effect, and the server goes on", async () => {
    const { port, server, signed, effects, signals } = await open();
    const text = wireText(await signed({ id: "evt_1" }));
    const wire = await dial(port);
    const arrived = once(server, "request");
    wire.socket.write(text.slice(0, -10), "latin1");
    await arrived;
    wire.socket.destroy();
    await until(() => signals.length > 0);
    expect(signals).toMatchObject([{ kind: "request_refused", status: 400 }]);
    expect(effects).toEqual([]);
    expect((await post(port, "acme", await signed({ id: "evt_1" }))).status).toBe(204);
    expect(effects).toEqual(["evt_1"]);
  });

  it("before the reply finds the effect in place when it comes again", async () => {
    const gate = createGate();
    let started = false;
    const stage = await open({
      handlers: {
        "*": async (event, { tx }) => {
          started = true;
          await gate.passed;
          tx.onCommit(() => stage.effects.push(event.id));
        },
      },
    });
    const request = await stage.signed({ id: "evt_1" });
    const wire = await dial(stage.port);
    wire.socket.write(wireText(request), "latin1");
    await until(() => started);
    wire.socket.destroy();
    gate.open();
    await until(() => stage.effects.length > 0);
    const again = await post(stage.port, "acme", request);
    expect(again.headers.get("posthorn-verdict")).toBe("duplicate");
    expect(stage.effects).toEqual(["evt_1"]);
  });
});

function noTenant(): string {
  throw new Error("no tenant");
}

describe("a mistake of the host's", () => {
  it("in the function for the source is answered 500 and told", async () => {
    const { receiver, signed, signals } = setStage();
    const { port } = await serve(nodeListener(receiver, { source: noTenant }));
    expect((await post(port, "acme", await signed())).status).toBe(500);
    expect(signals).toMatchObject([{ kind: "request_refused", why: "Error: no tenant" }]);
  });

  it("that makes the receiver throw, or a reply that Node cannot write, ends the request and nothing else", async () => {
    const stage = setStage();
    const broken = { ...stage.receiver, maxBodyBytes: () => 1000, refuse: () => ({ status: 500 }) };
    const throwing = { ...broken, receive: () => Promise.reject(new Error("no")) };
    const { port } = await serve(nodeListener(throwing, { source: "acme" }));
    expect((await post(port, "acme", await stage.signed())).status).toBe(500);
    const unwritable = { ...broken, receive: () => Promise.resolve({ status: 200, headers: { x: "a\nb" } }) };
    const other = await serve(nodeListener(unwritable, { source: "acme" }));
    await expect(post(other.port, "acme", await stage.signed())).rejects.toThrow("fetch failed");
  });
});

function behindProxy(publicUrl?: string): Stage {
  const secrets = TEST_SECRETS.twilio.verifying;
  return setStage((clock) => ({
    sources: { twilio: twilio({ secrets, clock, ...(publicUrl === undefined ? {} : { publicUrl }) }) },
  }));
}

describe("the URL that a provider signed", () => {
  it("is the request's own where no proxy stands between", async () => {
    const { receiver, signed, effects } = behindProxy();
    const { port } = await serve(nodeListener(receiver, { source: "twilio" }));
    const url = `http://127.0.0.1:${port}/twilio`;
    expect((await post(port, "twilio", await signed({ id: "1", url }, "twilio"))).status).toBe(200);
    expect(effects).toEqual(["1"]);
  });

  it("is the one that was asked for, also below a mount point of Express and in absolute form", async () => {
    const { receiver, signed, effects } = behindProxy("https://example.com");
    const listener = nodeListener(receiver, { source: "twilio" });
    const { port } = await serve((request, response) => {
      const originalUrl = request.url;
      listener(Object.assign(request, { url: "/", originalUrl }), response);
    });
    const url = "https://example.com/hooks/twilio";
    expect((await post(port, "hooks/twilio", await signed({ id: "1", url }, "twilio"))).status).toBe(200);
    const wire = await dial(port);
    const request = await signed({ id: "2", url }, "twilio");
    const length = `content-length: ${request.body.length}`;
    wire.socket.write(headOf(request, [length], "http://inner:8080/hooks/twilio"));
    wire.socket.write(request.body);
    expect(await wire.until("<Response/>")).toMatch(/^HTTP\/1\.1 200 /);
    expect(effects).toEqual(["1", "2"]);
  });
});

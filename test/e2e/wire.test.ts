import { github, paddle, slack } from "posthorn/providers";
import { TEST_SECRETS } from "posthorn/testing";
import { describe, expect, it } from "vitest";
import { createGate } from "../gate.js";
import { dial, headOf, listenerOf, serve, setStage, until, wireText } from "./receiving-server.js";
import type { Stage, StageOptions } from "./receiving-server.js";

// Byte by byte: what Node's parser keeps away from us, and what our replies look like.

async function open(given: StageOptions = {}): Promise<Stage & { readonly port: number }> {
  const stage = setStage(() => given);
  const { port } = await serve(listenerOf("node", stage.receiver));
  return { ...stage, port };
}

describe("a reply", () => {
  it("of 204 has neither a body nor a length, and the connection stays open for the next", async () => {
    const { port, signed } = await open();
    const wire = await dial(port);
    wire.socket.write(wireText(await signed()), "latin1");
    const first = await wire.until("\r\n\r\n");
    expect(first).toMatch(/^HTTP\/1\.1 204 No Content\r\n/);
    expect(first).not.toMatch(/content-length|transfer-encoding/i);
    expect(first.endsWith("\r\n\r\n")).toBe(true);
    wire.socket.write(wireText(await signed()), "latin1");
    expect(await wire.until("204 No Content", 2)).toContain("posthorn-verdict: applied");
  });

  it("with a body has its length and is not sent in chunks", async () => {
    const stage = setStage((clock) => ({
      sources: { slack: slack({ secrets: TEST_SECRETS.slack.verifying, clock }) },
    }));
    const { port } = await serve(listenerOf("node", stage.receiver));
    const body = '{"type":"url_verification","challenge":"abc"}';
    const request = await stage.signed({ body }, "slack");
    const wire = await dial(port);
    wire.socket.write(headOf(request, [`content-length: ${body.length}`], "/slack") + body);
    const reply = await wire.until("\r\n\r\nabc");
    expect(reply).toMatch(/content-length: 3\r\n/i);
    expect(reply).not.toMatch(/transfer-encoding/i);
  });

  it("to a method that is no webhook's closes the connection only where a body was left unread", async () => {
    const { port } = await open();
    const wire = await dial(port);
    wire.socket.write("GET /acme HTTP/1.1\r\nhost: x\r\n\r\n");
    const reply = await wire.until("\r\n\r\n");
    expect(reply).toMatch(/^HTTP\/1\.1 405 /);
    expect(reply).toMatch(/connection: keep-alive/i);
    wire.socket.write("PUT /acme HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nabc");
    expect(await wire.closed()).toMatch(/connection: close/i);
  });
});

describe("headers", () => {
  it("in a trailer are never merged: an id there is no id", async () => {
    const { port, signed, effects, signals } = await open();
    const request = await signed({ id: "evt_1" });
    const { "webhook-id": _id, ...headers } = request.headers;
    const body = Buffer.from(request.body).toString("latin1");
    const chunked = (id: string): string =>
      `${body.length.toString(16)}\r\n${body}\r\n0\r\nwebhook-id: ${id}\r\n\r\n`;
    const lines = ["transfer-encoding: chunked", "trailer: webhook-id"];
    const wire = await dial(port);
    wire.socket.write(headOf({ ...request, headers }, lines) + chunked("evt_1"), "latin1");
    expect(await wire.until("\r\n\r\n")).toMatch(/^HTTP\/1\.1 401 /);
    expect(signals).toMatchObject([{ kind: "signature_refused", code: "header_missing" }]);
    wire.socket.write(headOf(request, lines) + chunked("evt_2"), "latin1");
    expect(await wire.until("HTTP/1.1 204")).toContain("HTTP/1.1 204");
    expect(effects).toEqual(["evt_1"]);
  });

  it.each(["__proto__", "constructor", "toString", "hasownproperty"])(
    "named %s are headers like others",
    async (name) => {
      const { port, signed, effects, store } = await open();
      const wire = await dial(port);
      wire.socket.write(wireText(await signed({ id: "evt_1" }), [`${name}: polluted`]), "latin1");
      expect(await wire.until("\r\n\r\n")).toMatch(/^HTTP\/1\.1 204 /);
      expect(effects).toEqual(["evt_1"]);
      expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
      const row = await store.read({ tenant: "default", source: "acme", id: "evt_1" });
      expect(row?.headers).toContain('"webhook-id":"evt_1"');
    },
  );

  it.each([201, 999, 1600])(
    "of which there are %i are refused: beyond a thousand, Node drops headers in silence",
    async (count) => {
      const { port, signed, effects, signals } = await open();
      const wire = await dial(port);
      const padding = Array.from({ length: count }, (_, index) => `x-${index}: 1`);
      wire.socket.write(wireText(await signed({ id: "evt_1" }), padding), "latin1");
      expect(await wire.until("\r\n\r\n")).toMatch(/^HTTP\/1\.1 431 /);
      expect(signals).toMatchObject([{ kind: "signature_refused", code: "headers_too_many" }]);
      expect(effects).toEqual([]);
    },
  );

  it.each([
    ["a wrong one before", ["webhook-signature: v1,AAAA"], []],
    ["a wrong one behind", [], ["webhook-signature: v1,AAAA"]],
    ["the same one again", [], ["webhook-signature: same"]],
    ["the time again, in other letters", [], ["Webhook-Timestamp: 1"]],
  ])("of the signature cannot stand twice: %s", async (_, before, behind) => {
    const { port, signed, effects, signals } = await open();
    const request = await signed({ id: "evt_1" });
    const same = request.headers["webhook-signature"] ?? "";
    const [line = "", ...rest] = wireText(
      request,
      behind.map((header) => header.replace("same", same)),
    ).split("\r\n");
    const wire = await dial(port);
    wire.socket.write([line, ...before, ...rest].join("\r\n"), "latin1");
    expect(await wire.until("\r\n\r\n")).toMatch(/^HTTP\/1\.1 401 /);
    expect(signals).toMatchObject([{ kind: "signature_refused", code: "header_malformed" }]);
    expect(effects).toEqual([]);
  });

  it.each(["node", "fetch"] as const)(
    "that name an event cannot stand twice, through the %s adapter",
    async (adapter) => {
      const stage = setStage((clock) => ({
        sources: {
          github: github({ secrets: TEST_SECRETS.github.verifying, clock }),
          paddle: paddle({ secrets: TEST_SECRETS.paddle.verifying, clock }),
        },
      }));
      const { port } = await serve(listenerOf(adapter, stage.receiver));
      const cases = [
        ["github", "x-github-delivery: d2"],
        ["github", "x-github-event: push"],
        ["github", "x-hub-signature-256: sha256=00"],
        ["paddle", "paddle-signature: ts=1;h1=00"],
      ] as const;
      for (const [source, twin] of cases) {
        const request = await stage.signed({}, source);
        const wire = await dial(port);
        const head = headOf(request, [`content-length: ${request.body.length}`, twin], `/${source}`);
        wire.socket.write(head + Buffer.from(request.body).toString("latin1"), "latin1");
        expect([twin, await wire.until("\r\n\r\n")]).toEqual([
          twin,
          expect.stringMatching(/^HTTP\/1\.1 401 /),
        ]);
      }
      expect(stage.effects).toEqual([]);
    },
  );

  it("of two ids cannot make an event of either", async () => {
    const { port, signed, effects } = await open();
    const wire = await dial(port);
    wire.socket.write(wireText(await signed({ id: "evt_1" }), ["webhook-id: evt_2"]), "latin1");
    expect(await wire.until("\r\n\r\n")).toMatch(/^HTTP\/1\.1 401 /);
    expect(effects).toEqual([]);
  });
});

describe("requests on one connection", () => {
  it("that were sent before the first reply are answered in their order", async () => {
    const gate = createGate();
    const stage = await open({
      handlers: {
        slow: async (event, { tx }) => {
          await gate.passed;
          tx.onCommit(() => stage.effects.push(event.id));
        },
        "*": (event, { tx }) => tx.onCommit(() => stage.effects.push(event.id)),
      },
    });
    const texts = [
      wireText(await stage.signed({ id: "evt_1", type: "slow" })),
      wireText(await stage.signed({ id: "evt_2", type: "nobody.waits" })),
      "GET / HTTP/1.1\r\nhost: x\r\n\r\n",
    ];
    const wire = await dial(stage.port);
    wire.socket.write(texts.join(""), "latin1");
    await until(() => stage.effects.length > 0);
    expect(stage.effects).toEqual(["evt_2"]);
    gate.open();
    const replies = await wire.until("HTTP/1.1 405");
    expect(replies.match(/HTTP\/1\.1 \d{3}/g)).toEqual(["HTTP/1.1 204", "HTTP/1.1 204", "HTTP/1.1 405"]);
    expect(stage.effects).toEqual(["evt_2", "evt_1"]);
  });

  it("of which one is too large end there: what follows is never taken for a request", async () => {
    const { port, signed, effects } = await open({ maxBodyBytes: 1000 });
    const request = await signed({ id: "evt_1" });
    const wire = await dial(port);
    wire.socket.write(headOf(request, ["content-length: 1000000"]));
    wire.socket.write(wireText(request), "latin1");
    expect((await wire.closed()).match(/HTTP\/1\.1 \d{3}/g)).toEqual(["HTTP/1.1 413"]);
    expect(effects).toEqual([]);
  });
});

describe("a body that comes slowly", () => {
  it("is waited for, and verified as a whole", async () => {
    const { port, signed, effects } = await open();
    const wire = await dial(port);
    for (const letter of wireText(await signed({ id: "evt_1" }))) {
      wire.socket.write(letter, "latin1");
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await wire.until("\r\n\r\n")).toMatch(/^HTTP\/1\.1 204 /);
    expect(effects).toEqual(["evt_1"]);
  });

  it("is given up at the server's own time limit, without an effect", async () => {
    const stage = setStage();
    const { port } = await serve(listenerOf("node", stage.receiver), {
      requestTimeout: 100,
      headersTimeout: 100,
      connectionsCheckingInterval: 20,
    });
    const wire = await dial(port);
    wire.socket.write(wireText(await stage.signed()).slice(0, -1), "latin1");
    expect(await wire.closed()).toMatch(/^HTTP\/1\.1 408 /);
    expect(stage.effects).toEqual([]);
  });
});

describe("what two servers could read in two ways is refused by Node itself:", () => {
  const HEAD = "POST /acme HTTP/1.1\r\nhost: localhost\r\n";

  it.each([
    [
      "a length beside chunks",
      `${HEAD}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
    ],
    ["two lengths", `${HEAD}content-length: 3\r\ncontent-length: 4\r\n\r\nabcd`],
    ["a folded header", `${HEAD}webhook-id: a\r\n b\r\ncontent-length: 3\r\n\r\nabc`],
    ["a space before the colon", `${HEAD}content-length : 3\r\n\r\nabc`],
    ["lines that end in LF alone", "POST /acme HTTP/1.1\nhost: localhost\ncontent-length: 3\n\nabc"],
    ["a length with a sign", `${HEAD}content-length: +3\r\n\r\nabc`],
    ["chunks that are not last", `${HEAD}transfer-encoding: chunked, gzip\r\n\r\n3\r\nabc\r\n0\r\n\r\n`],
    ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["TLS on the plain port", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003"],
    ["no host", "POST /acme HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc"],
  ])("%s", async (_, text) => {
    const { port, effects, signals } = await open();
    const wire = await dial(port);
    wire.socket.write(text, "latin1");
    expect(await wire.closed()).toMatch(/^HTTP\/1\.1 400 /);
    expect([effects, signals]).toEqual([[], []]);
  });
});

import { describe, expect, it } from "vitest";
import type { Receiver, Reply, RequestRefusal } from "../inbox/receiver.js";
import { fetchHandler } from "./fetch.js";

const URL = "https://example.com/hooks";

/** A receiver that answers what it is told to, and remembers what it was asked. */
function stub(reply: Reply | Error = { status: 204 }) {
  const bodies: string[] = [];
  const refused: string[] = [];
  const receiver = {
    maxBodyBytes: () => 10,
    receive: (source: string, { body }: { readonly body: Uint8Array }) => {
      bodies.push(`${source} ${new TextDecoder().decode(body)}`);
      return reply instanceof Error ? Promise.reject(reply) : Promise.resolve(reply);
    },
    refuse: (source: string, { status, code, why }: RequestRefusal) => {
      refused.push(`${source} ${status} ${code} ${why}`);
      return { status };
    },
  } as unknown as Receiver;
  return { receiver, bodies, refused, handle: fetchHandler(receiver, { source: "acme" }) };
}

/** A request whose body comes in pieces, without a length. */
function streamed(
  pull: (controller: ReadableStreamDefaultController<Uint8Array>) => void,
  cancel?: () => void,
) {
  const body = new ReadableStream<Uint8Array>({ pull, ...(cancel === undefined ? {} : { cancel }) });
  return new Request(URL, { method: "POST", body, duplex: "half" } as RequestInit);
}

describe("a body", () => {
  it("goes to the receiver byte for byte, and an empty one as no bytes", async () => {
    const { handle, bodies } = stub();
    await handle(new Request(URL, { method: "POST", body: "{}" }));
    await handle(new Request(URL, { method: "POST" }));
    expect(bodies).toEqual(["acme {}", "acme "]);
  });

  it("that was read, or is being read, is answered 500 and told with the cure", async () => {
    const { handle, refused, bodies } = stub();
    const used = new Request(URL, { method: "POST", body: "{}" });
    await used.json();
    const locked = new Request(URL, { method: "POST", body: "{}" });
    locked.body?.getReader();
    for (const request of [used, locked]) expect((await handle(request)).status).toBe(500);
    expect(bodies).toEqual([]);
    expect(refused).toHaveLength(2);
    expect(refused.every((line) => /^acme 500 .*request\.clone\(\)/.test(line))).toBe(true);
  });

  it("over the limit is answered 413 by its stated length, without reading it", async () => {
    const { handle, bodies } = stub();
    let pulled = 0;
    const request = streamed((controller) => {
      pulled++;
      controller.enqueue(new Uint8Array(1));
    });
    request.headers.set("content-length", "11");
    expect((await handle(request)).status).toBe(413);
    expect(pulled).toBeLessThan(3);
    expect(bodies).toEqual([]);
  });

  it("over the limit is answered 413 as soon as it passes it, and its rest is called off", async () => {
    const { handle, refused } = stub();
    let cancelled = false;
    const request = streamed(
      (controller) => controller.enqueue(new Uint8Array(4)),
      () => void (cancelled = true),
    );
    expect((await handle(request)).status).toBe(413);
    expect(cancelled).toBe(true);
    expect(refused).toEqual([expect.stringMatching(/^acme 413 .*maxBodyBytes/)]);
  });

  it("over the limit whose rest cannot be called off is answered all the same", async () => {
    const { handle } = stub();
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(11)),
      cancel: () => new Promise(() => {}),
    });
    const request = new Request(URL, { method: "POST", body, duplex: "half" } as RequestInit);
    expect((await handle(request)).status).toBe(413);
  });

  it("that is shorter than announced is told as cut off where its signature fails, and only there", async () => {
    const cut = (): Request =>
      new Request(URL, { method: "POST", body: "{}", headers: { "content-length": "9" } });
    const failing = stub({ status: 401 });
    expect((await failing.handle(cut())).status).toBe(500);
    expect(failing.refused).toEqual([
      expect.stringMatching(/^acme 500 body_truncated 2 bytes .* announced 9/),
    ]);
    const holding = stub({ status: 204 });
    expect((await holding.handle(cut())).status).toBe(204);
    expect(holding.refused).toEqual([]);
    const whole = stub({ status: 401 });
    const request = new Request(URL, { method: "POST", body: "{}", headers: { "content-length": "2" } });
    expect((await whole.handle(request)).status).toBe(401);
  });

  it("that breaks off reaches nobody, and is answered for whoever may still be there", async () => {
    const { handle, bodies, refused } = stub();
    const request = streamed((controller) => controller.error(new Error("reset")));
    expect((await handle(request)).status).toBe(400);
    expect(bodies).toEqual([]);
    expect(refused).toHaveLength(1);
  });
});

describe("a reply", () => {
  it("of 204 never has a body, whatever the receiver says", async () => {
    const reply = await stub({ status: 204, body: "x" }).handle(new Request(URL, { method: "POST" }));
    expect([reply.status, reply.body]).toEqual([204, null]);
  });

  it.each([
    ["the receiver throws", stub(new Error("no")).handle],
    ["a header cannot be sent", stub({ status: 200, headers: { x: "a\nb" } }).handle],
    [
      "the source cannot be told",
      fetchHandler(stub().receiver, {
        source: () => {
          throw new Error("no");
        },
      }),
    ],
  ])("is 500 where %s: the handler never rejects", async (_, handle) => {
    expect((await handle(new Request(URL, { method: "POST" }))).status).toBe(500);
  });
});

it("the source may be read from the request", async () => {
  const { receiver, bodies } = stub();
  const handle = fetchHandler(receiver, { source: (request) => request.headers.get("x-source") ?? "" });
  await handle(new Request(URL, { method: "POST", headers: { "x-source": "acme" } }));
  expect(bodies).toEqual(["acme "]);
});

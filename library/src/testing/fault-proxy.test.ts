import { once } from "node:events";
import type { AddressInfo, Server, Socket } from "node:net";
import { connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { BytePattern } from "./byte-pattern.js";
import { createFaultProxy } from "./fault-proxy.js";
import type { FaultProxy } from "./fault-proxy.js";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** What a socket has got, and how it ended. */
class Ear {
  readonly socket: Socket;
  heard = "";
  ended = false;
  failed: string | undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    ends.push(() => socket.destroy());
    socket.on("data", (chunk: Buffer) => (this.heard += chunk.toString("latin1")));
    socket.on("end", () => (this.ended = true));
    socket.on("error", (error: NodeJS.ErrnoException) => (this.failed = error.code));
  }

  async hears(text: string): Promise<void> {
    while (!this.heard.includes(text)) await sleep(5);
  }

  async closes(): Promise<void> {
    while (!this.socket.destroyed) await sleep(5);
  }

  async ends(): Promise<void> {
    while (!this.ended) await sleep(5);
  }
}

interface Scene {
  readonly proxy: FaultProxy;
  /** What the server has got on its latest connection. */
  readonly server: () => Ear;
  readonly join: () => Promise<Ear>;
}

/** A server that repeats what it hears, behind a proxy. */
async function open({ echo = true }: { echo?: boolean } = {}): Promise<Scene> {
  const joined: Ear[] = [];
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    joined.push(new Ear(socket));
    if (echo) socket.pipe(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  ends.push(() => server.close());
  const proxy = await createFaultProxy({ port: (server.address() as AddressInfo).port });
  ends.push(() => proxy.close());
  const latest = (): Ear => {
    const ear = joined.at(-1);
    if (ear === undefined) throw new Error("nobody has joined");
    return ear;
  };
  const join = async (): Promise<Ear> => {
    const before = joined.length;
    const ear = new Ear(connect({ port: proxy.port, host: "127.0.0.1", allowHalfOpen: true }));
    ear.socket.write("hello ");
    while (joined.length === before) await sleep(2);
    await (echo ? ear : latest()).hears("hello ");
    return ear;
  };
  return { proxy, server: latest, join };
}

describe("a proxy without faults", () => {
  it("passes everything on, in both directions and to the end", async () => {
    const { join, server } = await open();
    const client = await join();
    const large = "x".repeat(3_000_000);
    client.socket.end(large);
    await client.ends();
    expect(client.heard).toBe(`hello ${large}`);
    expect(server().ended).toBe(true);
  });

  it("forgets connections that have ended, and ends with those that have not", async () => {
    const { proxy, join } = await open();
    const [first, second] = [await join(), await join()];
    expect(proxy.connections).toBe(2);
    first.socket.end();
    await first.ends();
    while (proxy.connections > 1) await sleep(5);
    await proxy.close();
    await second.closes();
    expect(proxy.connections).toBe(0);
  });

  it("resets a client whose server is not there", async () => {
    const { proxy } = await open();
    const gone = await createFaultProxy({ port: proxy.port });
    ends.push(() => gone.close());
    await proxy.close();
    const socket = connect({ port: gone.port, host: "127.0.0.1" });
    const ear = new Ear(socket);
    await ear.closes();
    expect(ear.heard).toBe("");
  });
});

describe("a fault", () => {
  it("delays what is sent, from when it is switched on until it is healed", async () => {
    const { proxy, join } = await open();
    const client = await join();
    proxy.set({ latencyMs: 100 });
    const startedAt = performance.now();
    client.socket.write("late");
    await client.hears("late");
    expect(performance.now() - startedAt).toBeGreaterThan(190);
    proxy.set({ latencyMs: 3_600_000 });
    proxy.heal();
    client.socket.write("soon");
    await client.hears("soon");
  });

  it("resets a connection after exactly so many bytes to the server", async () => {
    const { proxy, join, server } = await open({ echo: false });
    const client = await join();
    proxy.set({ resetAfter: { direction: "to_server", bytes: 4 } });
    client.socket.write("123456789");
    await client.closes();
    await server().closes();
    expect([client.failed, server().heard]).toEqual(["ECONNRESET", "hello 1234"]);
  });

  it("resets a connection after exactly so many bytes to the client", async () => {
    const { proxy, join, server } = await open();
    const client = await join();
    proxy.set({ resetAfter: { direction: "to_client", bytes: 4 } });
    client.socket.write("123456789");
    await client.closes();
    expect([server().heard, client.heard, client.failed]).toEqual([
      "hello 123456789",
      "hello 1234",
      "ECONNRESET",
    ]);
  });

  it("counts the bytes of new connections from their beginning", async () => {
    const { proxy, join } = await open();
    proxy.set({ resetAfter: { direction: "to_server", bytes: 8 } });
    const client = await join();
    client.socket.write("123");
    await client.closes();
    expect(client.failed).toBe("ECONNRESET");
  });

  it("ends a stream early, as if that had been all", async () => {
    const { proxy, join } = await open();
    const client = await join();
    proxy.set({ truncateAfter: { direction: "to_client", bytes: 4 } });
    client.socket.write("123456789");
    await client.ends();
    expect([client.heard, client.failed]).toEqual(["hello 1234", undefined]);
  });

  it("holds everything in a black hole, and lets it arrive when it heals", async () => {
    const { proxy, join, server } = await open();
    const client = await join();
    proxy.set({ blackHole: true });
    client.socket.write("lost?");
    await sleep(80);
    expect([server().heard, client.heard]).toEqual(["hello ", "hello "]);
    proxy.heal();
    await client.hears("lost?");
  });

  it("pushes back on a sender that writes into a black hole", async () => {
    const { proxy, join } = await open({ echo: false });
    const client = await join();
    proxy.set({ blackHole: true });
    client.socket.write(Buffer.alloc(32 * 1024 * 1024));
    await sleep(100);
    expect(client.socket.writableLength).toBeGreaterThan(0);
  });

  it("drips", async () => {
    const { proxy, join, server } = await open({ echo: false });
    const client = await join();
    proxy.set({ bytesPerSecond: 1000 });
    const startedAt = performance.now();
    client.socket.write("x".repeat(150));
    await server().hears("x".repeat(150));
    expect(performance.now() - startedAt).toBeGreaterThan(120);
  });

  it("closes one half: the client hears the end, and what it says still arrives", async () => {
    const { proxy, join, server } = await open();
    const client = await join();
    proxy.halfClose("to_client");
    await client.ends();
    client.socket.write("still here");
    await server().hears("still here");
    expect(client.heard).toBe("hello ");
  });

  it("cuts every connection", async () => {
    const { proxy, join, server } = await open();
    const client = await join();
    proxy.cut();
    await Promise.all([client.closes(), server().closes()]);
    expect(client.failed).toBe("ECONNRESET");
    await (await join()).hears("hello ");
  });

  it("swallows the answer to a request with a pattern, after the server has got all of it", async () => {
    const { proxy, join, server } = await open();
    const [other, client] = [await join(), await join()];
    const lost = proxy.swallowAnswer("commit");
    client.socket.write("comm");
    await client.hears("comm");
    client.socket.write("it;");
    await lost;
    await client.closes();
    expect([server().heard, client.heard, client.failed]).toEqual([
      "hello commit;",
      "hello comm",
      "ECONNRESET",
    ]);
    other.socket.write("commit");
    await other.hears("commit");
  });

  it("swallows the answer to the next who asks, where the first has gone before it came", async () => {
    const { proxy, join, server } = await open({ echo: false });
    const client = await join();
    const answering = server();
    const hasty = await join();
    const lost = proxy.swallowAnswer("commit");
    hasty.socket.write("commit");
    await server().hears("commit");
    hasty.socket.resetAndDestroy();
    while (proxy.connections > 1) await sleep(1);
    client.socket.write("commit");
    await answering.hears("commit");
    answering.socket.write("done");
    await lost;
    await client.closes();
    expect([client.heard, client.failed]).toEqual(["", "ECONNRESET"]);
  });

  it("swallows an answer and stays silent, where that is asked", async () => {
    const { proxy, join } = await open();
    const client = await join();
    const lost = proxy.swallowAnswer(Buffer.from([0xff, 0x00]), "silence");
    client.socket.write(Buffer.from([1, 0xff, 0x00]));
    await lost;
    client.socket.write("anyone?");
    await sleep(50);
    expect([client.heard, client.failed, client.ended]).toEqual(["hello ", undefined, false]);
  });
});

describe("a byte pattern", () => {
  it("is found once, wherever the chunks cut it", () => {
    for (let cut = 0; cut <= 6; cut++) {
      const pattern = new BytePattern("commit");
      const found = ["begin;comcom", "commit".slice(0, cut), "commit".slice(cut), ";commi"].map((text) =>
        pattern.isIn(Buffer.from(text)),
      );
      expect(found.filter(Boolean)).toHaveLength(1);
    }
  });

  it("is not empty", () => {
    expect(() => new BytePattern("")).toThrow(RangeError);
  });
});

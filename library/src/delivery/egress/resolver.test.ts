import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFakeClock } from "../../testing/fake-clock.js";
import { hostsFile, hostsNames } from "./hosts-file.js";
import { createResolver, queryResolver } from "./resolver.js";

/** A resolver whose lookups are written down, and end when told: `answers` by name. */
function setUp(names: readonly string[] = []) {
  const clock = createFakeClock();
  const asked: string[] = [];
  const ends = new Map<string, (addresses: readonly string[] | Error) => void>();
  const ask = (whom: string) => (hostname: string) => {
    asked.push(`${whom} ${hostname}`);
    return new Promise<readonly string[]>((resolve, reject) => {
      ends.set(hostname, (end) => (end instanceof Error ? reject(end) : resolve(end)));
    });
  };
  const resolve = createResolver({
    query: ask("dns"),
    system: ask("system"),
    inHostsFile: (name) => Promise.resolve(names.includes(name)),
    clock,
  });
  const end = async (hostname: string, answer: readonly string[] | Error): Promise<void> => {
    ends.get(hostname)?.(answer);
    await turn();
  };
  return { clock, asked, resolve, end };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const DOWN = new Error("queryA ETIMEOUT");

describe("a name", () => {
  it.each([
    ["example.com", "dns"],
    ["a.b.example.com.", "dns"],
    ["billing", "system"],
    ["billing.", "system"],
    ["localhost", "system"],
    ["shop.localhost", "system"],
    ["printer.local", "system"],
    ["listed.example.com", "system"],
    ["LISTED.example.com.", "system"],
  ])("%s is asked of %s", async (hostname, whom) => {
    const { asked, resolve, end } = setUp(["listed.example.com"]);
    const found = resolve(hostname);
    await turn();
    expect(asked).toEqual([`${whom} ${hostname}`]);
    await end(hostname, ["192.0.2.1"]);
    expect(await found).toEqual(["192.0.2.1"]);
  });

  it("that is well is the 7th to be asked for beside six dead names, and waits for none of them", async () => {
    const { asked, resolve, end } = setUp();
    for (let n = 1; n <= 6; n++) void resolve(`dead${n}.example.com`).catch(() => undefined);
    const found = resolve("well.example.com");
    await turn();
    expect(asked.indexOf("dns well.example.com")).toBe(6);
    await end("well.example.com", ["192.0.2.1"]);
    expect(await found).toEqual(["192.0.2.1"]);
  });

  it("of the system's is asked for with one other at most, and the next one begins when one has ended", async () => {
    const { asked, resolve, end } = setUp();
    const all = ["a", "b", "c", "d"].map((name) => resolve(name).catch(String));
    await turn();
    expect(asked).toEqual(["system a", "system b"]);
    await end("b", DOWN);
    expect(asked).toEqual(["system a", "system b", "system c"]);
    await end("a", ["127.0.0.1"]);
    await end("c", ["127.0.0.1"]);
    await end("d", ["127.0.0.1"]);
    expect(await Promise.all(all)).toEqual([["127.0.0.1"], String(DOWN), ["127.0.0.1"], ["127.0.0.1"]]);
  });

  it("that many ask for at once is asked for once, and again the next time", async () => {
    const { asked, resolve, end } = setUp();
    const all = Promise.all(Array.from({ length: 60 }, () => resolve("example.com")));
    await turn();
    await end("example.com", ["192.0.2.1"]);
    expect(await all).toHaveLength(60);
    void resolve("example.com");
    await turn();
    expect(asked).toHaveLength(2);
  });

  it.each([
    ["fails", DOWN],
    ["has no address", []],
  ])(
    "that %s is not asked for again for five seconds, and fails with the same words",
    async (_how, answer) => {
      const { clock, asked, resolve, end } = setUp();
      const first = resolve("dead.example.com").catch(String);
      await turn();
      await end("dead.example.com", answer);
      const again = await resolve("dead.example.com").catch(String);
      expect(again).toBe(await first);
      expect(asked).toHaveLength(1);
      await clock.advance(5000);
      const later = resolve("dead.example.com");
      await turn();
      await end("dead.example.com", ["192.0.2.1"]);
      expect(await later).toEqual(["192.0.2.1"]);
      expect(asked).toHaveLength(2);
    },
  );

  it("that failed is forgotten when a thousand others have failed since", async () => {
    const asked: string[] = [];
    const query = (hostname: string) => {
      asked.push(hostname);
      return Promise.reject(DOWN);
    };
    const resolve = createResolver({ query, inHostsFile: () => Promise.resolve(false) });
    for (let n = 0; n <= 1000; n++) await resolve(`n${n}.example.com`).catch(() => undefined);
    await resolve("n1000.example.com").catch(() => undefined);
    expect(asked).toHaveLength(1001);
    await resolve("n0.example.com").catch(() => undefined);
    expect(asked).toHaveLength(1002);
  });
});

describe("the hosts file", () => {
  it("is read as names after an address, without comments", () => {
    const text = "127.0.0.1 localhost\r\n# 10.0.0.1 no\n\t::1\tSix.example  six. # and more\n\n192.0.2.7\n";
    expect([...hostsNames(text)]).toEqual(["localhost", "six.example", "six"]);
  });

  it("is read again when it was changed, and is empty where there is none", async () => {
    const folder = await mkdtemp(join(tmpdir(), "posthorn-hosts-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, "hosts");
    const clock = createFakeClock();
    const has = hostsFile(path, clock);
    expect(await has("shop.example")).toBe(false);
    await writeFile(path, "127.0.0.1 shop.example\n");
    expect(await has("shop.example")).toBe(false);
    await clock.advance(5000);
    expect(await has("shop.example")).toBe(true);
    await writeFile(path, "127.0.0.1 other.example\n");
    await utimes(path, 1, 1);
    await clock.advance(5000);
    expect([await has("shop.example"), await has("other.example")]).toEqual([false, true]);
  });
});

/** A DNS server on loopback. `answer`: addresses by type (1 is A, 28 is AAAA), a code of failure, or silence. */
async function dnsServer(
  answer: (type: number) => readonly number[][] | number | undefined,
): Promise<string> {
  const socket = createSocket("udp4");
  socket.on("message", (query, { port, address }) => {
    const type = query.readUInt16BE(query.indexOf(0, 12) + 1);
    const records = answer(type);
    if (records === undefined) return;
    const question = query.subarray(12, query.indexOf(0, 12) + 5);
    const [code, list] = typeof records === "number" ? [records, []] : [0, records];
    const head = Buffer.from([0, 0, 0x81, 0x80 | code, 0, 1, 0, list.length, 0, 0, 0, 0]);
    query.copy(head, 0, 0, 2);
    const tail = list.map((bytes) =>
      Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length, ...bytes]),
    );
    socket.send(Buffer.concat([head, question, ...tail]), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  onTestFinished(() => void socket.close());
  return `127.0.0.1:${socket.address().port}`;
}

const V6 = [0x26, 6, 0x47, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];

describe("DNS that is asked directly", () => {
  it("answers with the addresses of both families", async () => {
    const servers = [
      await dnsServer((type) =>
        type === 1
          ? [
              [93, 184, 215, 14],
              [10, 0, 0, 1],
            ]
          : [V6],
      ),
    ];
    expect(await queryResolver({ servers })("example.com")).toEqual([
      "93.184.215.14",
      "10.0.0.1",
      "2606:4700::1",
    ]);
  });

  it("may know one family only", async () => {
    const servers = [await dnsServer((type) => (type === 1 ? [[93, 184, 215, 14]] : []))];
    expect(await queryResolver({ servers })("example.com")).toEqual(["93.184.215.14"]);
  });

  it("that knows no such name answers with nothing", async () => {
    expect(await queryResolver({ servers: [await dnsServer(() => 3)] })("example.com")).toEqual([]);
  });

  it.each([
    ["fails", 2],
    ["is silent", undefined],
  ])("that %s for one family has not answered", async (_what, answer) => {
    const servers = [await dnsServer((type) => (type === 1 ? [[93, 184, 215, 14]] : answer))];
    await expect(queryResolver({ servers, timeoutMs: 100 })("example.com")).rejects.toThrow();
  });
});

import { createSocket } from "node:dgram";
import { once } from "node:events";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createAddressGuard, queryResolver } from "./address-guard.js";
import type { Forbidden } from "./address-guard.js";

describe("a refusal", () => {
  it.each([
    ["http://example.com/", "allowHttp: true"],
    ["https://10.0.0.1/", 'allowAddresses: ["10.0.0.1"]'],
    ["https://localhost/", "allowAddresses"],
    ["https://example.com:25/", "allowPorts: [25]"],
  ])("of %s names the setting that would allow it", (url, setting) => {
    const verdict = createAddressGuard().judgeUrl(url);
    expect((verdict as Forbidden).message).toContain(setting);
  });

  it("can be thrown, where an endpoint is created or changed", () => {
    const guard = createAddressGuard();
    expect(() => guard.requireUrl("https://10.0.0.1/")).toThrow(
      expect.objectContaining({ code: "address_forbidden", detail: { reason: "private_address" } }),
    );
    expect(guard.requireUrl("https://example.com:8443/a?b#c")).toEqual({
      kind: "allowed",
      origin: "https://example.com:8443",
      path: "/a?b",
      hostname: "example.com",
    });
  });

  it("never has a password in its message", () => {
    const verdict = createAddressGuard().judgeUrl("https://user:hunter2@example.com/");
    expect(JSON.stringify(verdict)).not.toContain("hunter2");
  });
});

describe("a name", () => {
  it("is refused if any of its addresses is forbidden", async () => {
    const guard = createAddressGuard({ resolve: () => Promise.resolve(["93.184.215.14", "10.0.0.1"]) });
    expect(await guard.locate("example.com")).toMatchObject({ kind: "forbidden", reason: "private_address" });
  });

  it("that is refused is never resolved", async () => {
    const resolve = vi.fn<() => Promise<string[]>>();
    const guard = createAddressGuard({ resolve });
    expect(await guard.locate("metadata.google.internal")).toMatchObject({
      kind: "forbidden",
      reason: "name",
    });
    expect(resolve).not.toHaveBeenCalled();
  });

  it("without an address is no name", async () => {
    const guard = createAddressGuard({ resolve: () => Promise.resolve([]) });
    await expect(guard.locate("example.com")).rejects.toThrow("has no address");
  });

  it("is resolved by the system unless told otherwise", async () => {
    const guard = createAddressGuard({ allowAddresses: ["127.0.0.0/8", "::1"] });
    const addresses = (await guard.locate("localhost")) as readonly string[];
    expect(addresses.every((address) => address === "127.0.0.1" || address === "::1")).toBe(true);
  });
});

it.each([
  { allowAddresses: ["10.0.0.0/33"] },
  { allowAddresses: ["10.0.0"] },
  { allowAddresses: ["localhost"] },
  { allowAddresses: ["fe80::%eth0/10"] },
  { allowAddresses: ["::/129"] },
  { allowAddresses: ["10.0.0.0/-1"] },
  { allowAddresses: ["10.0.0.0/8/8"] },
  { allowAddresses: [""] },
  { denyAddresses: ["*"] },
  { allowPorts: [0] },
  { allowPorts: [65_536] },
  { allowPorts: [Number.NaN] },
])("a setting that cannot work is found at once: %j", (options) => {
  expect(() => createAddressGuard(options)).toThrow(
    expect.objectContaining({ code: "egress_option_invalid" }),
  );
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

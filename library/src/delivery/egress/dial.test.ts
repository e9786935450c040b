import { EventEmitter } from "node:events";
import type { LookupAddress } from "node:dns";
import type { LookupFunction, Socket } from "node:net";
import { createSecureContext } from "node:tls";
import { describe, expect, it, vi } from "vitest";
import { createAddressGuard } from "./address-guard.js";
import { Dial } from "./dial.js";
import type { BuildConnector, ConnectCallback, ConnectOptions, DialFailure } from "./dial.js";

/** A socket that is where the test says. */
class Elsewhere extends EventEmitter {
  readonly remoteAddress: string | undefined;
  destroyed = false;

  constructor(remoteAddress: string | undefined) {
    super();
    this.remoteAddress = remoteAddress;
  }

  read(): null {
    return null;
  }

  destroy(): void {
    this.destroyed = true;
  }
}

const OPTIONS: ConnectOptions = { hostname: "example.com", protocol: "https:", port: "443" };

interface Dialled {
  readonly socket: Elsewhere;
  readonly opened: boolean;
  readonly failure: DialFailure | undefined;
  readonly lookup: LookupFunction;
}

/** Dials a name with these addresses, and finds itself at another. */
async function dial(
  addresses: readonly string[],
  remote: string | undefined,
  hostname = "example.com",
): Promise<Dialled> {
  const socket = new Elsewhere(remote);
  let lookup: LookupFunction | undefined;
  const build: BuildConnector = (options) => (_connect: ConnectOptions, callback: ConnectCallback) => {
    ({ lookup } = options);
    setImmediate(() => {
      socket.emit("connect");
      if (!socket.destroyed) callback(null, socket as unknown as Socket);
    });
    return socket;
  };
  const guard = createAddressGuard({ resolve: () => Promise.resolve(addresses) });
  const parts = {
    guard,
    build,
    secureContext: createSecureContext(),
    sessions: new Map<string, Uint8Array>(),
  };
  return new Promise((resolve) => {
    const dialling: Dial = new Dial(parts, { ...OPTIONS, hostname }, (error) =>
      resolve({
        socket,
        opened: error === null,
        failure: dialling.failure,
        lookup: lookup as LookupFunction,
      }),
    );
  });
}

describe("a connection", () => {
  it("to an address that was judged is handed over", async () => {
    expect(await dial(["93.184.215.14", "93.184.215.15"], "93.184.215.15")).toMatchObject({ opened: true });
  });

  it("to the same address in other letters is handed over", async () => {
    expect(await dial(["2606:4700:0000::0001"], "2606:4700::1")).toMatchObject({ opened: true });
    expect(await dial([], "2606:4700::1", "2606:4700:0:0::1")).toMatchObject({ opened: true });
  });

  it.each(["93.184.215.16", "127.0.0.1", "::1", "", undefined])(
    "that is found at an address that was not judged is destroyed before its handshake: %j",
    async (remote) => {
      const { opened, socket, failure } = await dial(["93.184.215.14"], remote);
      expect([opened, socket.destroyed]).toEqual([false, true]);
      expect(failure?.outcome).toEqual({ kind: "unreachable", reason: "connect" });
    },
  );

  it("that was given up while its name was resolved is not opened later", async () => {
    let answer!: (addresses: readonly string[]) => void;
    const asked = new Promise<readonly string[]>((resolve) => (answer = resolve));
    const build = vi.fn<BuildConnector>();
    const parts = {
      guard: createAddressGuard({ resolve: () => asked }),
      build,
      secureContext: createSecureContext(),
    };
    const dialling = new Dial({ ...parts, sessions: new Map() }, OPTIONS, () => {});
    dialling.abort();
    answer(["93.184.215.14"]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(build).not.toHaveBeenCalled();
    expect(dialling.failure?.outcome).toEqual({ kind: "unreachable", reason: "dns" });
  });

  it("is asked for its addresses in two forms, and both have the judged ones only", async () => {
    const { lookup } = await dial(["93.184.215.14", "2606:4700::1"], "93.184.215.14");
    const all = await new Promise((resolve) =>
      lookup("example.com", { all: true }, (_error, list) => resolve(list)),
    );
    expect(all).toEqual<LookupAddress[]>([
      { address: "93.184.215.14", family: 4 },
      { address: "2606:4700::1", family: 6 },
    ]);
    const one = await new Promise((resolve) =>
      lookup("evil.example", {}, (_error, address, family) => resolve([address, family])),
    );
    expect(one).toEqual(["93.184.215.14", 4]);
  });
});

import { once } from "node:events";
import type { AddressInfo, Server, Socket } from "node:net";
import { connect, createServer } from "node:net";
import { BytePattern } from "./byte-pattern.js";
import { FaultPipe } from "./fault-pipe.js";
import type { PipeFaults } from "./fault-pipe.js";

/** Which way bytes flow through the proxy. */
export type Direction = "to_server" | "to_client";

/** What can be wrong with a network, for all connections at once. */
export interface ProxyFaults {
  /** Every byte arrives this much later, in both directions. */
  readonly latencyMs?: number;
  /** A slow drip, in both directions. */
  readonly bytesPerSecond?: number;
  /** Nothing passes and nobody is told; what was sent meanwhile arrives after `heal`. */
  readonly blackHole?: boolean;
  /** Each connection is reset after exactly so many further bytes in this direction. */
  readonly resetAfter?: { readonly direction: Direction; readonly bytes: number };
  /** Exactly so many further bytes pass in this direction, and then it ends as if that had been all. */
  readonly truncateAfter?: { readonly direction: Direction; readonly bytes: number };
}

/** A way to a server on which things go wrong at will. */
export interface FaultProxy {
  /** Where it listens, on 127.0.0.1. */
  readonly port: number;
  /** How many connections are open. */
  readonly connections: number;
  /** Puts these faults in the place of the earlier ones, on open and on new connections. */
  set(faults: ProxyFaults): void;
  /** Takes all faults away; connections that they ended stay ended. */
  heal(): void;
  /** Ends one direction of all open connections, as a peer that has said all it had to say; the other direction goes on. */
  halfClose(direction: Direction): void;
  /** Resets all open connections. */
  cut(): void;
  /**
   * Lets the next request that holds `pattern` reach the server, and loses the answer; then the connection is reset,
   * or stays open and silent. Resolves when the answer was lost: the server has done what it was asked.
   */
  swallowAnswer(pattern: string | Uint8Array, after?: "reset" | "silence"): Promise<void>;
  /** Ends everything. */
  close(): Promise<void>;
}

/** The server that the proxy stands before. */
export interface FaultProxyOptions {
  /** The server's port. */
  readonly port: number;
  /** @default "127.0.0.1" */
  readonly host?: string;
}

/**
 * Starts a proxy in front of a server.
 *
 * @example
 * const proxy = await createFaultProxy({ port: 5432 });
 * const lost = proxy.swallowAnswer("commit");
 */
export async function createFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const proxy = new Proxy(options);
  await proxy.listen();
  return proxy;
}

interface Swallow {
  readonly pattern: string | Uint8Array;
  /** What becomes of the connection. */
  readonly after: "reset" | "silence";
  readonly lost: () => void;
}

class Proxy implements FaultProxy {
  readonly #target: Required<FaultProxyOptions>;
  readonly #server: Server;
  readonly #open = new Set<Connection>();
  #faults: ProxyFaults = {};
  #swallow: Swallow | undefined;

  constructor({ port, host = "127.0.0.1" }: FaultProxyOptions) {
    this.#target = { port, host };
    // Half-open, or one side's end would end the other side too.
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#accept(client));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get connections(): number {
    return this.#open.size;
  }

  async listen(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  set(faults: ProxyFaults): void {
    this.#faults = faults;
    for (const connection of this.#open) connection.set(faults);
  }

  heal(): void {
    this.set({});
  }

  halfClose(direction: Direction): void {
    for (const connection of this.#open) connection.halfClose(direction);
  }

  cut(): void {
    for (const connection of this.#open) connection.reset();
  }

  swallowAnswer(pattern: string | Uint8Array, after: "reset" | "silence" = "reset"): Promise<void> {
    return new Promise((lost) => {
      this.#swallow = this.#watch({ pattern, after, lost });
    });
  }

  async close(): Promise<void> {
    this.cut();
    if (!this.#server.listening) return;
    this.#server.close();
    await once(this.#server, "close");
  }

  #watch(swallow: Swallow): Swallow {
    for (const connection of this.#open) connection.watchFor(swallow);
    return swallow;
  }

  #accept(client: Socket): void {
    const connection: Connection = new Connection(client, this.#target, {
      // The first connection that asks loses its answer, and no other.
      claim: (swallow) => {
        const mine = this.#swallow === swallow;
        if (mine) this.#swallow = undefined;
        return mine;
      },
      // Whoever asked has gone before there was an answer: the next who asks loses its own.
      unclaim: (swallow) => (this.#swallow ??= this.#watch(swallow)),
      closed: () => this.#open.delete(connection),
    });
    this.#open.add(connection);
    connection.set(this.#faults);
    if (this.#swallow) connection.watchFor(this.#swallow);
  }
}

interface ConnectionHooks {
  readonly claim: (swallow: Swallow) => boolean;
  readonly unclaim: (swallow: Swallow) => void;
  readonly closed: () => void;
}

class Connection {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #hooks: ConnectionHooks;
  readonly #pipes: Readonly<Record<Direction, FaultPipe>>;
  #watched: { readonly swallow: Swallow; readonly found: BytePattern } | undefined;
  #losing: Swallow | undefined;
  #isSilent = false;

  constructor(client: Socket, target: Required<FaultProxyOptions>, hooks: ConnectionHooks) {
    this.#client = client;
    this.#server = connect({ ...target, allowHalfOpen: true });
    this.#hooks = hooks;
    for (const socket of [client, this.#server]) {
      socket.setNoDelay(true);
      // A broken end is told to the other one by its own break, below.
      socket.on("error", () => undefined);
      socket.on("close", (failed) => this.#oneClosed(failed));
    }
    const reset = (): void => this.reset();
    const faults = faultsOf({}, "to_server");
    const server = this.#server;
    this.#pipes = {
      to_server: new FaultPipe(
        { from: client, to: server, pass: (bytes) => this.#request(bytes), reset },
        faults,
      ),
      to_client: new FaultPipe(
        { from: server, to: client, pass: (bytes) => this.#answer(bytes), reset },
        faults,
      ),
    };
  }

  set(faults: ProxyFaults): void {
    for (const direction of ["to_server", "to_client"] as const)
      this.#pipes[direction].set(faultsOf(faults, direction));
  }

  halfClose(direction: Direction): void {
    this.#pipes[direction].breakOff();
  }

  watchFor(swallow: Swallow): void {
    this.#watched = { swallow, found: new BytePattern(swallow.pattern) };
  }

  reset(): void {
    for (const socket of [this.#client, this.#server]) {
      // A socket that is still connecting has nothing to reset.
      if (socket.connecting) socket.destroy();
      else socket.resetAndDestroy();
    }
  }

  #request(chunk: Buffer): boolean {
    const watched = this.#watched;
    if (watched?.found.isIn(chunk)) {
      this.#watched = undefined;
      if (this.#hooks.claim(watched.swallow)) this.#losing = watched.swallow;
    }
    return true;
  }

  #answer(_chunk: Buffer): boolean {
    if (!this.#losing) return !this.#isSilent;
    const { after, lost } = this.#losing;
    this.#losing = undefined;
    if (after === "reset") this.reset();
    else this.#isSilent = true;
    lost();
    return false;
  }

  #oneClosed(failed: boolean): void {
    if (failed) this.reset();
    if (!this.#client.destroyed || !this.#server.destroyed) return;
    this.#hooks.closed();
    if (this.#losing) this.#hooks.unclaim(this.#losing);
    this.#losing = undefined;
  }
}

function faultsOf(faults: ProxyFaults, direction: Direction): PipeFaults {
  const { latencyMs = 0, bytesPerSecond = Infinity, blackHole = false, resetAfter, truncateAfter } = faults;
  const reset = resetAfter?.direction === direction ? resetAfter : undefined;
  const truncate = truncateAfter?.direction === direction ? truncateAfter : undefined;
  const breakOff = reset
    ? { ...reset, by: "reset" as const }
    : truncate && { ...truncate, by: "end" as const };
  return { latencyMs, bytesPerSecond, held: blackHole, breakOff };
}

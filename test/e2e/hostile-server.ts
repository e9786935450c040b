import { once } from "node:events";
import type { AddressInfo, Server, Socket } from "node:net";
import { createServer } from "node:net";
import type { TlsOptions } from "node:tls";
import { createServer as createTlsServer } from "node:tls";
import { onTestFinished } from "vitest";
import type {
  EgressAnswer,
  OutgoingRequest,
  ReadingAnswer,
  ReadingRequest,
} from "../../library/src/delivery/egress/egress.js";
import type { EgressOptions } from "../../library/src/delivery/egress/create-egress.js";
import { createEgress } from "../../library/src/delivery/egress/create-egress.js";

/** What a server does once it has the head of a request. `number` counts requests over all connections, from 1. */
export type Behaviour = (socket: Socket, number: number) => void;

export interface Hostile {
  readonly port: number;
  /** All that came, connection by connection, as latin1. */
  readonly received: string[];
  /** How many bytes each connection took from the server, once it is closed. */
  readonly closed: Promise<number>[];
}

/** Serves on a free port of 127.0.0.1 until the test ends, by bytes: nothing here is bound to HTTP. */
export async function hostile(behave: Behaviour, certified?: TlsOptions): Promise<Hostile> {
  const received: string[] = [];
  const closed: Promise<number>[] = [];
  let requests = 0;
  const serve = (socket: Socket): void => {
    const index = received.push("") - 1;
    closed.push(new Promise((resolve) => socket.once("close", () => resolve(socket.bytesWritten))));
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      const text = chunk.toString("latin1");
      received[index] += text;
      if (/^(POST|GET) /.test(text)) behave(socket, (requests += 1));
    });
  };
  const server = certified === undefined ? createServer(serve) : createTlsServer(certified, serve);
  await listening(server);
  return { port: (server.address() as AddressInfo).port, received, closed };
}

/** Says one thing to each connection, before it is asked, and nothing more. */
export async function greeting(text: string): Promise<{ readonly port: number }> {
  const server = createServer((socket) => socket.on("error", () => {}).write(text));
  await listening(server);
  return { port: (server.address() as AddressInfo).port };
}

async function listening(server: Server): Promise<void> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("tlsClientError", () => {});
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
}

export type Post = (url: string, request?: Partial<OutgoingRequest>) => Promise<EgressAnswer>;

export type Get = (url: string, request?: Partial<ReadingRequest>) => Promise<ReadingAnswer>;

/** A way out that may reach loopback over http. Attempts end after 400 ms, unless told otherwise. */
export async function openEgress(
  options: EgressOptions = {},
): Promise<Post & { readonly get: Get; readonly close: () => Promise<void> }> {
  const egress = await createEgress({ allowAddresses: ["127.0.0.1"], allowHttp: true, ...options });
  onTestFinished(() => egress.close());
  const post: Post = (url, request) =>
    egress.post({
      url,
      headers: { "x-test": "1" },
      body: Buffer.from('{"a":1}'),
      deadlineMs: 400,
      ...request,
    });
  const get: Get = (url, request) =>
    egress.get({ url, headers: { "x-test": "1" }, deadlineMs: 400, ...request });
  return Object.assign(post, { get, close: () => egress.close() });
}

/** Writes the same again and again, as fast as it is taken. */
export function flood(socket: Socket, chunk: string | Uint8Array): void {
  const write = (): void => {
    if (!socket.writable) return;
    for (let n = 0; n < 64 && socket.writable; n += 1) if (!socket.write(chunk)) return;
    setImmediate(write);
  };
  socket.on("drain", write);
  write();
}

/** Writes a text byte by byte, one each 20 ms. */
export function drip(socket: Socket, text: string): void {
  let at = 0;
  const timer = setInterval(() => {
    if (socket.destroyed || at === text.length) clearInterval(timer);
    else socket.write(text.charAt(at++));
  }, 20);
}

import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, RequestListener, Server, ServerOptions, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { connect } from "node:net";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { createReceiver, standardWebhooks } from "posthorn";
import type { Receiver, ReceiverOptions, Signal } from "posthorn";
import { fetchHandler } from "posthorn/fetch";
import { memoryStore } from "posthorn/memory";
import type { MemoryStore, MemoryTx } from "posthorn/memory";
import { nodeListener } from "posthorn/node";
import { createFakeClock, signedRequest, TEST_SECRETS } from "posthorn/testing";
import type { FakeClock, ProviderName, SignedRequestOptions, TestRequest } from "posthorn/testing";
import { onTestFinished } from "vitest";

/** A receiver on the memory store, and all that a test wants to know of it. */
export interface Stage {
  readonly clock: FakeClock;
  readonly store: MemoryStore;
  readonly receiver: Receiver;
  readonly signals: Signal[];
  /** The ids of events whose handler's transaction committed. */
  readonly effects: string[];
  /** A request of the source `acme` (Standard Webhooks), or of another provider, signed by the stage's clock. */
  readonly signed: (options?: SignedRequestOptions, provider?: ProviderName) => Promise<TestRequest>;
}

export type StageOptions = Partial<ReceiverOptions<MemoryTx, "asynchronous">>;

export function setStage(given: (clock: FakeClock) => StageOptions = () => ({})): Stage {
  const clock = createFakeClock({ at: Date.parse("2026-11-15T12:00:00Z") });
  const store = memoryStore({ clock, environment: "test" });
  const signals: Signal[] = [];
  const effects: string[] = [];
  const receiver = createReceiver({
    store,
    clock,
    observer: (signal: Signal) => void signals.push(signal),
    sources: { acme: standardWebhooks({ secrets: TEST_SECRETS.standard_webhooks.verifying, clock }) },
    handlers: { "*": (event, { tx }) => tx.onCommit(() => effects.push(event.id)) },
    ...given(clock),
  });
  const signed = (options: SignedRequestOptions = {}, provider: ProviderName = "standard_webhooks") =>
    signedRequest(provider, { clock, ...options });
  return { clock, store, receiver, signals, effects, signed };
}

/** The source is the first step of the path. */
export function sourceInPath(url = "/"): string {
  return new URL(url, "http://localhost").pathname.slice(1);
}

export type Adapter = "node" | "fetch";

/** The adapter under test as a listener of `node:http`. */
export function listenerOf(adapter: Adapter, receiver: Receiver): RequestListener {
  if (adapter === "node") return nodeListener(receiver, { source: ({ url }) => sourceInPath(url) });
  const handle = fetchHandler(receiver, { source: ({ url }) => sourceInPath(url) });
  return (request, response) => void bridge(handle, request, response);
}

async function bridge(
  handle: (request: Request) => Promise<Response>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = request.method === "GET" || request.method === "HEAD" ? null : Readable.toWeb(request);
  const reply = await handle(
    new Request(`http://localhost${request.url ?? "/"}`, {
      method: request.method ?? "POST",
      headers: request.headers as Record<string, string>,
      body: body as ReadableStream<Uint8Array> | null as BodyInit | null,
      duplex: "half",
    } as RequestInit),
  );
  response.writeHead(reply.status, Object.fromEntries(reply.headers));
  response.end(new Uint8Array(await reply.arrayBuffer()));
}

/** Serves on a free port of 127.0.0.1 until the test ends. */
export async function serve(
  listener: RequestListener,
  options: ServerOptions = {},
): Promise<{ port: number; server: Server }> {
  const server = createServer(options, listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, server };
}

/** Posts a signed request to a source, over a connection of its own. */
export async function post(port: number, source: string, request: TestRequest): Promise<Response> {
  const { method, headers, body } = request;
  return fetch(`http://127.0.0.1:${port}/${source}`, {
    method,
    headers: { ...headers, connection: "close" },
    body,
  });
}

/** A connection on which a test writes what it likes. */
export interface Wire {
  readonly socket: Socket;
  /** Waits until what came back contains a text, as often as wanted, or the connection ends; all of it, as latin1. */
  readonly until: (text: string, times?: number) => Promise<string>;
  /** Waits until the other side has closed. */
  readonly closed: () => Promise<string>;
}

export async function dial(
  port: number,
  { allowHalfOpen = false }: { readonly allowHalfOpen?: boolean } = {},
): Promise<Wire> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen });
  let text = "";
  socket.on("data", (chunk) => (text += chunk.toString("latin1")));
  // A reset is one of the ways in which the other side closes.
  socket.on("error", () => {});
  await once(socket, "connect");
  onTestFinished(() => void socket.destroy());
  const seen = (wanted: string): number => text.split(wanted).length - 1;
  return {
    socket,
    until: async (wanted, times = 1) => {
      while (seen(wanted) < times && !socket.closed) {
        await Promise.race([once(socket, "data"), once(socket, "close")]);
      }
      return text;
    },
    closed: async () => {
      if (!socket.closed) await once(socket, "close");
      return text;
    },
  };
}

/** The head of a request, with whatever headers. */
export function headOf(request: TestRequest, lines: readonly string[], path = "/acme"): string {
  const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
  return [`${request.method} ${path} HTTP/1.1`, "host: localhost", ...headers, ...lines, "", ""].join("\r\n");
}

/** A whole request with its length. */
export function wireText(request: TestRequest, lines: readonly string[] = []): string {
  const body = Buffer.from(request.body).toString("latin1");
  return headOf(request, [`content-length: ${request.body.length}`, ...lines]) + body;
}

/** Waits, turn by turn of the event loop, until something holds. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

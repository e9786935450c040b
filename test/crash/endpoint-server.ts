import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { History, HistoryWriter, Operations } from "posthorn/testing";
import { hashOf } from "./end-state.js";

/** One request, as it came. */
export interface Receipt {
  readonly endpoint: string;
  readonly ref: string;
  /** Undefined where it has no lane. */
  readonly lane: string | undefined;
  /** The same delivery came before. */
  readonly repeated: boolean;
  readonly at: number;
}

/** What is answered, and when. */
export interface Answer {
  readonly status: number;
  readonly afterMs: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What came with a receipt, for whoever passes it on. */
export interface Passing {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export const SECRET = "whsec_cG9zdGhvcm4gY3Jhc2ggZW5kcG9pbnRzIG9ubHkhISE=";
const KEY = Buffer.from(SECRET.slice("whsec_".length), "base64");

/** The server behind all endpoints of a run: knows nothing of Posthorn but its wire format, and writes down all that comes. */
export class EndpointServer {
  readonly receipts: Receipt[] = [];
  /** Says what is answered to a receipt. */
  answer: (receipt: Receipt, passing: Passing) => Answer | Promise<Answer> = () => ({
    status: 204,
    afterMs: 0,
  });
  /** How many requests are not answered yet. */
  underWay = 0;
  readonly #history: History;
  readonly #server: Server;
  readonly #seen = new Set<string>();
  #writers = 0;

  private constructor(history: History) {
    this.#history = history;
    this.#server = createServer((request, response) => void this.#take(request, response));
  }

  static async open(history: History): Promise<EndpointServer> {
    const server = new EndpointServer(history);
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  urlOf(endpoint: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${endpoint}`;
  }

  get repeated(): number {
    return this.receipts.filter((receipt) => receipt.repeated).length;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A request that breaks off has not come.
    const body = await buffer(request).catch(() => undefined);
    if (body === undefined) return;
    const seen = seenIn(request, body);
    const writer: HistoryWriter = this.#history.writer(`server-${++this.#writers}`);
    const call = writer.invoke("receipt", seen);
    const { endpoint, id: ref, place } = seen;
    const name = `${endpoint}/${place?.sequence ?? ""}/${ref}`;
    const lane = place && `${endpoint}/${place.key}`;
    const receipt = { endpoint, ref, lane, repeated: this.#seen.has(name), at: performance.now() };
    this.#seen.add(name);
    this.receipts.push(receipt);
    this.underWay++;
    const { status, afterMs, headers } = await this.answer(receipt, { headers: request.headers, body });
    if (afterMs > 0) await sleep(afterMs);
    this.underWay--;
    // Before the answer leaves: whatever the sender does because of it must stand behind it.
    call.ok({ status });
    response.writeHead(status, headers).end();
  }
}

function seenIn({ url = "", headers }: IncomingMessage, body: Buffer): Operations["receipt"]["invoke"] {
  const text = (name: string): string | undefined => headers[name] as string | undefined;
  const key = text("posthorn-key");
  const place = key !== undefined && {
    key: decodeURIComponent(key),
    generation: text("posthorn-generation") ?? "",
    sequence: text("posthorn-sequence") ?? "",
  };
  return {
    tenant: "default",
    source: "app",
    id: refOf(body),
    bodyHash: hashOf(body),
    endpoint: url.slice(1),
    wireId: text("webhook-id") ?? "",
    attempt: Number(text("posthorn-attempt")),
    replay: text("posthorn-replay") === "1",
    genuine: isGenuine(headers, body),
    ...(place !== false && { place, after: text("posthorn-after") }),
  };
}

/** Every body begins with what names its event, and a line feed. */
export function refOf(body: Uint8Array): string {
  const end = body.indexOf(10);
  return Buffer.from(body.subarray(0, Math.max(end, 0))).toString();
}

const STAMPED = ["generation", "key", "sequence", "after", "time", "attempt", "replay"];

/** Both signatures, as spec/wire-format.md has them. */
function isGenuine(headers: IncomingHttpHeaders, body: Buffer): boolean {
  const id = String(headers["webhook-id"]);
  const timestamp = String(headers["webhook-timestamp"]);
  const entries = new Map(
    String(headers["webhook-signature"])
      .split(" ")
      .map((entry) => entry.split(",", 2) as [string, string]),
  );
  const plain = createHmac("sha256", KEY).update(`${id}.${timestamp}.`).update(body).digest("base64");
  const stamp = STAMPED.map((name) => (headers[`posthorn-${name}`] as string | undefined) ?? "");
  const lines = ["ph1", id, timestamp, ...stamp, plain].join("\n");
  const stamped = createHmac("sha256", KEY).update(lines).digest("base64");
  return isSame(entries.get("v1"), plain) && isSame(entries.get("ph1"), stamped);
}

function isSame(given: string | undefined, wanted: string): boolean {
  return given?.length === wanted.length && timingSafeEqual(Buffer.from(given), Buffer.from(wanted));
}

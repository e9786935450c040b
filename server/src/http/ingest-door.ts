import type { IncomingMessage, ServerResponse } from "node:http";
import type { Reply } from "posthorn";
import { announcedBytes, hangUp, isEncoded, readStream } from "posthorn/gateway";
import type { BodyListener, StreamReading } from "posthorn/gateway";
import type { Ingest, Refusal } from "../ingest/ingest.js";
import type { ReceivedRequest } from "../ingest/received-request.js";
import type { ServerParts } from "../parts.js";
import { failureOf } from "./failure.js";
import { strictHead } from "./strict-headers.js";

/** The route of ingest, as metrics and logs name it. */
export const INGEST_ROUTE = "/in/:source";

export interface IngestDoorParts extends Pick<ServerParts, "log" | "clock"> {
  readonly ingest: Ingest;
  readonly metrics: Pick<ServerParts["metrics"], "answered">;
  readonly settings: Pick<ServerParts["settings"], "maxBodyBytes" | "behindProxy">;
  /** Makes the id under which a failed request is logged. */
  readonly nextId: () => string;
}

/**
 * Answers `POST /in/:source` before the framework's router: ingest needs the raw bytes and nothing that a framework does
 * for a route, which took a tenth of the time of an event.
 */
export class IngestDoor {
  readonly parts: IngestDoorParts;
  #closing = false;
  #largeBytes = 0;

  constructor(parts: IngestDoorParts) {
    this.parts = parts;
  }

  get closing(): boolean {
    return this.#closing;
  }

  /** Answers the request if it is for a source; false leaves it to the router. */
  take(request: IncomingMessage, response: ServerResponse): boolean {
    if (request.method !== "POST") return false;
    const source = sourceIn(request.url ?? "");
    if (source === undefined) return false;
    new Exchange(this, request, response).begin(source);
    return true;
  }

  /** Counts bytes of a body that is larger than most; false where too many of those are in memory. */
  holdLarge(bytes: number): boolean {
    if (this.#largeBytes + bytes > MOST_LARGE_BYTES) return false;
    this.#largeBytes += bytes;
    return true;
  }

  releaseLarge(bytes: number): void {
    this.#largeBytes -= bytes;
  }

  /** From now on, new requests are answered 503, and every answer closes its connection. */
  close(): void {
    this.#closing = true;
  }
}

const PREFIX = "/in/";
// Of bodies above the setting, together: some providers send 25 MiB, and anybody may begin such a request. Those below
// the setting are never refused for it.
const MOST_LARGE_BYTES = 256 * 1024 * 1024;

/** The name between `/in/` and the query; undefined for any other path. */
function sourceIn(url: string): string | undefined {
  // Proxies may send the whole URL.
  const local = url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/?#]*/i, "");
  if (!local.startsWith(PREFIX)) return undefined;
  const query = local.indexOf("?");
  const name = query === -1 ? local.slice(PREFIX.length) : local.slice(PREFIX.length, query);
  if (name === "" || name.includes("/")) return undefined;
  return name.includes("%") ? decoded(name) : name;
}

function decoded(name: string): string | undefined {
  try {
    return decodeURIComponent(name);
  } catch {
    // The router answers what is wrong with it.
    return undefined;
  }
}

const EMPTY = new Uint8Array();

const BUSY: Reply = { status: 503, headers: { "retry-after": "1" } };
const CLOSING: Reply = { status: 503, headers: { "retry-after": "1" } };

/** One request and its answer. */
class Exchange implements BodyListener {
  readonly #door: IngestDoor;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #since: number;
  #source = "";
  #limit = 0;

  constructor(door: IngestDoor, request: IncomingMessage, response: ServerResponse) {
    this.#door = door;
    this.#request = request;
    this.#response = response;
    this.#since = door.parts.clock.monotonic();
  }

  begin(source: string): void {
    this.#source = source;
    this.#limit = this.#door.parts.ingest.bodyLimit(source);
    if (this.#door.closing) this.#answerUnread(CLOSING);
    else if (isEncoded(this.#request.headers)) this.#refuse(ENCODED);
    else if (this.#holdBody()) readStream(this.#request, this.#limit, this);
    else this.#answerUnread(BUSY);
  }

  #holdBody(): boolean {
    const bytes = announcedBytes(this.#request) ?? this.#limit;
    // One that is announced too large is not read.
    if (bytes <= this.#door.parts.settings.maxBodyBytes || bytes > this.#limit) return true;
    if (!this.#door.holdLarge(bytes)) return false;
    this.#response.once("close", () => this.#door.releaseLarge(bytes));
    return true;
  }

  bodyRead(reading: StreamReading): void {
    switch (reading.kind) {
      case "bytes":
        this.#receive(reading.bytes);
        return;
      case "too_large":
        this.#refuse(tooLarge(this.#request, this.#limit));
        return;
      case "broken":
        // The connection is gone, and half a body is no event.
        this.#response.destroy();
    }
  }

  #receive(body: Uint8Array): void {
    try {
      const reply = this.#door.parts.ingest.receive(this.#source, received(this.#request, body));
      if (reply instanceof Promise) reply.then(this.#answer, this.#fail);
      else this.#answer(reply);
    } catch (error) {
      this.#fail(error);
    }
  }

  #refuse(refusal: Refusal): void {
    const bodyBytes = announcedBytes(this.#request) ?? 0;
    this.#door.parts.ingest
      .refuse(this.#source, received(this.#request, EMPTY), { bodyBytes, ...refusal })
      .then((reply) => this.#answerUnread(reply), this.#fail);
  }

  readonly #answer = (reply: Reply): void => {
    try {
      this.#send(reply);
    } catch (error) {
      this.#fail(error);
    }
  };

  readonly #fail = (error: unknown): void => {
    const { log, nextId } = this.#door.parts;
    const id = nextId();
    log.error({ request: id, method: "POST", route: INGEST_ROUTE, err: error }, "request failed");
    if (this.#response.headersSent) return void this.#response.destroy();
    const { problem, headers } = failureOf(error, id);
    const reply: Reply = {
      status: problem.status,
      headers: { ...headers, "content-type": "application/problem+json" },
      body: JSON.stringify(problem),
    };
    this.#send(reply, hangUp(this.#request));
  };

  #send({ status, headers, body }: Reply, closes = false): void {
    const head = this.#head();
    let typed = false;
    for (const name in headers) {
      head.push(name, headers[name] ?? "");
      typed ||= name === "content-type";
    }
    if (body !== undefined && !typed) head.push("content-type", "text/plain; charset=utf-8");
    if (status !== 204) head.push("content-length", String(body === undefined ? 0 : Buffer.byteLength(body)));
    if (closes || this.#door.closing) head.push("connection", "close");
    this.#response.writeHead(status, head);
    this.#response.end(body);
    this.#count(status);
  }

  #answerUnread({ status, headers = {} }: Reply): void {
    const head = [...this.#head(), ...Object.entries(headers).flat()];
    hangUp(this.#request);
    this.#response.writeHead(status, [...head, "content-length", "0", "connection", "close"]);
    this.#response.end();
    this.#count(status);
  }

  #head(): string[] {
    return strictHead(this.#request, this.#door.parts.settings);
  }

  #count(status: number): void {
    const { metrics, clock } = this.#door.parts;
    const durationMs = clock.monotonic() - this.#since;
    metrics.answered({ method: "POST", route: INGEST_ROUTE, status, durationMs });
  }
}

function tooLarge(request: IncomingMessage, maxBodyBytes: number): Refusal {
  const announced = announcedBytes(request);
  const found = announced === undefined ? `more than ${maxBodyBytes}` : String(announced);
  return {
    status: 413,
    code: "body_too_large",
    message: `The body has ${found} bytes; at most ${maxBodyBytes} are taken (setting max_body).`,
    diagnosis: [],
  };
}

const ENCODED: Refusal = {
  status: 415,
  code: "body_encoded",
  message: "The body is compressed; signatures cover the bytes as they were before.",
  diagnosis: [],
};

function received(
  { headers, rawHeaders, method = "POST", url = "/" }: IncomingMessage,
  body: Uint8Array,
): ReceivedRequest {
  return { headers, rawHeaders, body, method, url };
}

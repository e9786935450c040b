import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from "fastify";
import type { Reply } from "posthorn";
import type { Settings } from "../../config/settings.js";
import type { Ingest, Refusal } from "../../ingest/ingest.js";
import type { ReceivedRequest } from "../../ingest/received-request.js";
import { announcedBytes, readRawBody } from "../request-body.js";
import type { BodyListener, BodyReading } from "../request-body.js";
import { answerUnread } from "../unread-body.js";

const EMPTY = new Uint8Array();

/** Where providers send to. The bytes are read before the framework looks at them: signatures cover every one. */
export function registerIngest(
  app: FastifyInstance,
  ingest: Ingest,
  settings: Pick<Settings, "maxBodyBytes">,
): void {
  const route = new IngestRoute(ingest, settings.maxBodyBytes);
  app.route({
    method: "POST",
    url: "/in/:source",
    schema: { hide: true },
    onRequest: route.onRequest,
    // Never reached: the hook answers, so that the framework neither parses nor refuses by content type.
    handler: (_request, reply) => reply.code(500).send(),
  });
}

class IngestRoute {
  readonly #ingest: Ingest;
  readonly #maxBodyBytes: number;

  constructor(ingest: Ingest, maxBodyBytes: number) {
    this.#ingest = ingest;
    this.#maxBodyBytes = maxBodyBytes;
  }

  readonly onRequest = (
    request: FastifyRequest,
    reply: FastifyReply,
    failed: HookHandlerDoneFunction,
  ): void => {
    const exchange = new Exchange(this.#ingest, this.#maxBodyBytes, { request, reply, failed });
    if (isEncoded(request)) exchange.refuse(ENCODED);
    else readRawBody(request.raw, this.#maxBodyBytes, exchange);
  };
}

/** One request and its answer. */
class Exchange implements BodyListener {
  readonly #ingest: Ingest;
  readonly #maxBodyBytes: number;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #failed: HookHandlerDoneFunction;

  constructor(
    ingest: Ingest,
    maxBodyBytes: number,
    of: {
      readonly request: FastifyRequest;
      readonly reply: FastifyReply;
      readonly failed: HookHandlerDoneFunction;
    },
  ) {
    this.#ingest = ingest;
    this.#maxBodyBytes = maxBodyBytes;
    this.#request = of.request;
    this.#reply = of.reply;
    this.#failed = of.failed;
  }

  bodyRead(reading: BodyReading): void {
    switch (reading.kind) {
      case "bytes":
        void this.#receive(reading.bytes);
        return;
      case "too_large":
        this.refuse(tooLarge(this.#request, this.#maxBodyBytes));
        return;
      case "broken":
        // Nobody is there to be answered, and half an event is none.
        this.#reply.hijack();
        this.#reply.raw.destroy();
    }
  }

  refuse(refusal: Refusal): void {
    const bodyBytes = announcedBytes(this.#request.raw) ?? 0;
    this.#ingest
      .refuse(sourceOf(this.#request), received(this.#request, EMPTY), { bodyBytes, ...refusal })
      .then(({ status }) => answerUnread(this.#reply, status), this.#failed);
  }

  async #receive(body: Uint8Array): Promise<void> {
    try {
      send(this.#reply, await this.#ingest.receive(sourceOf(this.#request), received(this.#request, body)));
    } catch (error) {
      this.#failed(error as Error);
    }
  }
}

function tooLarge({ raw }: FastifyRequest, maxBodyBytes: number): Refusal {
  const announced = announcedBytes(raw);
  const found = announced === undefined ? `more than ${maxBodyBytes}` : String(announced);
  return {
    status: 413,
    code: "body_too_large",
    message: `The body has ${found} bytes; at most ${maxBodyBytes} are taken (setting maxBodyBytes).`,
    diagnosis: [],
  };
}

const ENCODED: Refusal = {
  status: 415,
  code: "body_encoded",
  message: "The body is compressed; signatures cover the bytes as they were before.",
  diagnosis: [],
};

function isEncoded({ raw }: FastifyRequest): boolean {
  const encoding = raw.headers["content-encoding"];
  return encoding !== undefined && encoding !== "" && encoding.toLowerCase() !== "identity";
}

function sourceOf({ params }: FastifyRequest): string {
  return (params as { readonly source: string }).source;
}

function received({ raw }: FastifyRequest, body: Uint8Array): ReceivedRequest {
  return { headers: raw.headers, body, method: raw.method ?? "POST", url: raw.url ?? "/" };
}

function send(reply: FastifyReply, { status, headers, body }: Reply): void {
  reply.code(status);
  if (headers !== undefined) reply.headers(headers);
  void reply.send(body);
}

import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from "fastify";
import type { Reply } from "posthorn";
import type { Settings } from "../../config/settings.js";
import type { Ingest, Refusal } from "../../ingest/ingest.js";
import type { ReceivedRequest } from "../../ingest/received-request.js";
import { announcedBytes, readRawBody } from "../request-body.js";
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
    done: HookHandlerDoneFunction,
  ): void => {
    if (isEncoded(request)) return this.#refuse(request, reply, { done, refusal: ENCODED });
    readRawBody(request.raw, this.#maxBodyBytes, (reading) => {
      switch (reading.kind) {
        case "bytes":
          return this.#receive(request, reply, { done, body: reading.bytes });
        case "too_large":
          return this.#refuse(request, reply, { done, refusal: this.#tooLarge(request) });
        case "broken":
          // Nobody is there to be answered, and half an event is none.
          reply.hijack();
          return reply.raw.destroy() as unknown as void;
      }
    });
  };

  #receive(
    request: FastifyRequest,
    reply: FastifyReply,
    { done, body }: { readonly done: HookHandlerDoneFunction; readonly body: Uint8Array },
  ): void {
    this.#ingest
      .receive(sourceOf(request), received(request, body))
      .then((answer) => send(reply, answer), done);
  }

  #refuse(
    request: FastifyRequest,
    reply: FastifyReply,
    { done, refusal }: { readonly done: HookHandlerDoneFunction; readonly refusal: Refusal },
  ): void {
    this.#ingest
      .refuse(sourceOf(request), received(request, EMPTY), {
        bodyBytes: announcedBytes(request.raw) ?? 0,
        ...refusal,
      })
      .then(({ status }) => answerUnread(reply, status), done);
  }

  #tooLarge({ raw }: FastifyRequest): Refusal {
    const announced = announcedBytes(raw);
    const found = announced === undefined ? `more than ${this.#maxBodyBytes}` : String(announced);
    return {
      status: 413,
      code: "body_too_large",
      message: `The body has ${found} bytes; at most ${this.#maxBodyBytes} are taken (setting maxBodyBytes).`,
      diagnosis: [],
    };
  }
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

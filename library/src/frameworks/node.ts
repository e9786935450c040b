import type { IncomingMessage, ServerResponse } from "node:http";
import type { Receiver, Reply } from "../inbox/receiver.js";
import { refusedMethod, sourceOf } from "./request-rules.js";
import type { SourceChoice } from "./request-rules.js";

/** A listener for `node:http`, Express, Connect and all that hand over Node's own request and response. */
export type NodeListener = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Answers webhooks on `node:http`. Mount it before any body parser: it needs the bytes as they came.
 *
 * @example
 * createServer(nodeListener(receiver, { source: "stripe" })).listen(3000);
 */
export function nodeListener(
  receiver: Receiver,
  options: { readonly source: SourceChoice<IncomingMessage> },
): NodeListener {
  return (request, response) => {
    answer(receiver, options.source, request).then(
      (reply) => send(response, reply),
      // Only a connection that broke while the body came in ends here: nothing was accepted, nobody is left to answer.
      () => response.destroy(),
    );
  };
}

async function answer(
  receiver: Receiver,
  source: SourceChoice<IncomingMessage>,
  request: IncomingMessage,
): Promise<Reply> {
  const refused = refusedMethod(request.method);
  if (refused !== undefined) return refused;
  const body = await readBody(request, receiver.maxBodyBytes);
  if (body === "too_large") return { status: 413, headers: { connection: "close" } };
  return receiver.receive(sourceOf(source, request), {
    headers: request.headers,
    // What a parser left is handed on as it is: the receiver says what is wrong with it, and how to mend it.
    body: body as Uint8Array,
    method: request.method ?? "POST",
    url: absoluteUrl(request),
  });
}

async function readBody(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const kept = request as { rawBody?: unknown; body?: unknown };
  if (kept.rawBody instanceof Uint8Array) return kept.rawBody;
  if (kept.body !== undefined || request.readableEnded) return kept.body;
  // A stated length is refused before the first byte, an unstated one as soon as it passes the limit.
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return "too_large";
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > maxBytes) return "too_large";
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, length);
}

function absoluteUrl(request: IncomingMessage): string {
  const protocol = "encrypted" in request.socket ? "https" : "http";
  // Express rewrites `url` below a mount point and keeps what was asked for beside it.
  const asked = (request as { originalUrl?: string }).originalUrl ?? request.url ?? "/";
  return `${protocol}://${request.headers.host ?? "localhost"}${asked}`;
}

function send(response: ServerResponse, reply: Reply): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(reply.status, reply.headers);
  response.end(reply.body);
}

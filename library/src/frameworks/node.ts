import type { IncomingMessage, ServerResponse } from "node:http";
import { reach } from "#faults";
import type { Receiver, Reply } from "../inbox/receiver.js";
import { hangUp } from "./hang-up.js";
import { hasBody, readNodeBody } from "./node-body.js";
import {
  absoluteUrl,
  allowsBody,
  checkDoor,
  refuseBody,
  refuseError,
  refusedMethod,
  sourceOf,
  unlessDoubtful,
} from "./request-rules.js";
import type { BodyReading, SourceChoice } from "./request-rules.js";

/** A listener for `node:http`, Express, Connect and all that hand over Node's own request and response. */
export type NodeListener = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Answers webhooks on `node:http`. Mount it before any body parser: it needs the bytes as they came.
 *
 * @example
 * createServer(nodeListener(receiver, { source: "stripe" })).listen(3000);
 */
export function nodeListener<Source extends string>(
  receiver: Receiver<Source>,
  options: { readonly source: SourceChoice<IncomingMessage, NoInfer<Source>> },
): NodeListener {
  checkDoor({ name: "nodeListener", byFunction: true }, receiver, options);
  const { source } = options;
  return (request, response) => {
    void serveNode({ receiver, source }, request, response);
  };
}

/** What answers requests of Node. */
export interface NodeReading {
  readonly receiver: Receiver;
  readonly source: SourceChoice<IncomingMessage>;
  /** How to keep the exact bytes in the framework around; @default for `node:http` and Express */
  readonly cure?: string;
}

/** Answers one request. Never rejects. */
export async function serveNode(
  reading: NodeReading,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { receiver } = reading;
  let reply: Reply;
  try {
    reply = await answer(reading, request);
  } catch (error) {
    // The host's function for the source, say. Unanswered, the request would hang until the sender gives up.
    reply = refuseError(receiver, error);
  }
  try {
    sendNode(request, response, reply);
  } catch (error) {
    // A header that Node refuses to write. The sender sees a broken connection and comes again.
    refuseError(receiver, error);
    response.destroy();
  }
}

async function answer(
  { receiver, source: choice, cure }: NodeReading,
  request: IncomingMessage,
): Promise<Reply> {
  const refused = refusedMethod(request.method);
  if (refused !== undefined) return refused;
  const source = sourceOf(choice, request);
  return receiveNode(
    receiver,
    source,
    request,
    await readNodeBody(request, receiver.maxBodyBytes(source), cure),
  );
}

/** Hands a request whose body was read to the receiver. */
export async function receiveNode(
  receiver: Receiver,
  source: string,
  request: IncomingMessage,
  reading: BodyReading,
): Promise<Reply> {
  if (reading.kind !== "bytes") return refuseBody(receiver, source, reading);
  // Trailers are not merged into the headers: they come after the signature was sent, from whoever writes last.
  const { headers, rawHeaders, method = "POST" } = request;
  const reply = await receiver.receive(source, {
    headers,
    rawHeaders,
    body: reading.bytes,
    method,
    url: urlOf(request),
  });
  return unlessDoubtful(receiver, source, reading, reply);
}

function urlOf(request: IncomingMessage): string {
  // Express rewrites `url` below a mount point and keeps what was asked for beside it.
  const asked = (request as { originalUrl?: string }).originalUrl ?? request.url ?? "/";
  return absoluteUrl(asked, "encrypted" in request.socket ? "https" : "http", request.headers.host);
}

/** Writes a reply, and ends the connection of a sender whose body nobody will read. */
export function sendNode(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: Reply,
): void {
  if (response.headersSent || response.destroyed) return;
  const text = allowsBody(status) ? (body ?? "") : undefined;
  const unread = hasBody(request) && !request.readableEnded;
  if (unread) hangUp(request);
  reach("reply.before_send");
  response.writeHead(status, {
    ...headers,
    // Without it, Node sends even an empty body in chunks; with status 204 there must be none.
    ...(text === undefined ? {} : { "content-length": Buffer.byteLength(text) }),
    // The rest of the body would be taken for the next request's beginning.
    ...(unread ? { connection: "close" } : {}),
  });
  response.end(text);
  reach("reply.after_send");
}

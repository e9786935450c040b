import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";
import { LINGER_MS } from "./hang-up.js";

/**
 * Answers a request whose body was not read, and ends the connection, but not while the sender is in the middle of it: a
 * socket that is closed with bytes unread is reset, and the reset takes back the reply that was just sent. What still
 * comes is read and dropped.
 */
export function answerUnread(reply: FastifyReply, status: number): void {
  const { raw: request } = reply.request;
  const { raw: response } = reply;
  const headers = reply.getHeaders() as OutgoingHttpHeaders;
  reply.hijack();
  response.writeHead(status, { ...headers, "content-length": 0, connection: "close" });
  response.flushHeaders();
  hangUp(request, response);
}

function hangUp(request: IncomingMessage, response: ServerResponse): void {
  const close = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(close, LINGER_MS);
  timer.unref();
  if (request.readableEnded || request.destroyed) return close();
  request.once("end", close).once("close", close).resume();
}

import type { FastifyRequest } from "fastify";
import { problem, shown } from "../problem.js";
import { originOf } from "./session-cookie.js";

/**
 * Browsers send cookies along with what other pages make them send. A write by session therefore has to come from a page
 * of this server, and in a form that no page of another can send unasked.
 */
export function checkSessionWrite(request: FastifyRequest): void {
  checkOrigin(request, request.headers.origin ?? "none");
  const type = (request.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase();
  if (type === "application/json") return;
  throw problem("session_refused", "A write by session needs the content-type application/json.");
}

/** Refuses what another site's page sends. Programs that are no browser send no origin. */
export function checkOrigin(request: FastifyRequest, origin: string | undefined): void {
  const own = originOf(request);
  if (origin === undefined || origin.toLowerCase() === own) return;
  throw problem(
    "session_refused",
    `The request comes from ${shown(origin)}, and this server is ${own}. ` +
      "If a proxy in front of it speaks TLS, start the server with --behind-proxy.",
  );
}

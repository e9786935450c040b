import type { FastifyReply, FastifyRequest } from "fastify";
import { isLoopback } from "./host-check.js";

// The browser holds whoever sends it to this prefix: only over TLS, for this host alone, on all paths.
const SECURE_NAME = "__Host-posthorn";

type Addressed = Pick<FastifyRequest, "protocol" | "host" | "hostname" | "port">;

/**
 * The name of the cookie for whoever asks in this way; undefined where no cookie would be safe: over plain HTTP, everybody
 * on the way could read it, unless the way ends on this machine.
 */
export function cookieName({ protocol, hostname, port }: Addressed): string | undefined {
  if (protocol === "https") return SECURE_NAME;
  // Browsers keep one jar for all ports of a host: without the port, two servers on one machine would sign each other out.
  return isLoopback(hostname) ? `posthorn-${port ?? 80}` : undefined;
}

/** What the cookie of a request holds. */
export function readCookie(request: FastifyRequest): string | undefined {
  const name = cookieName(request);
  if (name === undefined) return undefined;
  for (const pair of (request.headers.cookie ?? "").split(";")) {
    const at = pair.indexOf("=");
    if (at !== -1 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/** Hands the browser its cookie; an age of 0 takes it back. */
export function writeCookie(reply: FastifyReply, value: string, maxAgeS: number): void {
  const { request } = reply;
  const name = cookieName(request);
  if (name === undefined) return;
  const secure = name === SECURE_NAME ? "; Secure" : "";
  reply.header(
    "set-cookie",
    `${name}=${value}; Path=/; Max-Age=${maxAgeS}; HttpOnly; SameSite=Strict${secure}`,
  );
}

/** Where a page of this server comes from, as browsers say it in `origin`. */
export function originOf({ protocol, host }: Addressed): string {
  return `${protocol}://${host}`.toLowerCase();
}

import type { Settings } from "../../config/settings.js";

const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];

/**
 * Says whether a request may have this `host` header (DNS rebinding). A page of another site can point its own name at
 * 127.0.0.1, and a browser then lets the page read our answers; only the `host` header shows it. A server that does not
 * listen on loopback cannot know its names.
 */
export function hostCheck({
  listen,
  hosts,
}: Pick<Settings, "listen" | "hosts">): (host: string | undefined) => boolean {
  if (!isLoopback(listen.host)) return () => true;
  const allowed = new Set(
    [...LOOPBACK_NAMES, bracketed(listen.host), ...hosts].map((name) => name.toLowerCase()),
  );
  return (host) => host !== undefined && allowed.has(withoutPort(host.toLowerCase()));
}

/** Whether only this machine can reach a server that listens there. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, "").toLowerCase();
  return name === "localhost" || name === "::1" || /^127(\.\d{1,3}){3}$/.test(name);
}

function withoutPort(host: string): string {
  return host.replace(/:\d{1,5}$/, "").replace(/\.$/, "");
}

function bracketed(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}

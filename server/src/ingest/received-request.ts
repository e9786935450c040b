import type { SignedRequest } from "posthorn";
import { absoluteUrl } from "posthorn/gateway";
import type { HeaderRecord } from "posthorn/gateway";
import type { Settings } from "../config/settings.js";

/** A request as it came off the wire. */
export interface ReceivedRequest extends SignedRequest {
  readonly headers: HeaderRecord;
  readonly method: string;
  /** Path and query; the whole URL where a proxy sends it. */
  readonly url: string;
}

/** How the server is reached, where nothing in a request tells it for sure. */
export interface Origin {
  readonly protocol: "http" | "https";
  /** The setting `public_url`. */
  readonly publicUrl: string | undefined;
}

/**
 * The request with its absolute URL. Without `publicUrl`, the `host` header is the best guess; with a wrong one, the
 * signature does not match and the request is refused.
 */
export function withOrigin(request: ReceivedRequest, { protocol, publicUrl }: Origin): ReceivedRequest {
  const { host } = request.headers;
  if (publicUrl !== undefined && request.url.startsWith("/"))
    return { ...request, url: publicUrl + request.url };
  return { ...request, url: absoluteUrl(request.url, protocol, typeof host === "string" ? host : undefined) };
}

export function originOf({ behindProxy, publicUrl }: Pick<Settings, "behindProxy" | "publicUrl">): Origin {
  return { protocol: behindProxy ? "https" : "http", publicUrl };
}

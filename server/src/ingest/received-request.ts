import type { SignedRequest } from "posthorn";
import { absoluteUrl } from "posthorn/gateway";
import type { HeaderRecord } from "posthorn/gateway";

/** A request as it came off the wire. */
export interface ReceivedRequest extends SignedRequest {
  readonly headers: HeaderRecord;
  readonly method: string;
  /** Path and query; the whole URL where a proxy sends it. */
  readonly url: string;
}

/**
 * The request with its absolute URL. Without `publicUrl`, the `host` header is the best guess; with a wrong one, the
 * signature does not match and the request is refused.
 */
export function withOrigin(request: ReceivedRequest, protocol: "http" | "https"): ReceivedRequest {
  const { host } = request.headers;
  return { ...request, url: absoluteUrl(request.url, protocol, typeof host === "string" ? host : undefined) };
}

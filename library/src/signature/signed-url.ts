import { PosthornError } from "../posthorn-error.js";
import type { SignedRequest, Verifier } from "./scheme.js";
import type { SignatureErrorCode } from "./signature-errors.js";

/**
 * The URL that the provider signed, as text. Nothing is decoded, re-encoded or normalised: the
 * provider hashed the characters it was configured with, and `new URL()` would write others.
 *
 * `publicUrl` as an origin stands before the request's path and query; with a path, it stands for
 * all but the query, which is what a proxy that rewrites paths needs; without it, the request's own
 * absolute URL counts.
 */
export function signedUrl(
  request: Pick<SignedRequest, "url">,
  verifier: Pick<Verifier, "publicUrl">,
): string {
  const { publicUrl } = verifier;
  const { url } = request;
  if (publicUrl === undefined) {
    if (url !== undefined && originOf(url) !== "") return url;
    throw required(url, "set the option `publicUrl` to the URL as the provider has it");
  }
  const configured = upTo(publicUrl, "#");
  if (!isOrigin(configured)) {
    return url === undefined ? configured : upTo(configured, "?") + queryOf(url);
  }
  const target = url?.slice(originOf(url).length);
  // Anything but a path would run into the host: "https://example.com" + "evil" is another host.
  if (url !== undefined && target !== undefined && /^[/?]|^$/.test(target)) {
    return originOf(configured) + target;
  }
  throw required(url, "hand in the request's `url`, or set `publicUrl` to the whole URL, path included");
}

/** Scheme, credentials, host and port as they stand; empty for a path. */
function originOf(url: string): string {
  return /^https?:\/\/[^/?#]*/i.exec(url)?.[0] ?? "";
}

function isOrigin(url: string): boolean {
  const rest = url.slice(originOf(url).length);
  return rest === "" || rest === "/";
}

function queryOf(url: string): string {
  const mark = url.indexOf("?");
  return mark < 0 ? "" : url.slice(mark);
}

function upTo(text: string, mark: string): string {
  const end = text.indexOf(mark);
  return end < 0 ? text : text.slice(0, end);
}

function required(url: string | undefined, cure: string): PosthornError<SignatureErrorCode> {
  // Without its query, where people put tokens that must not reach a log.
  const found = url === undefined ? undefined : upTo(url, "?").slice(0, 200);
  return new PosthornError(
    "url_required",
    `This scheme signs the URL, and the request's \`url\` is ${found === undefined ? "not given" : `"${found}"`}: ${cure}.`,
    { detail: { found, option: "publicUrl" } },
  );
}

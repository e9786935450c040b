import { findHeader } from "../headers/headers.js";
import type { HeaderBag } from "../headers/headers.js";
import type { SignedRequest, Verifier } from "../scheme.js";
import { signedUrl } from "../signed-url.js";
import type { Variant } from "./variant.js";

/** The URL as the provider may have it, where a proxy stands between. */
export function* urlVariants(request: SignedRequest, verifier: Verifier): Generator<Variant> {
  const base = parts(currentUrl(request, verifier));
  if (base === undefined) return;
  for (const [cure, url] of candidates(base, request.headers)) {
    const says = `The signature is right for another URL than this one: ${cure}.`;
    yield { says, request: { ...request, url }, verifier: { ...verifier, publicUrl: undefined } };
  }
}

interface Parts {
  readonly scheme: string;
  readonly host: string;
  /** With its colon; empty where there is none. */
  readonly port: string;
  readonly path: string;
  readonly query: string;
}

function* candidates(base: Parts, headers: HeaderBag): Generator<readonly [string, string]> {
  const other = base.scheme === "https" ? "http" : "https";
  const swapped = { ...base, scheme: other };
  const forwarded = forwardedOrigin(headers, base.scheme);
  if (forwarded !== undefined) {
    const origin = `${forwarded.scheme}://${forwarded.host}${forwarded.port}`;
    const cure = `the request was forwarded, so set publicUrl to "${origin}"`;
    yield [cure, join({ ...base, ...forwarded })];
    const guessed = { ...forwarded, scheme: forwarded.scheme === "https" ? "http" : "https" };
    yield [`${cure}, with ${guessed.scheme}`, join({ ...base, ...guessed })];
  }
  yield [`the provider has it with ${other}, so set publicUrl`, join(swapped)];
  if (base.port === "") {
    yield [
      "the provider has it with a port, so set publicUrl",
      join({ ...base, port: defaultPort(base.scheme) }),
    ];
  } else {
    yield ["the provider has it without the port, so set publicUrl", join({ ...base, port: "" })];
    yield [
      `the provider has it with ${other} and without the port, so set publicUrl`,
      join({ ...swapped, port: "" }),
    ];
  }
  yield* paths(base, headers);
}

function* paths(base: Parts, headers: HeaderBag): Generator<readonly [string, string]> {
  const slash = base.path.endsWith("/");
  const path = slash ? base.path.slice(0, -1) : `${base.path}/`;
  yield [`the provider has it ${slash ? "without" : "with"} a slash at the end`, join({ ...base, path })];
  if (base.query !== "") yield ["the provider has it without the query", join({ ...base, query: "" })];
  const prefix = headerOf(headers, "x-forwarded-prefix");
  if (prefix !== undefined && prefix.startsWith("/")) {
    yield [
      "a proxy removed the start of the path, so set publicUrl",
      join({ ...base, path: prefix + base.path }),
    ];
  }
  const rest = withoutStart(base.path);
  const last = rest && withoutStart(rest);
  const without = "the provider has it without the first";
  if (rest !== undefined)
    yield [`${without} part of its path, so set publicUrl`, join({ ...base, path: rest })];
  if (last !== undefined)
    yield [`${without} two parts of its path, so set publicUrl`, join({ ...base, path: last })];
  const original = headerOf(headers, "x-original-uri") ?? headerOf(headers, "x-original-url");
  if (original !== undefined && original.startsWith("/")) {
    yield ["a proxy changed the path, so set publicUrl", join({ ...base, path: original, query: "" })];
  }
}

/** Without a prefix or a version that the application or a proxy has added; undefined where nothing would be left. */
function withoutStart(path: string): string | undefined {
  return /^\/[^/]+(\/.+)$/.exec(path)?.[1];
}

/** Origin as the first proxy saw it, by `X-Forwarded-*`, `Forwarded`, or else `Host`. */
function forwardedOrigin(
  headers: HeaderBag,
  scheme: string,
): Pick<Parts, "scheme" | "host" | "port"> | undefined {
  const [forwarded = ""] = (headerOf(headers, "forwarded") ?? "").split(",");
  const host =
    first(headerOf(headers, "x-forwarded-host")) ??
    /(?:^|[;\s])host="?([^";\s]+)/i.exec(forwarded)?.[1] ??
    headerOf(headers, "host");
  const proto = first(headerOf(headers, "x-forwarded-proto")) ?? /proto="?(https?)\b/i.exec(forwarded)?.[1];
  // Only what a host looks like: the text is shown to the operator.
  const match = /^([a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(:\d{1,5})?$/i.exec(host ?? "");
  if (match?.[1] === undefined) return undefined;
  return {
    scheme: proto === "http" || proto === "https" ? proto : scheme,
    host: match[1],
    port: match[2] ?? "",
  };
}

function currentUrl(request: SignedRequest, verifier: Verifier): string {
  try {
    return signedUrl(request, verifier);
  } catch {
    // Only a path is known; the forwarded host may complete it.
    return `https://unknown.invalid${request.url ?? "/"}`;
  }
}

function parts(url: string): Parts | undefined {
  const match = /^(https?):\/\/([^/?#:]*|\[[^\]]*\])(:\d*)?([^?#]*)(\?[^#]*)?/i.exec(url);
  if (match === null) return undefined;
  const [, scheme = "", host = "", port = "", path = "", query = ""] = match;
  return { scheme: scheme.toLowerCase(), host, port, path, query };
}

function join({ scheme, host, port, path, query }: Parts): string {
  return `${scheme}://${host}${port}${path}${query}`;
}

function defaultPort(scheme: string): string {
  return scheme === "https" ? ":443" : ":80";
}

function first(list: string | undefined): string | undefined {
  return list?.split(",")[0]?.trim();
}

function headerOf(headers: HeaderBag, name: string): string | undefined {
  try {
    return findHeader(headers, name);
  } catch {
    // Sent twice or far too long: then it tells nothing.
    return undefined;
  }
}

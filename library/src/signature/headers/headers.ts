import { PosthornError } from "../../posthorn-error.js";
import type { SignatureErrorCode } from "../signature-errors.js";

/** Headers as Node makes them: names in lower case, repeated ones joined. */
export type HeaderRecord = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Headers as any platform has them: a `Headers` object, or a record as Node makes it. */
export type HeaderBag = { get(name: string): string | null } | HeaderRecord;

// Longer than any provider's header; keeps every parser below linear in something small.
const MAX_HEADER_LENGTH = 8192;

/** The one value of a header, whatever the case of its name; undefined when it is absent. */
export function findHeader(headers: HeaderBag, name: string): string | undefined {
  const value = rawHeader(headers, name);
  if (value === undefined) return undefined;
  const single = typeof value === "string" ? value : value.length === 1 ? value[0] : undefined;
  if (typeof single !== "string" || single.length > MAX_HEADER_LENGTH) {
    throw new PosthornError<SignatureErrorCode>(
      "header_malformed",
      `The header "${name}" ${single === undefined ? "was sent more than once" : `is longer than ${MAX_HEADER_LENGTH} characters`}.`,
      { detail: { header: name } },
    );
  }
  return single;
}

/** The one value of a header that the scheme cannot do without. */
export function needHeader(headers: HeaderBag, name: string): string {
  const value = findHeader(headers, name);
  if (value !== undefined && value !== "") return value;
  throw new PosthornError<SignatureErrorCode>(
    "header_missing",
    `The request has no "${name}" header: is the request signed, or does a proxy drop the header?`,
    { detail: { header: name } },
  );
}

function rawHeader(headers: HeaderBag, name: string): string | readonly string[] | undefined {
  if (isHeaders(headers)) return headers.get(name) ?? undefined;
  // Own properties only: a header called __proto__ must not reach the prototype's.
  if (Object.hasOwn(headers, name)) return headers[name];
  for (const candidate in headers) {
    if (
      candidate.length === name.length &&
      candidate.toLowerCase() === name &&
      Object.hasOwn(headers, candidate)
    ) {
      return headers[candidate];
    }
  }
  return undefined;
}

function isHeaders(headers: HeaderBag): headers is { get(name: string): string | null } {
  return typeof (headers as { get?: unknown }).get === "function";
}

import { PosthornError } from "../../posthorn-error.js";
import type { SignatureErrorCode } from "../signature-errors.js";

/** Headers as Node makes them: names in lower case, repeated ones joined. */
export type HeaderRecord = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Headers as any platform has them: a `Headers` object, or a record as Node makes it. */
export type HeaderBag = { get(name: string): string | null; keys?(): Iterable<string> } | HeaderRecord;

// Longer than any provider's header; keeps every parser below linear in something small.
const MAX_HEADER_LENGTH = 8192;

/** The one value of a header, whatever the case of its name; undefined when it is absent. */
export function findHeader(headers: HeaderBag, name: string): string | undefined {
  const value = rawHeader(headers, name);
  if (value === undefined) return undefined;
  const single = typeof value === "string" ? value : value.length === 1 ? value[0] : undefined;
  if (typeof single !== "string") throw repeatedHeader(name);
  if (single.length <= MAX_HEADER_LENGTH) return single;
  throw malformedHeader(name, `it is longer than ${MAX_HEADER_LENGTH} characters`);
}

/** The error for a header of which two readers could take two different values. */
export function repeatedHeader(header: string): PosthornError<SignatureErrorCode> {
  return malformedHeader(header, "it was sent more than once");
}

/** The error for a header that is there and cannot be what the scheme prescribes. */
export function malformedHeader(header: string, why: string): PosthornError<SignatureErrorCode> {
  return new PosthornError("header_malformed", `The header "${header}" cannot be right: ${why}.`, {
    detail: { header },
  });
}

/** The one value of a header that the scheme cannot do without. */
export function needHeader(headers: HeaderBag, name: string): string {
  const value = findHeader(headers, name);
  if (value !== undefined && value !== "") return value;
  throw new PosthornError<SignatureErrorCode>(
    "header_missing",
    `The request has no "${name}" header: is it signed, or does a proxy drop headers?`,
    { detail: { header: name } },
  );
}

/** The value or the values of a header, whatever the case of its name; undefined when it is absent. */
export function rawHeader(headers: HeaderBag, name: string): string | readonly string[] | undefined {
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

/** Whether the headers are an object that is asked for a name, as `Headers` is. */
export function isHeaders(headers: HeaderBag): headers is Exclude<HeaderBag, HeaderRecord> {
  return typeof (headers as { get?: unknown }).get === "function";
}

import type { SignatureErrorCode } from "posthorn";
import type { Difference } from "../subject.js";
import type { Sample } from "../sample.js";

// Differences that several libraries share; each names those where it was found.

export function header(sample: Sample, name: string): string {
  return sample.headers[name] ?? "";
}

export function isUtf8(body: Buffer): boolean {
  return Buffer.from(body.toString()).equals(body);
}

/** The library turns the body into text before it hashes it. */
export const DECODES_BODY: readonly Difference[] = [
  {
    name: "rejects bodies that are not UTF-8",
    library: "rejects",
    when: ({ body }) => !isUtf8(body),
    what: "decodes the body as UTF-8 before hashing, so that a rightly signed body with other bytes never matches",
    why: "the signature covers bytes; we hash the bytes",
  },
  {
    name: "accepts other bytes for U+FFFD",
    library: "accepts",
    code: "signature_mismatch",
    when: ({ body }) => !isUtf8(body) && body.toString().includes("\ufffd"),
    what: "decodes the body as UTF-8 before hashing, so that every broken byte passes for U+FFFD: bodies that were not signed are accepted",
    why: "two bodies must not share one signature",
  },
];

/** The library strips a byte order mark while it decodes. */
export const STRIPS_BOM: readonly Difference[] = [
  {
    name: "rejects a signed byte order mark",
    library: "rejects",
    when: ({ body }) => body.subarray(0, 3).equals(Buffer.from("\ufeff")),
    what: "drops a byte order mark before hashing, so that a body signed with one never matches",
    why: "the mark is part of the signed bytes",
  },
  {
    name: "accepts an added byte order mark",
    library: "accepts",
    code: "signature_mismatch",
    when: ({ body }) => body.subarray(0, 3).equals(Buffer.from("\ufeff")),
    what: "drops a byte order mark before hashing, so that one added on the way goes unseen",
    why: "what was not signed is not accepted",
  },
];

/** The library compares the text of the digest instead of its value. */
export const COMPARES_HEX: Difference = {
  name: "rejects capitals",
  library: "rejects",
  when: ({ headers }) =>
    Object.values(headers).some((value) => /[A-F]/.test(value) && /[0-9A-Fa-f]{40}/.test(value)),
  what: "compares hexadecimal as text, so that capitals never match",
  why: "hexadecimal means the same in either case; the value is compared, in constant time",
};

// The digest of SHA-1 or SHA-256 without its padding, or with a letter of the url-safe alphabet.
const UNUSUAL_BASE64 =
  /(?:^|[ ,])(?:[\w+/-]{27}|[\w+/-]{43}|(?=[\w+/]*-|[^_ ]*_)[\w+/-]{27}=|(?=[\w+/]*-|[^_ ]*_)[\w+/-]{43}=)(?:$| )/;

export const COMPARES_BASE64: Difference = {
  name: "rejects base64 without padding or in the url-safe alphabet",
  library: "rejects",
  when: ({ headers }) => Object.values(headers).some((value) => UNUSUAL_BASE64.test(value)),
  what: "compares base64 as text, so that a digest without padding or in the url-safe alphabet never matches",
  why: "both say the same value; texts that say no value at all are refused by us as well",
};

/** The library reads the signed time with parseInt or Number. */
export const LOOSE_TIME: Difference = {
  name: "accepts odd times",
  library: "accepts",
  code: "timestamp_malformed",
  what: "reads the time with `parseInt` or `Number`, so that texts such as `1794770453abc` pass for a time",
  why: "a signed text that two readers understand differently is a hole; only plain digits are a time",
};

export const FUTURE: Difference = {
  name: "accepts times in the future",
  library: "accepts",
  code: "timestamp_out_of_range",
  when: (_, { skewS }) => typeof skewS === "number" && skewS < 0,
  what: "checks only whether the time is too old, so that a request dated ahead can be replayed until then",
  why: "the tolerance holds in both directions",
};

export const EMPTY_BODY: Difference = {
  name: "rejects an empty body",
  library: "rejects",
  when: ({ body }) => body.length === 0,
  what: "refuses an empty body, though it is rightly signed",
  why: "an empty body is a body; whether it means anything is for the handler",
};

/** `v1=<digest>=junk`: what stands behind the second mark is never looked at. */
export function ignoresTail(mark: "=" | ",", code: SignatureErrorCode): Difference {
  const tail = mark === "=" ? /[0-9a-f]{40}=/i : /v1,[\w+/=-]{40,},/;
  return {
    name: `accepts junk behind a second "${mark}"`,
    library: "accepts",
    // A mismatch where other signatures stand beside the damaged one.
    code: [code, "signature_mismatch"],
    when: ({ headers }) => Object.values(headers).some((value) => tail.test(value)),
    what: `splits the entry at "${mark}" and looks at the first two parts only, so that anything may follow the digest`,
    why: "a digest is one value; a text with more in it is damaged or forged",
  };
}

export function tooManyEntries(separator: string): Difference {
  return {
    name: "accepts any number of signatures",
    library: "accepts",
    code: "header_malformed",
    when: ({ headers }) => Object.values(headers).some((value) => value.split(separator).length > 16),
    what: "compares as many signatures as the header lists",
    why: "real senders list one or two; at most 16 are read, so that a header cannot make us work",
  };
}

export const ANY_LENGTH: Difference = {
  name: "accepts headers of any length",
  library: "accepts",
  code: "header_malformed",
  when: ({ headers }) => Object.values(headers).some((value) => value.length > 8192),
  what: "reads headers of any length",
  why: "no sender needs more than 8192 characters",
};

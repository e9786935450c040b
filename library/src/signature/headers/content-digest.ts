import { Key } from "../keys/key.js";
import type { Question } from "../crypto/question.js";
import { malformedHeader, needHeader } from "./headers.js";
import type { HeaderBag } from "./headers.js";
import { parseByteDictionary } from "./structured-fields.js";

const HEADER = "content-digest";
const ALGORITHMS = [
  { name: "sha-512", key: new Key("sha512", HEADER, new Uint8Array()) },
  { name: "sha-256", key: new Key("sha256", HEADER, new Uint8Array()) },
] as const;

/** Asks whether the body is that of `Content-Digest` (RFC 9530), by the strongest of the known hashes that it names. */
export function contentDigest(headers: HeaderBag, body: Uint8Array): Question {
  const digests = parseByteDictionary(needHeader(headers, HEADER));
  if (digests === undefined) throw malformedHeader(HEADER, "it must be such as sha-256=:…:, in base64");
  for (const { name, key } of ALGORITHMS) {
    const digest = digests.get(name);
    if (digest !== undefined) return { key, content: [body], signatures: [digest] };
  }
  throw malformedHeader(HEADER, "it names neither sha-256 nor sha-512");
}

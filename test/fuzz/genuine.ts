import { answerSync } from "#crypto";
import type { Key, Scheme, Verified, Verifier } from "posthorn";
import type { PlainRequest, Seed } from "./seeds.js";

// Providers that sign a form's parameters, or URL and body without a mark between them, so that several bodies share one
// signature by their own rule. Everywhere else another body must never pass, whatever the scheme's code says is signed.
const SHARED_SIGNATURES: ReadonlySet<string> = new Set(["twilio", "hubspot", "square", "hmac"]);

/** What the senders of the vectors really signed. Nothing else may ever be accepted, however it was put together. */
export interface Genuine {
  /** By key and content of each signature that holds: the bodies that it was sent with. */
  readonly signed: ReadonlyMap<string, ReadonlySet<string>>;
  readonly stamps: ReadonlySet<string>;
  readonly seeds: readonly Seed[];
}

export function collectGenuine(seeds: readonly Seed[]): Genuine {
  const keys = seeds.flatMap(({ verifier }) =>
    typeof verifier.keys === "function" ? [] : verifier.keys.keys,
  );
  const signed = new Map<string, Set<string>>();
  const distinct = new Map(keys.map((key) => [`${key.algorithm} ${hex(key)}`, key]));
  // Some vectors are signed over the URL alone and refused for their body; without it, they are genuine.
  const sent = seeds.flatMap((seed) => [
    seed,
    { ...seed, request: { ...seed.request, body: new Uint8Array() } },
  ]);
  for (const { verifier, request } of sent) {
    for (const { content, question } of claimsOf(verifier, request)) {
      for (const key of distinct.values()) {
        if (key.algorithm !== question.algorithm || answerSync({ ...question, key }) < 0) continue;
        const name = `${hex(key)} ${content}`;
        signed.set(name, (signed.get(name) ?? new Set()).add(latin1(request.body)));
      }
    }
  }
  return { signed, stamps: new Set(seeds.map(({ verified }) => printStamp(verified?.stamp))), seeds };
}

/** Why an accepted request should not have been; undefined when all that was signed is genuine. */
export function objectionTo(verified: Verified, request: PlainRequest, genuine: Genuine): string | undefined {
  const { verifier, match, stamp } = verified;
  if (stamp !== undefined && !genuine.stamps.has(printStamp(stamp)))
    return "accepted with a stamp that nobody signed";
  if (match.key.algorithm === "plain_token") {
    return Buffer.from(match.signature).equals(match.key.material())
      ? undefined
      : "accepted with another token";
  }
  const contents = claimsOf(verifier, request).map(({ content }) => content);
  const bodies = contents.flatMap((content) => genuine.signed.get(`${hex(match.key)} ${content}`) ?? []);
  const isLoose = !verifier.scheme.covers.body || SHARED_SIGNATURES.has(verifier.scheme.name);
  if (bodies.some((each) => isLoose || each.has(latin1(request.body)))) return undefined;
  if (isReunited(match.key, contents, request, genuine)) return undefined;
  return bodies.length === 0
    ? "accepted, though nobody signed this with that key"
    : "accepted with a body that nobody signed";
}

/** Whether chance put the headers of one vector back to the body of another, for which they were made. */
function isReunited(
  key: Key,
  contents: readonly string[],
  request: PlainRequest,
  { seeds }: Genuine,
): boolean {
  const { body } = request;
  if (!seeds.some((seed) => latin1(seed.request.body) === latin1(body))) return false;
  return seeds.some(({ verifier, request: sent }) =>
    claimsOf(verifier, { ...sent, body }).some(
      ({ content, question }) => contents.includes(content) && answerSync({ ...question, key }) >= 0,
    ),
  );
}

type Claim = ReturnType<Scheme["read"]>["claims"][number];

interface Signed {
  readonly content: string;
  readonly question: Claim;
}

function claimsOf(verifier: Verifier, request: PlainRequest): readonly Signed[] {
  try {
    const { claims, also } = verifier.scheme.read(request, verifier);
    // Where a signed hash stands for the body, the body belongs to what is signed.
    const body = (also?.content ?? []).map(latin1).join("");
    return claims.map((claim) => ({ content: claim.content.map(latin1).join("") + body, question: claim }));
  } catch {
    return [];
  }
}

/** HMAC fills a key up with zeros, so that "secret" and "secret\0" are one key. */
function hex(key: Key): string {
  return Buffer.from(key.material())
    .toString("hex")
    .replace(/(00)+$/, "");
}

function latin1(part: string | Uint8Array): string {
  return Buffer.from(part).toString("latin1");
}

function printStamp(stamp: Verified["stamp"]): string {
  return stamp === undefined
    ? ""
    : JSON.stringify(stamp, (_, each: unknown) => (typeof each === "bigint" ? `${each}n` : each));
}

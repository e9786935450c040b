import { answerSync } from "#crypto";
import type { Key, Scheme, Verified, Verifier } from "posthorn";
import type { PlainRequest, Seed } from "./seeds.js";

/** What the senders of the vectors really signed. Nothing else may ever be accepted, however it was put together. */
export interface Genuine {
  /** Key and content of each signature that holds. */
  readonly signed: ReadonlySet<string>;
  readonly stamps: ReadonlySet<string>;
}

export function collectGenuine(seeds: readonly Seed[]): Genuine {
  const keys = seeds.flatMap(({ verifier }) =>
    typeof verifier.keys === "function" ? [] : verifier.keys.keys,
  );
  const signed = new Set<string>();
  const distinct = new Map(keys.map((key) => [`${key.algorithm} ${hex(key)}`, key]));
  for (const { verifier, request } of seeds) {
    // Some vectors are signed over the URL alone and refused for their body; without it, they are genuine.
    const bodiless = { ...request, body: new Uint8Array() };
    for (const { content, question } of [...claimsOf(verifier, request), ...claimsOf(verifier, bodiless)]) {
      for (const key of distinct.values()) {
        if (key.algorithm === question.algorithm && answerSync({ ...question, key }) >= 0)
          signed.add(`${hex(key)} ${content}`);
      }
    }
  }
  return { signed, stamps: new Set(seeds.map(({ verified }) => printStamp(verified?.stamp))) };
}

/** Why an accepted request should not have been; undefined when all that was signed is genuine. */
export function objectionTo(verified: Verified, request: PlainRequest, genuine: Genuine): string | undefined {
  const { verifier, match, stamp } = verified;
  const held = claimsOf(verifier, request).filter(({ content }) =>
    genuine.signed.has(`${hex(match.key)} ${content}`),
  );
  if (held.length === 0) return "accepted, though nobody signed this with that key";
  if (stamp !== undefined && !genuine.stamps.has(printStamp(stamp)))
    return "accepted with a stamp that nobody signed";
  return undefined;
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

function hex(key: Key): string {
  return Buffer.from(key.material()).toString("hex");
}

function latin1(part: string | Uint8Array): string {
  return Buffer.from(part).toString("latin1");
}

function printStamp(stamp: Verified["stamp"]): string {
  return stamp === undefined
    ? ""
    : JSON.stringify(stamp, (_, each: unknown) => (typeof each === "bigint" ? `${each}n` : each));
}

import type { OptionNames } from "../../known-options.js";
import type { PlaceOption } from "../../place.js";
import { PosthornError } from "../../posthorn-error.js";
import { identityAt, sayPlaces } from "../event-places.js";
import type { EventPlaces } from "../event-places.js";
import { contentDigest } from "../headers/content-digest.js";
import { malformedHeader, needHeader } from "../headers/headers.js";
import { parseByteDictionary, parseSignatureInputs } from "../headers/structured-fields.js";
import type { SignatureInput } from "../headers/structured-fields.js";
import { checkEventPlaces } from "../hmac-options.js";
import type { Algorithm } from "../keys/key.js";
import { parsePublicKey } from "../keys/public-key.js";
import type { RsaAlgorithm } from "../keys/public-key.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { DescribedScheme, Reading, SignedRequest, Verifier } from "../scheme.js";
import { signatureBase } from "../signature-base.js";
import type { SignatureErrorCode } from "../signature-errors.js";
import type { VerifierOptions } from "../verifier.js";

/** How a sender uses HTTP message signatures, beyond the common options. */
export interface HttpSignatureOptions extends VerifierOptions {
  /** The receiver's own URL, as the sender has it: an origin, or a whole URL without its query. Nothing in a request can say it. */
  readonly publicUrl: string;
  /** The label of the signature that counts. @default the first that covers what must be covered */
  readonly label?: string;
  /** What must be covered besides the body's digest and the URL, such as `["@method", "x-event-id"]`. */
  readonly mustCover?: readonly string[];
  /** How RSA keys sign; Ed25519 and P-256 know one way each. @default "rsapss_sha512" */
  readonly rsa?: RsaAlgorithm;
  /** @default { json: "/id" } */
  readonly id?: PlaceOption;
  /** @default { json: "/type" } */
  readonly type?: PlaceOption;
  /** @default { json: "/time" }, ISO 8601 */
  readonly time?: PlaceOption & { readonly unit?: "iso" | "s" | "ms" };
}

const OWN: OptionNames<Omit<HttpSignatureOptions, keyof VerifierOptions>> = {
  label: true,
  mustCover: true,
  rsa: true,
  id: true,
  type: true,
  time: true,
};

const ALGORITHMS: ReadonlyMap<string, Algorithm> = new Map<string, Algorithm>([
  ["ed25519", "ed25519"],
  ["ecdsa-p256-sha256", "ecdsa_p256_sha256"],
  ["rsa-pss-sha512", "rsapss_sha512"],
  ["rsa-v1_5-sha256", "rsa_sha256"],
]);

/** The options, checked. */
interface Plan {
  readonly label: string | undefined;
  readonly mustCover: readonly string[];
  readonly places: EventPlaces;
}

const DEFAULT_PLAN: Plan = {
  label: undefined,
  mustCover: [],
  places: {
    id: { pointer: ["id"] },
    type: { pointer: ["type"] },
    time: { pointer: ["time"], unit: "iso" },
  },
};

/**
 * HTTP Message Signatures (RFC 9421) over a `Content-Digest` (RFC 9530), by public keys: the sender may keep its key in a
 * KMS, which signs a text of a few lines whatever the body's size. The digest and the URL must be covered: all receivers
 * share one public key, so without the URL one of them could pass a request on to another as if it were the sender. For the
 * same reason a verifier needs `publicUrl`: whoever passes a request on leaves its `host` as the sender wrote it.
 */
export const HTTP_SIGNATURE: DescribedScheme = /* @__PURE__ */ schemeFor(DEFAULT_PLAN);

/**
 * Verifies HTTP message signatures by Ed25519, ECDSA on P-256 or RSA. `secrets` takes public keys in PEM.
 *
 * @example
 * const verifier = httpSignature({ secrets: publicKeyInPem, publicUrl: "https://example.com" });
 */
export function httpSignature(options: HttpSignatureOptions): Verifier {
  const { rsa = "rsapss_sha512" } = options;
  needPublicUrl(options.publicUrl);
  const scheme = schemeFor(planOf(options));
  return createProviderVerifier(scheme, options, (secret, name) => parsePublicKey(secret, name, rsa), OWN);
}

/** Callers without types leave it out, and so does an environment variable that is not set. */
function needPublicUrl(publicUrl: string | undefined): void {
  if (publicUrl !== undefined && publicUrl !== "") return;
  throw new PosthornError<SignatureErrorCode>(
    "option_invalid",
    `publicUrl is ${publicUrl === undefined ? "not given" : "empty"}; expected the receiver's own URL such as "https://example.com". ` +
      "The sender's public key is the same for all of its receivers, and the URL of a request is what its sender writes: without " +
      "your own, a request that was signed for another receiver would be accepted here.",
    { detail: { option: "publicUrl" } },
  );
}

function planOf(options: HttpSignatureOptions): Plan {
  const { label, mustCover = [], id = { json: "/id" }, type = { json: "/type" } } = options;
  const places = checkEventPlaces({ id, type, time: options.time ?? { json: "/time" } });
  // What names the event must be what was signed.
  const named = [places.id, places.type].flatMap((place) =>
    place && "header" in place ? [place.header] : [],
  );
  return { label, mustCover: [...mustCover, ...named], places };
}

function schemeFor(plan: Plan): DescribedScheme {
  return {
    name: "http_signature",
    title: "HTTP Message Signatures (RFC 9421)",
    secret: "the sender's public key in PEM: Ed25519, ECDSA on P-256, or RSA",
    evidence: {
      kind: "published_example",
      where: "RFC 9421, appendix B.2.3; http-message-signatures 1.0.6 agrees",
    },
    covers: { body: true, url: true, time: true },
    headers: ["signature", "signature-input", "content-digest", ...plan.mustCover.filter(isHeader)],
    listHeaders: ["signature", "signature-input", "content-digest"],
    identity: sayPlaces(plan.places),
    toleranceS: 300,
    retryHorizonS: 272_100,
    batch: false,
    replies: { success: { status: 204 } },
    read: (request, verifier) => read(plan, request, verifier),
    identify: ({ request }) => [identityAt(plan.places, request)],
  };
}

function isHeader(component: string): boolean {
  return !component.startsWith("@");
}

function read(plan: Plan, request: SignedRequest, verifier: Verifier): Reading {
  const { headers, body } = request;
  const inputs = parseSignatureInputs(needHeader(headers, "signature-input"));
  if (inputs === undefined) throw malformedHeader("signature-input", "it is no list by RFC 9421");
  const signatures = parseByteDictionary(needHeader(headers, "signature"));
  if (signatures === undefined) throw malformedHeader("signature", "it must be such as sig1=:…:, in base64");
  const [label, input] = choose(plan, inputs);
  const signature = signatures.get(label);
  if (signature === undefined) throw malformedHeader("signature", `it has no entry "${label}"`);
  const { created, algorithms, keyId } = parametersOf(input, verifier);
  const content = [signatureBase(input, request, verifier)];
  return {
    claims: algorithms.map((algorithm) => ({ algorithm, content, signatures: [signature] })),
    signedAtS: created,
    also: contentDigest(headers, body),
    ...(keyId === undefined ? {} : { hint: { name: keyId } }),
  };
}

/** One signature counts: a proxy may have added one of its own, over something else. */
function choose(plan: Plan, inputs: ReadonlyMap<string, SignatureInput>): [string, SignatureInput] {
  const missing = new Set<string>();
  for (const [label, input] of inputs) {
    if (plan.label !== undefined && plan.label !== label) continue;
    const absent = uncovered(plan, input);
    if (absent.length === 0) return [label, input];
    for (const component of absent) missing.add(component);
  }
  if (missing.size === 0) throw unsupported(`no signature has the label "${plan.label}"`);
  throw unsupported(`no signature covers all that it must; missing: ${[...missing].join(", ")}`);
}

function uncovered({ mustCover }: Plan, { components }: SignatureInput): readonly string[] {
  const covered = new Set(components.map(({ name, parameters }) => name + parameters));
  const url = covered.has("@target-uri") ? [] : ["@authority", "@path"];
  return ["content-digest", ...url, ...mustCover].filter((component) => !covered.has(component));
}

interface Parameters {
  readonly created: number;
  readonly algorithms: readonly Algorithm[];
  readonly keyId: string | undefined;
}

function parametersOf({ parameters }: SignatureInput, { clock }: Verifier): Parameters {
  const created = parameters.get("created");
  if (typeof created !== "number" || created <= 0) throw badTime("created", created);
  const expires = parameters.get("expires");
  if (expires !== undefined && typeof expires !== "number") throw badTime("expires", expires);
  if (expires !== undefined && expires * 1000 <= clock.now()) {
    throw new PosthornError<SignatureErrorCode>(
      "timestamp_out_of_range",
      "The signature says that it has expired. Check both clocks.",
      { detail: { expires } },
    );
  }
  const alg = parameters.get("alg");
  const named = typeof alg === "string" ? ALGORITHMS.get(alg) : undefined;
  if (alg !== undefined && named === undefined)
    throw unsupported(`its algorithm is "${String(alg).slice(0, 40)}"`);
  const keyId = parameters.get("keyid");
  return {
    created,
    // Without a name the key decides, and with one the key still does: a name only narrows.
    algorithms: named === undefined ? [...ALGORITHMS.values()] : [named],
    keyId: typeof keyId === "string" ? keyId : undefined,
  };
}

function badTime(parameter: string, found: unknown): PosthornError<SignatureErrorCode> {
  return new PosthornError(
    "timestamp_malformed",
    `The parameter "${parameter}" of the signature must be a whole number of unix seconds.`,
    { detail: { parameter, found: String(found).slice(0, 32) } },
  );
}

function unsupported(why: string): PosthornError<SignatureErrorCode> {
  return new PosthornError("signature_unsupported", `The request's signatures cannot be used: ${why}.`);
}

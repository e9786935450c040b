import { jsonObject, textField } from "../../json.js";
import type { OptionNames } from "../../known-options.js";
import { PosthornError } from "../../posthorn-error.js";
import { keyFromCertificate } from "../keys/certificate.js";
import { crc32 } from "../encoding/crc32.js";
import { textTime } from "../event-time.js";
import { malformedHeader, needHeader } from "../headers/headers.js";
import type {
  DescribedScheme,
  EventIdentity,
  Reading,
  SignedRequest,
  Verified,
  Verifier,
} from "../scheme.js";
import type { SignatureErrorCode } from "../signature-errors.js";
import { readSignature } from "../headers/signature-header.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { VerifierOptions } from "../verifier.js";

/** What PayPal needs: the webhook's id, and its certificate as a value or by a function. */
export interface PaypalOptions extends Omit<VerifierOptions, "secrets"> {
  /** The id of the webhook in PayPal's dashboard: it is part of what is signed. */
  readonly webhookId: string;
  /** PayPal's certificate in PEM, or several while it changes. Instead of `keys`. */
  readonly certificate?: string | readonly string[];
}

const HEADERS = {
  id: "paypal-transmission-id",
  time: "paypal-transmission-time",
  signature: "paypal-transmission-sig",
  certificate: "paypal-cert-url",
  algorithm: "paypal-auth-algo",
} as const;

/** The one algorithm that PayPal's certificates are used with. */
const ALGORITHM = "SHA256withRSA";

const OWN: OptionNames<Omit<PaypalOptions, keyof VerifierOptions>> = { webhookId: true, certificate: true };

/**
 * PayPal. What is signed of the body is its CRC-32, which anybody can keep while writing another body: a
 * captured request can be made into a forged one. So the body does not count as covered; before
 * money moves, ask PayPal's API for the resource.
 */
export const PAYPAL: DescribedScheme = schemeFor(undefined);

/**
 * Verifies PayPal. The certificate is handed in, or brought by a function that is given its address, after
 * the address was held to PayPal's own host and path. Keep what was brought: PayPal changes its certificate rarely, and
 * every request would wait for a download otherwise. A certificate that has ended is refused, kept or not.
 *
 * @example
 * const certificates = new Map<string, KeySet>();
 * const verifier = paypal({
 *   webhookId: "8PT597110X687430LKGECATA",
 *   keys: async ({ name = "" }) => {
 *     const known = certificates.get(name);
 *     if (known !== undefined) return known;
 *     const response = await fetch(name, { redirect: "error", signal: AbortSignal.timeout(5000) });
 *     if (!response.ok) throw new Error(`PayPal answered ${response.status} for its certificate`);
 *     const keys = keySetFromCertificate(await response.text(), name);
 *     certificates.set(name, keys);
 *     return keys;
 *   },
 * });
 */
export function paypal(options: PaypalOptions): Verifier {
  const scheme = schemeFor(checkedWebhookId(options.webhookId));
  const secrets = options.keys === undefined ? certificatesOf(options.certificate) : [];
  return createProviderVerifier(scheme, { ...options, secrets }, keyFromCertificate, OWN);
}

function schemeFor(webhookId: string | undefined): DescribedScheme {
  return {
    name: "paypal",
    title: "PayPal",
    secret: "PayPal's certificate in PEM",
    evidence: {
      kind: "published_example",
      where:
        "paypal/PayPal-Java-SDK: ValidateCertTest's recorded request passes here, our vector passes its SSLUtil",
    },
    covers: { body: false, url: false, time: true, id: false },
    headers: Object.values(HEADERS),
    identity: { id: "body `id`", type: "body `event_type`", time: "body `create_time`" },
    // PayPal names none, and does not say whether a later attempt gets a new time.
    toleranceS: undefined,
    // 25 attempts in three days.
    retryHorizonS: 259_200,
    batch: false,
    replies: { success: { status: 200 } },
    read: (request) => read(request, webhookId),
    identify,
  };
}

function checkedWebhookId(webhookId: unknown): string {
  // A pipe would let the parts of the signed text trade places.
  if (typeof webhookId === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(webhookId)) return webhookId;
  throw new PosthornError<SignatureErrorCode>(
    "option_invalid",
    "webhookId must be the id of the webhook as PayPal's dashboard shows it, such as 8PT597110X687430LKGECATA.",
  );
}

function certificatesOf(certificate: PaypalOptions["certificate"]): { name: string; secret: string }[] {
  const list = typeof certificate === "string" ? [certificate] : (certificate ?? []);
  if (list.length === 0) {
    throw new PosthornError<SignatureErrorCode>(
      "secret_missing",
      "Neither `certificate` nor `keys` is given. Expected PayPal's certificate in PEM, or a function that brings it.",
    );
  }
  return list.map((secret, index) => ({ name: `certificate ${index + 1}`, secret }));
}

function read({ headers, body }: SignedRequest, webhookId: string | undefined): Reading {
  const algorithm = needHeader(headers, HEADERS.algorithm);
  if (algorithm !== ALGORITHM) throw unsupported(algorithm);
  const id = visible(needHeader(headers, HEADERS.id), HEADERS.id);
  const time = needHeader(headers, HEADERS.time);
  const signature = readSignature(headers, { header: HEADERS.signature, encoding: "base64" });
  return {
    claims: [
      {
        algorithm: "rsa_sha256",
        content: [`${id}|${time}|${checkedWebhookId(webhookId)}|${crc32(body)}`],
        signatures: [signature],
      },
    ],
    signedAtS: secondsOf(time),
    hint: { name: certificateUrl(needHeader(headers, HEADERS.certificate)) },
  };
}

// Host and path, without port, user or query, judged on the text itself: parsers differ in what they make of a backslash
// or a tab, and whoever brings the certificate may use another parser. Any other page of PayPal's could hold a key that a
// stranger put there.
const CERTIFICATE_URL =
  /^https:\/\/api(?:-m)?\.(?:sandbox\.)?paypal\.com\/v1\/notifications\/certs\/[A-Za-z0-9_-]{1,128}$/;

function certificateUrl(url: string): string {
  if (CERTIFICATE_URL.test(url)) return url;
  throw malformedHeader(
    HEADERS.certificate,
    "it must be https://api.paypal.com/v1/notifications/certs/…, " +
      "on the host api or api-m of paypal.com or sandbox.paypal.com",
  );
}

function visible(id: string, header: string): string {
  if (/^[\x21-\x7b\x7d\x7e]{1,255}$/.test(id)) return id;
  throw malformedHeader(header, "it must be visible ASCII without a pipe");
}

function secondsOf(time: string): number {
  const date = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/.test(time) ? textTime(time) : undefined;
  if (date !== undefined) return Math.floor(date.getTime() / 1000);
  throw new PosthornError<SignatureErrorCode>(
    "timestamp_malformed",
    `The header "${HEADERS.time}" must be a time such as 2026-01-31T12:00:00Z.`,
    { detail: { header: HEADERS.time, found: time.slice(0, 32) } },
  );
}

function identify({ request }: Verified): readonly EventIdentity[] {
  const json = jsonObject(request.body);
  return [
    {
      id: textField(json, "id"),
      type: textField(json, "event_type"),
      time: textTime(textField(json, "create_time")),
    },
  ];
}

function unsupported(algorithm: string): PosthornError<SignatureErrorCode> {
  return new PosthornError(
    "signature_unsupported",
    `The header "${HEADERS.algorithm}" names another algorithm than ${ALGORITHM}, the only one that is accepted.`,
    { detail: { found: algorithm.slice(0, 32) } },
  );
}

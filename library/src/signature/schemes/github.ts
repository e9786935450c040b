import { formField, parseForm } from "../../form.js";
import { jsonObject, textField } from "../../json.js";
import type { JsonObject } from "../../json.js";
import { utf8 } from "../../bytes.js";
import { findHeader } from "../headers/headers.js";
import type {
  DescribedScheme,
  EventIdentity,
  Reading,
  Reply,
  SignedRequest,
  Verified,
  Verifier,
} from "../scheme.js";
import { textKey } from "../keys/secret.js";
import { readSignature } from "../headers/signature-header.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { VerifierOptions } from "../verifier.js";

const SIGNATURE_HEADER = "x-hub-signature-256";
const ID_HEADER = "x-github-delivery";
const TYPE_HEADER = "x-github-event";

/**
 * GitHub, and whatever else signs by `X-Hub-Signature-256`. Only the body is signed: id and type stand in
 * headers that nobody signs, so a captured request can be sent again under another id.
 */
export const GITHUB: DescribedScheme = {
  name: "github",
  title: "GitHub",
  secret: "the secret that you gave the webhook",
  evidence: {
    kind: "published_example",
    where: "docs.github.com, Validating webhook deliveries; @octokit/webhooks-methods 6.0.0 agrees",
  },
  covers: { body: true, url: false, time: false, id: false },
  headers: [SIGNATURE_HEADER, ID_HEADER, TYPE_HEADER],
  identity: {
    id: "header `X-GitHub-Delivery`",
    type: "header `X-GitHub-Event`, then `.` and the body's `action` if there is one",
    time: undefined,
  },
  toleranceS: undefined,
  // GitHub never tries again by itself; a redelivery asked for by a person or the API keeps the id.
  retryHorizonS: 0,
  // GitHub drops an event with a larger payload, and never repeats one that was refused.
  maxBodyBytes: 25 * 1024 * 1024,
  batch: false,
  replies: { success: { status: 200 } },
  read,
  identify,
  handshake,
};

/**
 * Verifies GitHub. An event's type is that of Octokit: `push`, `pull_request.opened`.
 *
 * @example
 * const verifier = github({ secrets: "the secret that you gave the webhook" });
 */
export function github(options: VerifierOptions): Verifier {
  return createProviderVerifier(GITHUB, options, textKey("hmac_sha256"));
}

function read({ headers, body }: SignedRequest): Reading {
  const form = { header: SIGNATURE_HEADER, encoding: "hex", prefix: "sha256=" } as const;
  const signatures = [readSignature(headers, form)];
  return { claims: [{ algorithm: "hmac_sha256", content: [body], signatures }] };
}

function identify({ request }: Verified): readonly EventIdentity[] {
  const id = findHeader(request.headers, ID_HEADER);
  const event = findHeader(request.headers, TYPE_HEADER);
  const action = textField(payload(request.body), "action");
  return [{ id, type: event === undefined || action === undefined ? event : `${event}.${action}` }];
}

/** A ping is sent when a webhook is made, and is about nothing but the webhook itself. */
function handshake({ request }: Verified): Reply | undefined {
  const isPing = findHeader(request.headers, TYPE_HEADER) === "ping";
  // Both, because the header is not signed: a real event must not be made to vanish by renaming it.
  return isPing && textField(payload(request.body), "zen") !== undefined ? { status: 200 } : undefined;
}

/** The payload, sent as JSON or as the field of a form. The body itself tells which: the content type is not signed. */
function payload(body: Uint8Array): JsonObject | undefined {
  const json = jsonObject(body);
  if (json !== undefined) return json;
  const text = formField(parseForm(body), "payload");
  return text === undefined ? undefined : jsonObject(utf8(text));
}

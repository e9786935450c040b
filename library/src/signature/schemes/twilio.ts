import { decodeHex, utf8 } from "../../bytes.js";
import { formField, parseForm } from "../../form.js";
import type { Form } from "../../form.js";
import { elements, jsonObject, textField } from "../../json.js";
import { PosthornError } from "../../posthorn-error.js";
import { textTime } from "../event-time.js";
import { findHeader } from "../headers/headers.js";
import { Key } from "../keys/key.js";
import type {
  DescribedScheme,
  EventIdentity,
  Reading,
  SignedRequest,
  Verified,
  Verifier,
} from "../scheme.js";
import { textKey } from "../keys/secret.js";
import type { SignatureErrorCode } from "../signature-errors.js";
import { readSignature } from "../headers/signature-header.js";
import { signedUrl } from "../signed-url.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { VerifierOptions } from "../verifier.js";

const BODY_HASH = new Key("sha256", "hash of the body", new Uint8Array());

const SIGNATURE_HEADER = "x-twilio-signature";
const ID_HEADER = "i-twilio-idempotency-token";

/**
 * Twilio: form-encoded webhooks, and JSON ones, whose URL carries the SHA-256 of the body. The signed
 * text joins names and values without a mark between them, as Twilio made it: `a=bc` and `ab=c` share
 * one signature. Event Streams send arrays of CloudEvents.
 */
export const TWILIO: DescribedScheme = {
  name: "twilio",
  title: "Twilio",
  secret: "the account's auth token",
  evidence: {
    kind: "published_example",
    where: "twilio.com/docs, Webhooks security; twilio 6.2.0 agrees",
  },
  covers: { body: true, url: true, time: false, id: false },
  headers: [SIGNATURE_HEADER, ID_HEADER],
  identity: {
    id: "header `I-Twilio-Idempotency-Token`; a CloudEvent's `id`; else none, and the hash of the parameters tells calls apart",
    type: "`EventType`, or `message.`, `call.`, `recording.` and the status; a CloudEvent's `type`",
    time: "`Timestamp`; a CloudEvent's `time`",
  },
  toleranceS: undefined,
  // Event Streams go on for four hours; a webhook has 15 seconds for all of its attempts.
  retryHorizonS: 14_400,
  batch: true,
  // An empty TwiML document: a message or a call takes the reply for instructions.
  replies: { success: { status: 200, headers: { "content-type": "text/xml" }, body: "<Response/>" } },
  read,
  identify,
};

/**
 * Verifies Twilio, with the account's auth token. Behind a proxy, set `publicUrl`.
 *
 * @example
 * const verifier = twilio({ secrets: "the auth token", publicUrl: "https://example.com" });
 */
export function twilio(options: VerifierOptions): Verifier {
  return createProviderVerifier(TWILIO, options, textKey("hmac_sha1"));
}

function read(request: SignedRequest, verifier: Verifier): Reading {
  const signatures = [readSignature(request.headers, { header: SIGNATURE_HEADER, encoding: "base64" })];
  const url = signedUrl(request, verifier);
  const named = bodyHash(url);
  const parameters = named === undefined ? signedParameters(request.body) : "";
  const claims = portVariants(url).map((variant) => {
    return { algorithm: "hmac_sha1", content: [variant + parameters], signatures } as const;
  });
  if (named === undefined) return { claims };
  return { claims, also: { key: BODY_HASH, content: [request.body], signatures: [named] } };
}

/** The hash of the body that the URL names; empty, and so equal to no hash, when it cannot be read. */
function bodyHash(url: string): Uint8Array | undefined {
  const text = new URLSearchParams(queryOf(url)).get("bodySHA256");
  return text === null ? undefined : (decodeHex(text) ?? new Uint8Array());
}

/**
 * The form as Twilio signs it: names in order, each with its different values in order. A body that is
 * no form is refused, since otherwise it would pass unsigned.
 */
function signedParameters(body: Uint8Array): string {
  const form = parseForm(body);
  if (form === undefined) {
    throw new PosthornError<SignatureErrorCode>(
      "body_malformed",
      "The body is not a form, and the URL names no `bodySHA256`, which Twilio adds for every other body.",
    );
  }
  const values = new Map<string, Set<string>>();
  for (const [name, value] of form) values.set(name, (values.get(name) ?? new Set()).add(value));
  const names = [...values.keys()].toSorted();
  return names
    .flatMap((name) => [...(values.get(name) ?? [])].toSorted().map((value) => name + value))
    .join("");
}

/**
 * The URL without its port, and with one: Twilio has signed both over the years, and proxies add or drop
 * the default one. Nothing else of the text is touched.
 */
function portVariants(url: string): readonly string[] {
  const match = /^(https?):\/\/(?:[^/?#]*@)?(?:\[[^\]/?#]*\]|[^:/?#@[]*)/i.exec(url);
  if (match === null) return [url];
  const [start, scheme = ""] = match;
  const rest = url.slice(start.length);
  const port = /^:\d{0,5}/.exec(rest)?.[0] ?? "";
  if (port !== "") return [start + rest.slice(port.length), url];
  return [url, `${start}:${scheme.toLowerCase() === "https" ? "443" : "80"}${rest}`];
}

function identify({ request, verifier }: Verified): readonly EventIdentity[] {
  const id = findHeader(request.headers, ID_HEADER);
  const cloudEvents = elements(request.body);
  if (cloudEvents !== undefined) return cloudEvents.map((body) => cloudEvent(body));
  if (jsonObject(request.body) !== undefined) return [cloudEvent(request.body, id)];
  // A call by GET has its parameters in the signed URL. Without them, the empty body would name every such call alike.
  const body = request.body.length > 0 ? request.body : utf8(queryOf(signedUrl(request, verifier)));
  const form = parseForm(body);
  return [{ id, type: formType(form), time: textTime(formField(form, "Timestamp")), body }];
}

function queryOf(url: string): string {
  const mark = url.indexOf("?");
  return mark < 0 ? "" : url.slice(mark + 1);
}

function cloudEvent(body: Uint8Array, fallbackId?: string): EventIdentity {
  const json = jsonObject(body);
  return {
    id: textField(json, "id") ?? fallbackId,
    type: textField(json, "type"),
    time: textTime(textField(json, "time")),
    body,
  };
}

/** The fields of a form that say what it is about and how that fares. */
export interface Subject {
  readonly sid: string;
  readonly status: readonly [string, ...string[]];
  readonly name: string;
}

// Forms name no type; the sid tells what it is about, and the status what happened. A recording also has
// the sid of its call, so the order matters.
export const SUBJECTS: readonly Subject[] = [
  { sid: "RecordingSid", status: ["RecordingStatus"], name: "recording" },
  { sid: "MessageSid", status: ["MessageStatus", "SmsStatus"], name: "message" },
  { sid: "CallSid", status: ["CallStatus"], name: "call" },
];

function formType(form: Form | undefined): string | undefined {
  const named = formField(form, "EventType");
  if (named !== undefined) return named;
  const subject = SUBJECTS.find(({ sid }) => formField(form, sid) !== undefined);
  if (subject === undefined) return undefined;
  const status = subject.status.map((name) => formField(form, name)).find((value) => value !== undefined);
  return status === undefined ? subject.name : `${subject.name}.${status}`;
}

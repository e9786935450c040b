import { utf8 } from "../../bytes.js";
import { formField, parseForm } from "../../form.js";
import { field, jsonObject, objectField, textField } from "../../json.js";
import { unixTime } from "../event-time.js";
import { needHeader } from "../headers/headers.js";
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
import { parseTimestamp } from "../headers/timestamp.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { VerifierOptions } from "../verifier.js";

const SIGNATURE_HEADER = "x-slack-signature";
const TIME_HEADER = "x-slack-request-timestamp";

/** Slack: the Events API, and the form-encoded slash commands and interactions of the same app. */
export const SLACK: DescribedScheme = {
  name: "slack",
  title: "Slack",
  secret: "the app's signing secret",
  evidence: {
    kind: "published_example",
    where: "docs.slack.dev, Verifying requests from Slack; @slack/bolt 5.1.0 agrees",
  },
  covers: { body: true, url: false, time: true },
  headers: [SIGNATURE_HEADER, TIME_HEADER],
  identity: {
    id: "body `event_id`; none for commands and interactions, which Slack never repeats",
    type: "body `event.type`; `slash_command`; an interaction's `type`",
    time: "body `event_time`",
  },
  toleranceS: 300,
  // At once, after 1 minute and after 5; with the app's setting "Delayed Events", every hour for a day.
  retryHorizonS: 86_760,
  batch: false,
  replies: {
    success: { status: 200 },
    stopEvent: { status: 400, headers: { "x-slack-no-retry": "1" } },
  },
  read,
  identify,
  handshake,
};

/**
 * Verifies Slack, with the app's signing secret.
 *
 * @example
 * const verifier = slack({ secrets: "8f742231b10e8888abcd99yyyzzz85a5" });
 */
export function slack(options: VerifierOptions): Verifier {
  return createProviderVerifier(SLACK, options, textKey("hmac_sha256"));
}

function read({ headers, body }: SignedRequest): Reading {
  const timestamp = needHeader(headers, TIME_HEADER);
  const signatures = [readSignature(headers, { header: SIGNATURE_HEADER, encoding: "hex", prefix: "v0=" })];
  return {
    claims: [{ algorithm: "hmac_sha256", content: [`v0:${timestamp}:`, body], signatures }],
    signedAtS: parseTimestamp(timestamp, TIME_HEADER),
  };
}

function identify({ request }: Verified): readonly EventIdentity[] {
  const json = jsonObject(request.body);
  if (json === undefined) return [{ type: formType(request.body) }];
  return [
    {
      id: textField(json, "event_id"),
      // The envelope's own type is "event_callback" for every event, and speaks for itself otherwise.
      type: textField(objectField(json, "event"), "type") ?? textField(json, "type"),
      time: unixTime(field(json, "event_time")),
    },
  ];
}

function formType(body: Uint8Array): string | undefined {
  const form = parseForm(body);
  const interaction = formField(form, "payload");
  if (interaction !== undefined) return textField(jsonObject(utf8(interaction)), "type");
  return formField(form, "command") === undefined ? undefined : "slash_command";
}

/**
 * Echoes the challenge with which Slack asks whether an address is ours. Only after verification, as
 * plain text, and only what a challenge looks like: otherwise this would print a stranger's page.
 */
function handshake({ request }: Verified): Reply | undefined {
  const json = jsonObject(request.body);
  if (textField(json, "type") !== "url_verification") return undefined;
  const challenge = textField(json, "challenge");
  if (challenge === undefined || !/^[\x21-\x7e]{1,256}$/.test(challenge)) return { status: 400 };
  return {
    status: 200,
    headers: { "content-type": "text/plain", "x-content-type-options": "nosniff" },
    body: challenge,
  };
}

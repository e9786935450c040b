import { decodeHex } from "../../bytes.js";
import { field, jsonObject, objectField, textField } from "../../json.js";
import type { JsonObject } from "../../json.js";
import { textTime } from "../event-time.js";
import { needHeader } from "../headers/headers.js";
import { Key } from "../keys/key.js";
import { malformedSecret } from "../keys/secret.js";
import type {
  DescribedScheme,
  EventIdentity,
  Reading,
  Reply,
  SignedRequest,
  Verified,
  Verifier,
} from "../scheme.js";
import { readSignature } from "../headers/signature-header.js";
import { parseTimestamp, refuseLeadingDigit } from "../headers/timestamp.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { VerifierOptions } from "../verifier.js";

const SIGNATURE_HEADER = "x-signature-ed25519";
const TIME_HEADER = "x-signature-timestamp";
const JSON_TYPE = { "content-type": "application/json" };

/** What an interaction's number means, by Discord's reference. */
export const INTERACTIONS: Readonly<Record<number, string>> = {
  2: "APPLICATION_COMMAND",
  3: "MESSAGE_COMPONENT",
  4: "APPLICATION_COMMAND_AUTOCOMPLETE",
  5: "MODAL_SUBMIT",
};

/** Discord: webhook events, and the interactions of the same application, which expect another reply. */
export const DISCORD: DescribedScheme = {
  name: "discord",
  title: "Discord",
  secret: "the application's public key, 64 hexadecimal characters of its General Information page",
  evidence: { kind: "official_library", name: "discord-interactions", version: "4.4.0" },
  covers: { body: true, url: false, time: true },
  headers: [SIGNATURE_HEADER, TIME_HEADER],
  identity: {
    id: "an interaction's `id`; none for webhook events, which the body's hash tells apart",
    type: "body `event.type`; the name of an interaction's `type`",
    time: "body `event.timestamp`",
  },
  // Discord names none.
  toleranceS: undefined,
  // Several more attempts within 10 minutes.
  retryHorizonS: 600,
  batch: false,
  // What webhook events expect; interactions expect another one.
  replies: { success: { status: 204, headers: JSON_TYPE } },
  successFor,
  read,
  identify,
  handshake,
};

/**
 * Verifies Discord. `secrets` takes the application's public key, in hexadecimal.
 *
 * @example
 * const verifier = discord({ secrets: "3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29" });
 */
export function discord(options: VerifierOptions): Verifier {
  return createProviderVerifier(DISCORD, options, parsePublicKey);
}

function parsePublicKey(secret: string, name: string): Key {
  const bytes = decodeHex(secret);
  if (bytes?.length === 32) return new Key("ed25519", name, bytes);
  const found = bytes === undefined ? "is not hexadecimal" : `has ${bytes.length} bytes`;
  const cure = 'Expected the 64 characters of "Public Key" on the application\'s General Information page.';
  throw malformedSecret(name, found, cure);
}

function read({ headers, body }: SignedRequest): Reading {
  const timestamp = needHeader(headers, TIME_HEADER);
  const signatures = [readSignature(headers, { header: SIGNATURE_HEADER, encoding: "hex" })];
  refuseLeadingDigit(body);
  return {
    claims: [{ algorithm: "ed25519", content: [timestamp, body], signatures }],
    signedAtS: parseTimestamp(timestamp, TIME_HEADER),
  };
}

function identify({ request }: Verified): readonly EventIdentity[] {
  const json = jsonObject(request.body);
  const event = objectField(json, "event");
  if (event !== undefined) {
    return [{ type: textField(event, "type"), time: textTime(textField(event, "timestamp")) }];
  }
  return [{ id: textField(json, "id"), type: interactionType(json) }];
}

function interactionType(json: JsonObject | undefined): string | undefined {
  const type = field(json, "type");
  return typeof type === "number" && Object.hasOwn(INTERACTIONS, type) ? INTERACTIONS[type] : undefined;
}

/**
 * The reply to an interaction whose answer goes to Discord's callback address, which is where a handler sends it: within
 * three seconds, or Discord tells its user that the application did not respond.
 */
function successFor({ request }: Verified): Reply | undefined {
  const json = jsonObject(request.body);
  const isInteraction = objectField(json, "event") === undefined && typeof field(json, "type") === "number";
  return isInteraction ? { status: 202 } : undefined;
}

/** Answers PING, which is 0 among webhook events; among interactions it is 1, which there means an event. */
function handshake({ request }: Verified): Reply | undefined {
  const json = jsonObject(request.body);
  if (objectField(json, "event") !== undefined) return undefined;
  switch (field(json, "type")) {
    case 0:
      return { status: 204, headers: JSON_TYPE };
    case 1:
      return { status: 200, headers: JSON_TYPE, body: '{"type":1}' };
    default:
      return undefined;
  }
}

import { produce } from "#crypto";
import { encodeHex } from "../../bytes.js";
import { field, jsonObject, objectField, textField } from "../../json.js";
import type { Key } from "../keys/key.js";
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

const SIGNATURE_HEADER = "x-zm-signature";
const TIME_HEADER = "x-zm-request-timestamp";

/** Zoom, with the app's secret token. */
export const ZOOM: DescribedScheme = {
  name: "zoom",
  title: "Zoom",
  secret: "the app's secret token",
  evidence: { kind: "official_library", name: "@zoom/rivet", version: "0.4.0" },
  covers: { body: true, url: false, time: true },
  headers: [SIGNATURE_HEADER, TIME_HEADER],
  identity: {
    id: "none: the body's hash tells events apart",
    type: "body `event`",
    time: "body `event_ts`",
  },
  toleranceS: 300,
  // Three more attempts: after 5 minutes, 20 more and 60 more.
  retryHorizonS: 5100,
  batch: false,
  replies: { success: { status: 200 } },
  read,
  identify,
  handshake,
};

/**
 * Verifies Zoom. Its events have no id, and none is made up of their fields: two people who join a
 * meeting in the same millisecond would become one.
 *
 * @example
 * const verifier = zoom({ secrets: process.env.ZOOM_WEBHOOK_SECRET_TOKEN });
 */
export function zoom(options: VerifierOptions): Verifier {
  return createProviderVerifier(ZOOM, options, textKey("hmac_sha256"));
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
  return [{ type: textField(json, "event"), time: unixTime(field(json, "event_ts"), "ms") }];
}

/**
 * Proves to Zoom that we hold the secret, when an address is saved and every 72 hours. Only after
 * verification, and never over a text with a colon: otherwise we would sign `v0:…` for whoever asks.
 */
function handshake({ request, match }: Verified): Reply | Promise<Reply> | undefined {
  const json = jsonObject(request.body);
  if (textField(json, "event") !== "endpoint.url_validation") return undefined;
  const plainToken = textField(objectField(json, "payload"), "plainToken");
  if (plainToken === undefined || !/^[A-Za-z0-9+/=_.~-]{1,128}$/.test(plainToken)) return { status: 400 };
  return answer(plainToken, match.key);
}

async function answer(plainToken: string, key: Key): Promise<Reply> {
  const encryptedToken = encodeHex(await produce(key, [plainToken]));
  return {
    status: 200,
    headers: { "content-type": "application/json", "x-content-type-options": "nosniff" },
    body: JSON.stringify({ plainToken, encryptedToken }),
  };
}

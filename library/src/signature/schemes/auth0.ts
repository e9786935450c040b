import { utf8 } from "../../bytes.js";
import { elements, jsonObject, objectField, textField } from "../../json.js";
import { textTime } from "../event-time.js";
import { needHeader } from "../headers/headers.js";
import { tokenKey } from "../keys/secret.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type {
  DescribedScheme,
  EventIdentity,
  Reading,
  SignedRequest,
  Verified,
  Verifier,
} from "../scheme.js";
import type { VerifierOptions } from "../verifier.js";

const HEADER = "authorization";

/**
 * Auth0's log streams by custom webhook, with the content format "JSON Array" or "JSON Object". It signs nothing: the
 * authorization token is sent as it is, and proves only that the sender knows it.
 */
export const AUTH0: DescribedScheme = {
  name: "auth0",
  title: "Auth0 (log streams)",
  secret: "the authorization token that you gave the stream, as it stands in its form",
  evidence: {
    kind: "published_example",
    where: "auth0.com/docs, Create Custom Log Streams Using Webhooks; nothing is computed",
  },
  covers: { body: false, url: false, time: false, id: false },
  headers: [HEADER],
  identity: {
    id: "`log_id` of each element",
    type: "`data.type` of each element",
    time: "`data.date` of each element",
  },
  toleranceS: undefined,
  // A stream that fails is paused after days; what it kept is sent when it is resumed.
  retryHorizonS: 604_800,
  batch: true,
  replies: { success: { status: 200 } },
  read,
  identify,
};

/**
 * Verifies Auth0's log streams by their authorization token.
 *
 * @example
 * const verifier = auth0({ secrets: process.env.AUTH0_STREAM_TOKEN });
 */
export function auth0(options: VerifierOptions): Verifier {
  return createProviderVerifier(AUTH0, options, tokenKey);
}

function read({ headers }: SignedRequest): Reading {
  const signatures = [utf8(needHeader(headers, HEADER))];
  return { claims: [{ algorithm: "plain_token", content: [], signatures }] };
}

function identify({ request }: Verified): readonly EventIdentity[] {
  return (elements(request.body) ?? [request.body]).map((body) => {
    const entry = jsonObject(body);
    const data = objectField(entry, "data");
    return {
      id: textField(entry, "log_id"),
      type: textField(data, "type"),
      time: textTime(textField(data, "date")),
      body,
    };
  });
}

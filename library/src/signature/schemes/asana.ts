import { elements, jsonObject, members, objectField, textField } from "../../json.js";
import { textTime } from "../event-time.js";
import { readSignature } from "../headers/signature-header.js";
import { textKey } from "../keys/secret.js";
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

const HEADER = "x-hook-signature";

/**
 * Asana: many events in one request, none at all in a heartbeat. The handshake of a new webhook is not signed, because it
 * brings the secret: answer it yourself, and keep what its header `X-Hook-Secret` says.
 */
export const ASANA: DescribedScheme = {
  name: "asana",
  title: "Asana",
  secret: "what the header `X-Hook-Secret` of the webhook's handshake said",
  evidence: {
    kind: "published_example",
    where: "Asana/devrel-examples, javascript/webhooks-nodejs/index.js, run over the vectors",
  },
  covers: { body: true, url: false, time: false },
  headers: [HEADER],
  identity: {
    id: "none: the hash of each element tells events apart",
    type: "`resource.resource_type` and `action` of each element, such as `task.changed`",
    time: "`created_at` of each element",
  },
  toleranceS: undefined,
  // With growing pauses, for a day; then the webhook is deleted.
  retryHorizonS: 86_400,
  batch: true,
  replies: { success: { status: 200 } },
  read,
  identify,
};

/**
 * Verifies Asana.
 *
 * @example
 * const verifier = asana({ secrets: await secretOfTheHandshake() });
 */
export function asana(options: VerifierOptions): Verifier {
  return createProviderVerifier(ASANA, options, textKey("hmac_sha256"));
}

function read({ headers, body }: SignedRequest): Reading {
  const signatures = [readSignature(headers, { header: HEADER, encoding: "hex" })];
  return { claims: [{ algorithm: "hmac_sha256", content: [body], signatures }] };
}

function identify({ request }: Verified): readonly EventIdentity[] {
  // The last of several equal names, as JSON.parse has it.
  const events = members(request.body)?.findLast(({ name }) => name === "events")?.value;
  const list = events === undefined ? undefined : elements(events);
  return (list ?? [request.body]).map((body) => {
    const event = jsonObject(body);
    const action = textField(event, "action");
    const kind = textField(objectField(event, "resource"), "resource_type");
    return {
      type: action === undefined || kind === undefined ? action : `${kind}.${action}`,
      time: textTime(textField(event, "created_at")),
      body,
    };
  });
}

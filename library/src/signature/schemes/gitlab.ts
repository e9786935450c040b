import { utf8 } from "../../bytes.js";
import { jsonObject, textField } from "../../json.js";
import { findHeader, needHeader } from "../headers/headers.js";
import type { Key } from "../keys/key.js";
import { malformedSecret, tokenKey } from "../keys/secret.js";
import type {
  DescribedScheme,
  EventIdentity,
  Reading,
  SignedRequest,
  Verified,
  Verifier,
} from "../scheme.js";
import { createProviderVerifier } from "../provider-verifier.js";
import type { VerifierOptions } from "../verifier.js";

const TOKEN_HEADER = "x-gitlab-token";
const ID_HEADER = "idempotency-key";
const TYPE_HEADER = "x-gitlab-event";

/**
 * GitLab's secret token: sent as it is, so that it proves only that the sender knows it. A webhook with a
 * signing token (`whsec_…`, GitLab 19) is Standard Webhooks and belongs to `standardWebhooks`.
 */
export const GITLAB: DescribedScheme = {
  name: "gitlab",
  title: "GitLab (secret token)",
  secret: "the secret token that you gave the webhook",
  evidence: {
    kind: "published_example",
    where: "gitlabhq/gitlabhq, doc/user/project/integrations/webhooks.md, Secret token; nothing is computed",
  },
  covers: { body: false, url: false, time: false, id: false },
  headers: [TOKEN_HEADER, ID_HEADER, TYPE_HEADER],
  identity: {
    id: "header `Idempotency-Key` (GitLab 17.4 and later)",
    type: "body `object_kind`, or `event_name`, or header `X-Gitlab-Event`",
    time: undefined,
  },
  toleranceS: undefined,
  // A failed request is repeated on request only; after some failures in a row the webhook pauses.
  retryHorizonS: 0,
  // GitLab sends no webhook with a larger payload.
  maxBodyBytes: 25 * 1024 * 1024,
  batch: false,
  replies: { success: { status: 200 } },
  read,
  identify,
};

/**
 * Verifies GitLab by its secret token.
 *
 * @example
 * const verifier = gitlab({ secrets: process.env.GITLAB_WEBHOOK_TOKEN });
 */
export function gitlab(options: VerifierOptions): Verifier {
  return createProviderVerifier(GITLAB, options, parseToken);
}

function parseToken(secret: string, name: string): Key {
  if (secret.startsWith("whsec_")) {
    throw malformedSecret(
      name,
      "is a signing token, not a secret token",
      "Verify with standardWebhooks({ secrets }), which proves the body as well.",
    );
  }
  return tokenKey(secret, name);
}

function read({ headers }: SignedRequest): Reading {
  const token = needHeader(headers, TOKEN_HEADER);
  return { claims: [{ algorithm: "plain_token", content: [], signatures: [utf8(token)] }] };
}

function identify({ request }: Verified): readonly EventIdentity[] {
  const json = jsonObject(request.body);
  return [
    {
      // X-Gitlab-Event-UUID is no id: events that a webhook of ours causes carry their cause's.
      id: findHeader(request.headers, ID_HEADER),
      type:
        textField(json, "object_kind") ??
        textField(json, "event_name") ??
        findHeader(request.headers, TYPE_HEADER),
    },
  ];
}

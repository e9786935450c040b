import { encodeBase64, utf8 } from "../../bytes.js";
import type { KeySet } from "../../signature/keys/key.js";
import { auth0 } from "../../signature/schemes/auth0.js";
import { chargebee, postmark } from "../../signature/schemes/basic-auth.js";
import { figma } from "../../signature/schemes/figma.js";
import type { Verifier } from "../../signature/scheme.js";
import type { VerifierOptions } from "../../signature/verifier.js";
import { unixSeconds, uuidOf } from "./sender.js";
import type { Attempt, PlannedEvent, Sender } from "./sender.js";

// The providers that sign nothing: what stands in the signature's place is the token itself.

function byToken(create: (options: VerifierOptions) => Verifier): Sender["bind"] {
  return ({ secrets, clock }) => {
    const verifier = create({ secrets, clock });
    const { keys } = verifier.keys as KeySet;
    return { verifier, signers: keys.map((key) => () => Promise.resolve(key.material())) };
  };
}

function token({ signatures: [signature = new Uint8Array()] }: Attempt): string {
  return new TextDecoder().decode(signature);
}

function basic(attempt: Attempt): Readonly<Record<string, string>> {
  return { authorization: `Basic ${encodeBase64(utf8(token(attempt)))}` };
}

export const AUTH0_SENDER: Sender = {
  type: "s",
  id: (nonce) => `900${nonce}`,
  bind: byToken(auth0),
  write: (event, attempt) => ({ headers: { authorization: token(attempt) }, body: auth0Batch([event]) }),
  batch: auth0Batch,
};

function auth0Batch(events: readonly PlannedEvent[]): unknown {
  return events.map(({ id, type, time, data }) => ({
    log_id: id,
    data: { date: time.toISOString(), type, description: "Successful login", log_id: id, ...data },
  }));
}

export const CHARGEBEE_SENDER: Sender = {
  type: "subscription_created",
  id: (nonce) => `ev_${nonce.slice(0, 16)}`,
  bind: byToken(chargebee),
  write: ({ id, type, time, data, nonce }, attempt) => ({
    headers: basic(attempt),
    body: {
      id,
      occurred_at: unixSeconds(time),
      event_type: type,
      webhook_status: "scheduled",
      content: { subscription: { id: nonce.slice(0, 16), status: "active", ...data } },
    },
  }),
};

export const FIGMA_SENDER: Sender = {
  type: "FILE_UPDATE",
  bind: byToken(figma),
  write: ({ type, time, data, nonce }, attempt) => ({
    headers: {},
    body: {
      event_type: type,
      file_key: nonce.slice(0, 22),
      passcode: token(attempt),
      timestamp: time.toISOString(),
      webhook_id: "22",
      retries: 0,
      ...data,
    },
  }),
};

export const POSTMARK_SENDER: Sender = {
  type: "Delivery",
  bind: byToken(postmark),
  write: ({ type, time, data, nonce }, attempt) => ({
    headers: basic(attempt),
    body: {
      RecordType: type,
      MessageID: uuidOf(nonce),
      Recipient: "alice@example.com",
      DeliveredAt: time.toISOString(),
      ...data,
    },
  }),
};

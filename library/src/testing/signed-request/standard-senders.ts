import { produce } from "#crypto";
import type { KeySet } from "../../signature/keys/key.js";
import {
  anthropic,
  clerk,
  openai,
  polar,
  replicate,
  resend,
  supabase,
} from "../../signature/schemes/standard-senders.js";
import type { Verifier } from "../../signature/scheme.js";
import type { VerifierOptions } from "../../signature/verifier.js";
import { bySecret, unixSeconds } from "./sender.js";
import type { PlannedEvent, Sender } from "./sender.js";
import { standardHeaders } from "./standard.js";

// The providers that sign by Standard Webhooks: each has bodies of its own, and some use Svix's header names.

interface Look {
  readonly create: (options: VerifierOptions) => Verifier;
  readonly type: string;
  readonly prefix?: "webhook" | "svix";
  readonly body: (event: PlannedEvent) => unknown;
}

function standardSender({ create, type, prefix = "webhook", body }: Look): Sender {
  return {
    type,
    id: (nonce) => `msg_${nonce.slice(0, 27)}`,
    signsWithAll: true,
    bind: bySecret(create),
    write: (event, attempt) => ({
      headers: standardHeaders(prefix, event.id ?? "", attempt),
      body: body(event),
    }),
  };
}

export const ANTHROPIC_SENDER: Sender = standardSender({
  create: anthropic,
  type: "session.status_idled",
  body: ({ type, time, data, nonce }) => ({
    type: "event",
    id: `event_${nonce.slice(0, 24)}`,
    created_at: time.toISOString(),
    data: { id: `session_${nonce.slice(0, 24)}`, ...data, type },
  }),
});

export const CLERK_SENDER: Sender = standardSender({
  create: clerk,
  type: "user.created",
  prefix: "svix",
  body: ({ type, time, data, nonce }) => ({
    data: { id: `user_${nonce.slice(0, 24)}`, object: "user", ...data },
    object: "event",
    timestamp: time.getTime(),
    type,
  }),
});

export const OPENAI_SENDER: Sender = standardSender({
  create: openai,
  type: "response.completed",
  body: ({ type, time, data, nonce }) => ({
    id: `evt_${nonce}`,
    object: "event",
    created_at: unixSeconds(time),
    type,
    data: { id: `resp_${nonce}`, ...data },
  }),
});

export const POLAR_SENDER: Sender = {
  ...standardSender({
    create: polar,
    type: "order.paid",
    body: ({ type, time, data, nonce }) => ({
      type,
      timestamp: time.toISOString(),
      data: { id: nonce, status: "paid", ...data },
    }),
  }),
  bind: (options) => {
    const bound = bySecret(polar)(options);
    // One key for each secret, as Polar signs today: its base64 where it is base64, its text otherwise.
    const keys = new Map((bound.verifier.keys as KeySet).keys.map((key) => [key.name, key]));
    return { ...bound, signers: Array.from(keys.values(), (key) => (content) => produce(key, content)) };
  },
};

export const REPLICATE_SENDER: Sender = standardSender({
  create: replicate,
  type: "succeeded",
  body: ({ type, data, nonce }) => ({ id: nonce.slice(0, 26), output: ["tick"], ...data, status: type }),
});

export const RESEND_SENDER: Sender = standardSender({
  create: resend,
  type: "email.delivered",
  prefix: "svix",
  body: ({ type, time, data, nonce }) => ({
    type,
    created_at: time.toISOString(),
    data: { email_id: nonce, to: ["alice@example.com"], ...data },
  }),
});

export const SUPABASE_SENDER: Sender = standardSender({
  create: supabase,
  type: "signup",
  body: ({ type, data, nonce }) => ({
    user: { id: nonce, email: "alice@example.com" },
    email_data: { token: nonce.slice(0, 6), ...data, email_action_type: type },
  }),
});

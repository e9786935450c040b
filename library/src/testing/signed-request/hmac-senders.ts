import { encodeBase64, encodeHex } from "../../bytes.js";
import { asana } from "../../signature/schemes/asana.js";
import { bitbucket } from "../../signature/schemes/bitbucket.js";
import { calCom } from "../../signature/schemes/cal-com.js";
import { calendly } from "../../signature/schemes/calendly.js";
import { circleci } from "../../signature/schemes/circleci.js";
import { docusign } from "../../signature/schemes/docusign.js";
import { intercom } from "../../signature/schemes/intercom.js";
import { notion } from "../../signature/schemes/notion.js";
import { typeform } from "../../signature/schemes/typeform.js";
import { webflow } from "../../signature/schemes/webflow.js";
import { woocommerce } from "../../signature/schemes/woocommerce.js";
import { bySecret, numberOf, splitType, unixSeconds, uuidOf } from "./sender.js";
import type { Attempt, PlannedEvent, Sender } from "./sender.js";

// The providers whose signature is one HMAC in one header, with no more to it than its encoding.

function hex({ signatures: [signature = new Uint8Array(32)] }: Attempt): string {
  return encodeHex(signature);
}

function base64({ signatures: [signature = new Uint8Array(32)] }: Attempt): string {
  return encodeBase64(signature);
}

export const ASANA_SENDER: Sender = {
  type: "task.changed",
  bind: bySecret(asana),
  write: (event, attempt) => ({ headers: { "x-hook-signature": hex(attempt) }, body: asanaBody([event]) }),
  batch: asanaBody,
};

function asanaBody(events: readonly PlannedEvent[]): unknown {
  return {
    events: events.map(({ type, time, data, nonce }) => {
      const [kind, action] = splitType(type);
      return {
        user: { gid: "1199", resource_type: "user" },
        created_at: time.toISOString(),
        action: action ?? kind,
        resource: { gid: String(numberOf(nonce)), ...(action === undefined ? {} : { resource_type: kind }) },
        ...data,
      };
    }),
  };
}

export const BITBUCKET_SENDER: Sender = {
  type: "repo:push",
  bind: bySecret(bitbucket),
  write: ({ type, data, nonce }, attempt) => ({
    headers: {
      "x-event-key": type,
      "x-hub-signature": `sha256=${hex(attempt)}`,
      "x-request-uuid": attempt.nonce,
      "x-attempt-number": "1",
    },
    body: { repository: { full_name: "posthorn/example" }, push: { changes: [{ hash: nonce }] }, ...data },
  }),
};

export const CAL_COM_SENDER: Sender = {
  type: "BOOKING_CREATED",
  bind: bySecret(calCom),
  write: ({ type, time, data, nonce }, attempt) => ({
    headers: { "x-cal-signature-256": hex(attempt) },
    body: {
      triggerEvent: type,
      createdAt: time.toISOString(),
      payload: { uid: nonce, title: "A call", ...data },
    },
  }),
};

export const CALENDLY_SENDER: Sender = {
  type: "invitee.created",
  bind: bySecret(calendly),
  write: ({ type, time, data, nonce }, attempt) => ({
    headers: { "calendly-webhook-signature": `t=${unixSeconds(attempt.at)},v1=${hex(attempt)}` },
    body: {
      event: type,
      created_at: time.toISOString(),
      payload: { uri: `https://api.calendly.com/scheduled_events/${nonce}`, ...data },
    },
  }),
};

export const CIRCLECI_SENDER: Sender = {
  type: "workflow-completed",
  id: uuidOf,
  bind: bySecret(circleci),
  write: ({ id, type, time, data, nonce }, attempt) => ({
    headers: { "circleci-event-type": type, "circleci-signature": `v1=${hex(attempt)}` },
    body: {
      id,
      type,
      happened_at: time.toISOString(),
      workflow: { id: uuidOf(nonce), status: "success", ...data },
    },
  }),
};

/** An id is what the scheme makes of envelope, type, recipient and time; an envelope cannot be asked for without them. */
export const DOCUSIGN_SENDER: Sender = {
  type: "envelope-completed",
  bind: bySecret(docusign),
  write: ({ id, type, time, data, nonce }, attempt) => ({
    headers: { "x-docusign-signature-1": base64(attempt) },
    body: {
      event: type,
      apiVersion: "v2.1",
      retryCount: 0,
      generatedDateTime: time.toISOString(),
      data: { envelopeId: id?.split(":", 1)[0] ?? uuidOf(nonce), ...data },
    },
  }),
};

export const INTERCOM_SENDER: Sender = {
  type: "conversation.user.created",
  id: (nonce) => `notif_${nonce}`,
  bind: bySecret(intercom),
  write: ({ id, type, time, data, nonce }, attempt) => ({
    headers: { "x-hub-signature": `sha1=${hex(attempt)}` },
    body: {
      type: "notification_event",
      id,
      topic: type,
      created_at: unixSeconds(time),
      delivery_attempts: 1,
      data: { item: { id: String(numberOf(nonce)), ...data } },
    },
  }),
};

export const NOTION_SENDER: Sender = {
  type: "page.created",
  id: uuidOf,
  bind: bySecret(notion),
  write: ({ id, type, time, data, nonce }, attempt) => ({
    headers: { "x-notion-signature": `sha256=${hex(attempt)}` },
    body: {
      id,
      timestamp: time.toISOString(),
      type,
      attempt_number: 1,
      entity: { id: uuidOf(nonce), type: "page" },
      data,
    },
  }),
};

export const TYPEFORM_SENDER: Sender = {
  type: "form_response",
  id: (nonce) => nonce.slice(0, 26).toUpperCase(),
  bind: bySecret(typeform),
  write: ({ id, type, time, data, nonce }, attempt) => ({
    headers: { "typeform-signature": `sha256=${base64(attempt)}` },
    body: {
      event_id: id,
      event_type: type,
      form_response: { token: nonce, ...data, submitted_at: time.toISOString() },
    },
  }),
};

export const WEBFLOW_SENDER: Sender = {
  type: "form_submission",
  bind: bySecret(webflow),
  write: ({ type, data, nonce }, attempt) => ({
    headers: {
      "x-webflow-timestamp": String(attempt.at.getTime()),
      "x-webflow-signature": hex(attempt),
    },
    body: { triggerType: type, payload: { id: nonce.slice(0, 24), name: "Contact", ...data } },
  }),
};

export const WOOCOMMERCE_SENDER: Sender = {
  type: "order.created",
  // Its event's id ends in the signature, which nobody can ask for.
  bind: bySecret(woocommerce),
  write: ({ type, data, nonce }, attempt) => ({
    headers: {
      "x-wc-webhook-topic": type,
      "x-wc-webhook-delivery-id": nonce,
      "x-wc-webhook-signature": base64(attempt),
    },
    body: { id: numberOf(nonce), status: "processing", total: "20.00", ...data },
  }),
};

import { sha256 } from "#crypto";
import { encodeBase64, encodeHex } from "../../bytes.js";
import { parseJson } from "../../json.js";
import { SUBJECTS, twilio } from "../../signature/schemes/twilio.js";
import { bySecret, splitType, uuidOf } from "./sender.js";
import type { PlannedEvent, Sender } from "./sender.js";

export const TWILIO_SENDER: Sender = {
  type: "message.delivered",
  id: uuidOf,
  bind: bySecret(twilio),
  write: (event, { signatures: [signature = new Uint8Array()] }) => ({
    headers: {
      "i-twilio-idempotency-token": event.id ?? "",
      "x-twilio-signature": encodeBase64(signature),
    },
    body: new URLSearchParams(formOf(event)).toString(),
  }),
  batch: (events) => events.map(cloudEvent),
  address: addHash,
};

function formOf({ type, time, data, nonce }: PlannedEvent): Record<string, string> {
  const form: Record<string, string> = {
    ...nameOf(type, nonce),
    AccountSid: "AC00000000000000000000000000000000",
    From: "+15005550006",
    To: "+15005550001",
    Timestamp: time.toUTCString().replace("GMT", "+0000"),
  };
  for (const [name, value] of Object.entries(data)) form[name] = String(value);
  return form;
}

/** A form says its type by what it is about and the status of that, or by `EventType`. */
function nameOf(type: string, nonce: string): Record<string, string> {
  const [name, status] = splitType(type);
  const subject = SUBJECTS.find((each) => each.name === name);
  if (subject === undefined) return { EventType: type };
  return { [subject.sid]: `SM${nonce}`, ...(status === undefined ? {} : { [subject.status[0]]: status }) };
}

/** An event of Event Streams. */
function cloudEvent({ id, type, time, data }: PlannedEvent): object {
  return {
    specversion: "1.0",
    type,
    source: "/2010-04-01/Accounts/AC00000000000000000000000000000000",
    id,
    time: time.toISOString(),
    datacontenttype: "application/json",
    data,
  };
}

/** Twilio signs no JSON: it puts the body's hash into the URL, and signs that. */
async function addHash(url: string, body: Uint8Array): Promise<string> {
  if (parseJson(body) === undefined) return url;
  return `${url}${url.includes("?") ? "&" : "?"}bodySHA256=${encodeHex(await sha256(body))}`;
}

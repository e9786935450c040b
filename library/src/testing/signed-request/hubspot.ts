import { encodeBase64 } from "../../bytes.js";
import { hubspot, IDENTITY } from "../../signature/schemes/hubspot.js";
import { bySecret, numberOf } from "./sender.js";
import type { PlannedEvent, Sender } from "./sender.js";

export const HUBSPOT_SENDER: Sender = {
  type: "contact.creation",
  bind: bySecret(hubspot),
  write: (event, { at, signatures: [signature = new Uint8Array()] }) => ({
    headers: {
      "x-hubspot-request-timestamp": String(at.getTime()),
      "x-hubspot-signature-v3": encodeBase64(signature),
    },
    body: batch([event]),
  }),
  batch,
};

function batch(events: readonly PlannedEvent[]): unknown {
  return events.map((event) => ({
    ...fieldsOf(event),
    subscriptionType: event.type,
    appId: 1160,
    attemptNumber: 0,
    changeSource: "CRM",
    ...event.data,
  }));
}

/** HubSpot has no one id: the given one is taken apart into the fields that make it. */
function fieldsOf({ id, time, nonce }: PlannedEvent): Readonly<Record<string, number | string>> {
  const made = ["62515", "7481", String(numberOf(nonce)), "33", "", "", String(time.getTime())];
  const parts = id?.split(":") ?? made;
  const fields = IDENTITY.map((name, index) => [name, parts[index] ?? ""] as const);
  const numbers = fields
    .filter(([, text]) => text !== "")
    .map(([name, text]) => [name, Number(text)] as const);
  const property = parts.slice(IDENTITY.length).join(":");
  return Object.fromEntries<number | string>([
    ...numbers,
    ...(property === "" ? [] : [["propertyName", property] as const]),
  ]);
}

import { encodeHex } from "../../bytes.js";
import { sentry } from "../../signature/schemes/sentry.js";
import { bySecret, numberOf, splitType, unixSeconds } from "./sender.js";
import type { Sender } from "./sender.js";

export const SENTRY_SENDER: Sender = {
  type: "issue.created",
  bind: bySecret(sentry),
  write: ({ type, data, nonce }, { at, nonce: delivery, signatures: [signature] }) => {
    const [resource, action] = splitType(type);
    return {
      headers: {
        "request-id": delivery.replaceAll("-", ""),
        "sentry-hook-resource": resource,
        "sentry-hook-timestamp": String(unixSeconds(at)),
        "sentry-hook-signature": encodeHex(signature ?? new Uint8Array()),
      },
      body: {
        ...(action === undefined ? {} : { action }),
        installation: { uuid: "a8e5d37a-696c-4c54-adb5-b3f28d64c7de" },
        data: { [resource]: { id: String(numberOf(nonce)), title: "TypeError", ...data } },
        actor: { type: "application", id: "sentry", name: "Sentry" },
      },
    };
  },
};

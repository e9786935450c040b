import { createHmac } from "node:crypto";
import type { EventName } from "posthorn/testing";
import type { Chance } from "../chance.js";

/** What a provider sends, again and again, until it is acknowledged. */
export interface Letter {
  readonly event: EventName;
  readonly body: Buffer;
  readonly path: "/shop" | "/blind" | "/dedup";
  /** False: signed with a secret that the receiver does not know. */
  readonly genuine: boolean;
}

export type EventType = "counted" | "quiet" | "flaky";

const SECRET = "cG9zdGhvcm4gY3Jhc2ggdGVzdHMgb25seSE=";

/** A signed event for the receiver; `salt` makes another body of the same id. */
export function letterOf(id: string, type: EventType, chance: Chance, salt = ""): Letter {
  const event = { tenant: "default", source: "shop", id };
  return { event, body: bodyOf(type, chance, salt), path: "/shop", genuine: true };
}

/** An event for the host's own transaction with `dedup`. */
export function dedupLetter(id: string, chance: Chance): Letter {
  return {
    event: { tenant: "default", source: "dedup", id },
    body: bodyOf("counted", chance, ""),
    path: "/dedup",
    genuine: true,
  };
}

// Bytes that do not survive a parser, a text column or a re-serialisation.
const ODD = [
  '"\\u0000"',
  '"\\ud800"',
  '"e\u0301 \u00e9 \ufeff"',
  "1e400",
  "-0",
  "12345678901234567890",
  '{"a":1,"a":2}',
];

function bodyOf(type: EventType, chance: Chance, salt: string): Buffer {
  const filler = chance.below(8) === 0 ? "x".repeat(chance.below(20_000)) : chance.bytes(6).toString("hex");
  const end = chance.pick(["", "\n", "\r\n", " \t"]);
  return Buffer.from(
    `{ "type":"${type}",\r\n"odd":${chance.pick(ODD)},"salt":"${salt}","filler":"${filler}"}${end}`,
  );
}

/** The headers of Standard Webhooks, signed anew for every delivery as a provider does, and not by Posthorn. */
export function signedHeaders({ event, body, genuine }: Omit<Letter, "path">): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const key = genuine ? Buffer.from(SECRET, "base64") : Buffer.from("a secret of somebody else");
  const signed = createHmac("sha256", key).update(`${event.id}.${timestamp}.`).update(body).digest("base64");
  return {
    "content-type": "application/json",
    "webhook-id": event.id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signed}`,
  };
}

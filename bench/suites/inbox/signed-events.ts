import { standardWebhooks } from "posthorn";
import type { Reply, Verifier } from "posthorn";
import { createKeys, signed } from "../signed-requests.js";
import type { IdSource } from "./event-ids.js";

/** The source under which every case receives, and the type that its events have. */
export const SOURCE = "shop";
export const TYPE = "order.paid";
const BODY_BYTES = 512;
export const BODY: Buffer = bodyOf(TYPE);

const keys = createKeys();
// What a sender and its proxies put on a request besides the signature; all of it is kept.
const OTHER_HEADERS = {
  host: "hooks.example.com",
  "user-agent": "Shop-Webhooks/1.0 (+https://shop.example.com/docs/webhooks)",
  "content-type": "application/json; charset=utf-8",
  "content-length": String(BODY_BYTES),
  accept: "*/*",
  "accept-encoding": "gzip, deflate",
  "x-forwarded-for": "203.0.113.7",
  "x-forwarded-proto": "https",
};

export interface EventRequest {
  readonly headers: Readonly<Record<string, string>> & { readonly "webhook-id": string };
  readonly body: Buffer;
}

export function shopVerifier(): Verifier {
  return standardWebhooks({ secrets: [keys.secret] });
}

/** An event of today: one whose body says an old time would be refused as stale. */
export function bodyOf(type: string): Buffer {
  const event = {
    type,
    timestamp: new Date().toISOString(),
    data: { order: "ord_7", amount: 1999, note: "" },
  };
  event.data.note = "x".repeat(BODY_BYTES - JSON.stringify(event).length);
  return Buffer.from(JSON.stringify(event));
}

export function signedEvent(id: string, body: Buffer = BODY): EventRequest {
  return { headers: { ...OTHER_HEADERS, ...signed("v1", keys, body, id).headers }, body };
}

const LEAST = 1000;

/** Requests that were signed before the turn: whoever receives them must not pay for the sender's work. */
export class SignedSupply {
  readonly #nextId: IdSource;
  #ready: EventRequest[] = [];
  #taken = 0;

  constructor(nextId: IdSource) {
    this.#nextId = nextId;
  }

  /** Signs afresh, half as many again as the last turn took; signatures are good for 5 minutes. */
  refill(): void {
    const count = Math.max(LEAST, Math.ceil(this.#taken * 1.5));
    this.#taken = 0;
    // In their order, because time-ordered ids are taken in it.
    this.#ready = Array.from({ length: count }, () => signedEvent(this.#nextId())).toReversed();
  }

  take(): EventRequest {
    this.#taken += 1;
    return this.#ready.pop() ?? signedEvent(this.#nextId());
  }
}

/** Throws unless the reply says this of the event: an error that is answered fast is no throughput. */
export function expectVerdict(reply: Reply, verdict: string): void {
  const found = reply.headers?.["posthorn-verdict"];
  if (found !== verdict)
    throw new Error(`Answered ${reply.status}, ${found ?? "no verdict"}; expected ${verdict}.`);
}

// A sample event, signed in the browser as its provider would sign it: the secret was typed a moment ago, and goes nowhere.

/** A request to a source. */
export interface Sample {
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface SampleWish {
  readonly scheme: string;
  readonly secret: string;
  readonly nowMs: number;
  /** Unique: a second sample is another event. */
  readonly id: string;
}

/** Signs a sample; undefined for schemes that are not signed here. */
export async function signedSample(wish: SampleWish): Promise<Sample | undefined> {
  switch (wish.scheme) {
    case "stripe":
      return stripeSample(wish);
    case "github":
      return githubSample(wish);
    case "shopify":
      return shopifySample(wish);
    case "standard_webhooks":
      return standardSample(wish);
    default:
      return undefined;
  }
}

export function canSign(scheme: string): boolean {
  return /^(stripe|github|shopify|standard_webhooks)$/.test(scheme);
}

const CUSTOMER = "cus_first";

async function stripeSample({ secret, nowMs, id }: SampleWish): Promise<Sample> {
  const at = Math.floor(nowMs / 1000);
  const body = JSON.stringify({
    id: `evt_${id}`,
    object: "event",
    type: "invoice.paid",
    created: at,
    data: {
      object: { id: `in_${id}`, object: "invoice", customer: CUSTOMER, amount_paid: 14_900, currency: "eur" },
    },
  });
  const mac = hex(await hmac(utf8(secret), `${at}.${body}`));
  return { type: "invoice.paid", headers: { "stripe-signature": `t=${at},v1=${mac}` }, body };
}

async function githubSample({ secret, id }: SampleWish): Promise<Sample> {
  const body = JSON.stringify({
    ref: "refs/heads/main",
    repository: { full_name: "posthorn/first" },
    commits: [],
  });
  const mac = hex(await hmac(utf8(secret), body));
  const headers = {
    "x-github-event": "push",
    "x-github-delivery": id,
    "x-hub-signature-256": `sha256=${mac}`,
  };
  return { type: "push", headers, body };
}

async function shopifySample({ secret, nowMs, id }: SampleWish): Promise<Sample> {
  const body = JSON.stringify({ id: 1001, email: "first@example.com", total_price: "149.00" });
  const headers = {
    "x-shopify-topic": "orders/create",
    "x-shopify-webhook-id": id,
    "x-shopify-triggered-at": new Date(nowMs).toISOString(),
    "x-shopify-hmac-sha256": base64(await hmac(utf8(secret), body)),
  };
  return { type: "orders/create", headers, body };
}

async function standardSample({ secret, nowMs, id }: SampleWish): Promise<Sample> {
  const at = Math.floor(nowMs / 1000);
  const name = `msg_${id}`;
  const body = JSON.stringify({
    type: "order.paid",
    timestamp: new Date(nowMs).toISOString(),
    data: { amount: 14_900 },
  });
  const key = Uint8Array.from(atob(secret.replace(/^whsec_/, "")), (character) => character.charCodeAt(0));
  const signature = `v1,${base64(await hmac(key, `${name}.${at}.${body}`))}`;
  const headers = { "webhook-id": name, "webhook-timestamp": String(at), "webhook-signature": signature };
  return { type: "order.paid", headers, body };
}

async function hmac(secret: Uint8Array<ArrayBuffer>, text: string): Promise<Uint8Array> {
  const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, [
    "sign",
  ]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, utf8(text)));
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

/** A secret for a source that is only tried: 24 random bytes, in the form that its provider uses. */
export function newSecret(scheme: string): string {
  const random = base64(crypto.getRandomValues(new Uint8Array(24)));
  return scheme === "stripe" || scheme === "standard_webhooks"
    ? `whsec_${random}`
    : random.replaceAll(/[+/=]/g, "x");
}

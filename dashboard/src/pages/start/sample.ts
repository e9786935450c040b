// Sample events, signed in the browser as their providers would sign them: the secret was typed a moment ago, and goes nowhere.

/** What is sent to a source. */
export interface Sample {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface SampleWish {
  readonly scheme: string;
  readonly nowMs: number;
  /** Unique: a second sample is another event. */
  readonly id: string;
}

interface Signing extends SampleWish {
  readonly secret: string;
  readonly body: string;
}

/** How one provider's request looks. */
interface Sender {
  readonly type: string;
  body(wish: SampleWish): unknown;
  headers(signing: Signing): Promise<Readonly<Record<string, string>>>;
}

const CUSTOMER = "cus_first";

const SENDERS: Readonly<Record<string, Sender>> = {
  stripe: {
    type: "invoice.paid",
    body: ({ id, nowMs }) => ({
      id: `evt_${id}`,
      object: "event",
      type: "invoice.paid",
      created: seconds(nowMs),
      data: {
        object: {
          id: `in_${id}`,
          object: "invoice",
          customer: CUSTOMER,
          amount_paid: 14_900,
          currency: "eur",
        },
      },
    }),
    headers: async ({ secret, nowMs, body }) => {
      const mac = hex(await hmac(utf8(secret), `${seconds(nowMs)}.${body}`));
      return { "stripe-signature": `t=${seconds(nowMs)},v1=${mac}` };
    },
  },
  github: {
    type: "push",
    body: () => ({ ref: "refs/heads/main", repository: { full_name: "posthorn/first" }, commits: [] }),
    headers: async ({ secret, id, body }) => ({
      "x-github-event": "push",
      "x-github-delivery": id,
      "x-hub-signature-256": `sha256=${hex(await hmac(utf8(secret), body))}`,
    }),
  },
  shopify: {
    type: "orders/create",
    body: () => ({ id: 1001, email: "first@example.com", total_price: "149.00" }),
    headers: async ({ secret, id, nowMs, body }) => ({
      "x-shopify-topic": "orders/create",
      "x-shopify-webhook-id": id,
      "x-shopify-triggered-at": new Date(nowMs).toISOString(),
      "x-shopify-hmac-sha256": base64(await hmac(utf8(secret), body)),
    }),
  },
  standard_webhooks: {
    type: "order.paid",
    body: ({ nowMs }) => ({
      type: "order.paid",
      timestamp: new Date(nowMs).toISOString(),
      data: { amount: 14_900 },
    }),
    headers: async ({ secret, id, nowMs, body }) => {
      const name = `msg_${id}`;
      const key = Uint8Array.from(atob(secret.replace(/^whsec_/, "")), (each) => each.charCodeAt(0));
      const mac = base64(await hmac(key, `${name}.${seconds(nowMs)}.${body}`));
      return {
        "webhook-id": name,
        "webhook-timestamp": String(seconds(nowMs)),
        "webhook-signature": `v1,${mac}`,
      };
    },
  },
};

/** Whether requests of a scheme can be signed here. */
export function canSign(scheme: string): boolean {
  return Object.hasOwn(SENDERS, scheme);
}

/** The type of a scheme's sample. */
export function sampleType(scheme: string): string {
  return SENDERS[scheme]?.type ?? "hello.world";
}

/** A body as the provider sends them. */
export function sampleBody(wish: SampleWish): string {
  return JSON.stringify(SENDERS[wish.scheme]?.body(wish) ?? { from: "the dashboard" });
}

/** Signs a body; undefined for schemes that are not signed here. */
export async function signed(signing: Signing): Promise<Sample | undefined> {
  const sender = SENDERS[signing.scheme];
  if (sender === undefined) return undefined;
  return { headers: await sender.headers(signing), body: signing.body };
}

/** A unique part for the ids of a sample. */
export function sampleId(): string {
  return hex(crypto.getRandomValues(new Uint8Array(8)));
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}

async function hmac(secret: Uint8Array<ArrayBuffer>, text: string): Promise<Uint8Array> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", secret, algorithm, false, ["sign"]);
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

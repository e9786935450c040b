import { createHmac, generateKeyPairSync, sign, type KeyObject } from "node:crypto";

/** Bodies in SI units: 1 kB is 1,000 bytes. */
export const SIZES = { "1 kB": 1_000, "64 kB": 64_000 } as const;
export type Size = keyof typeof SIZES;

export interface BenchRequest {
  readonly headers: { "webhook-id": string; "webhook-timestamp": string; "webhook-signature": string };
  readonly body: Buffer;
}

/** Both kinds of Standard Webhooks keys: the text that the libraries take, and what signs. */
export interface BenchKeys {
  readonly secret: string;
  readonly material: Buffer;
  readonly publicKey: string;
  readonly privateKey: KeyObject;
}

const EVENT_ID = "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W";

export function createKeys(): BenchKeys {
  const material = Buffer.alloc(24, "posthorn");
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  // The raw key is the tail of its DER form.
  const raw = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
  return {
    secret: `whsec_${material.toString("base64")}`,
    material,
    publicKey: `whpk_${raw.toString("base64")}`,
    privateKey,
  };
}

/** Valid JSON of exactly `bytes` bytes, shaped like an order: the official libraries parse it, so its shape has a price. */
export function orderBody(bytes: number): Buffer {
  const items: object[] = [];
  let body = orderText(items, "");
  for (let number = 1; ; number += 1) {
    items.push({
      id: `item_${number}`,
      sku: `SKU-${number * 37}`,
      quantity: number % 7,
      price: 1999 + number,
    });
    const longer = orderText(items, "");
    if (longer.length > bytes) break;
    body = longer;
  }
  items.pop();
  body = orderText(items, "x".repeat(bytes - body.length));
  return Buffer.from(body);
}

function orderText(items: readonly object[], note: string): string {
  return JSON.stringify({ type: "order.paid", timestamp: "2026-01-15T12:00:00Z", data: { items, note } });
}

/** What Standard Webhooks signs ahead of the body. */
export function prefixOf(headers: BenchRequest["headers"]): string {
  return `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`;
}

/** Signs as of now: an old signature is refused after 5 minutes, and errors would be measured instead of checks. */
export function signed(
  version: "v1" | "v1a",
  keys: BenchKeys,
  body: Buffer,
  id: string = EVENT_ID,
): BenchRequest {
  const seconds = String(Math.floor(Date.now() / 1000));
  const headers = { "webhook-id": id, "webhook-timestamp": seconds, "webhook-signature": "" };
  const content = Buffer.concat([Buffer.from(prefixOf(headers)), body]);
  const signature =
    version === "v1"
      ? createHmac("sha256", keys.material).update(content).digest("base64")
      : sign(null, content, keys.privateKey).toString("base64");
  return { headers: { ...headers, "webhook-signature": `${version},${signature}` }, body };
}

import { createReceiver } from "posthorn";
import type { Observer, ReceiverReply, StoreFirstOptions } from "posthorn";
import { sendgrid } from "posthorn/providers";
import { signedRequest, TEST_SECRETS } from "posthorn/testing";

const KEYS = ["a", "b", "c"];

type Store = StoreFirstOptions<string>["store"];

/** Posts one request of SendGrid with so many events, of three keys in turn. */
export async function postArray(store: Store, count: number, observer?: Observer): Promise<ReceiverReply> {
  const events = Array.from({ length: count }, (_, n) => ({
    sg_event_id: `evt_${n}`,
    event: "delivered",
    key: KEYS[n % KEYS.length],
    n,
  }));
  const verifier = sendgrid({ secrets: TEST_SECRETS.sendgrid.verifying });
  const receiver = createReceiver({
    mode: "store_first",
    store,
    sources: { mail: { verifier, key: { json: "/key" } } },
    observer: observer ?? (() => undefined),
  });
  return receiver.receive("mail", await signedRequest("sendgrid", { body: JSON.stringify(events) }));
}

/** What the handlers of these events saw, by key. */
export class Seen {
  readonly #byKey: Record<string, number[]> = {};

  readonly add = (data: unknown): void => {
    const { key, n } = data as { readonly key: string; readonly n: number };
    (this.#byKey[key] ??= []).push(n);
  };

  get numbers(): Readonly<Record<string, readonly number[]>> {
    return this.#byKey;
  }
}

/** The same of handlers that saw each event once, in the order of the array. */
export function inOrder(count: number): Readonly<Record<string, readonly number[]>> {
  const numbers = Array.from({ length: count }, (_, n) => n);
  return Object.fromEntries(KEYS.map((key, k) => [key, numbers.filter((n) => n % KEYS.length === k)]));
}

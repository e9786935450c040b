import { createReceiver, standardWebhooks } from "posthorn";
import type { Receiver, Signal } from "posthorn";
import { memoryStore } from "posthorn/memory";
import { twilio } from "posthorn/providers";
import { signedRequest, TEST_SECRETS } from "posthorn/testing";
import type { TestRequest } from "posthorn/testing";

/** A receiver that keeps the bytes of every event, and what the observer was told. */
export interface Stage {
  readonly receiver: Receiver<"acme" | "twilio">;
  readonly bodies: Uint8Array[];
  readonly refusals: { readonly status: number; readonly code: string; readonly why: string }[];
  readonly signals: Signal[];
}

export function setStage(): Stage {
  const bodies: Uint8Array[] = [];
  const refusals: Stage["refusals"] = [];
  const signals: Signal[] = [];
  const receiver = createReceiver({
    store: memoryStore(),
    sources: {
      acme: standardWebhooks({ secrets: TEST_SECRETS.standard_webhooks.verifying }),
      twilio: twilio({ secrets: TEST_SECRETS.twilio.verifying }),
    },
    handlers: { "*": (event) => void bodies.push(event.body) },
    observer: (signal) => {
      signals.push(signal);
      if (signal.kind === "request_refused") refusals.push(signal);
    },
  });
  return { receiver, bodies, refusals, signals };
}

/** A request as the sender puts it on the wire. */
export interface Sent {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Posts a request to wherever the host listens. */
export type Post = (sent: Sent) => Promise<Response>;

let ids = 0;

/** A signed request of the source "acme" with these bytes. */
export async function signed(
  body: string | Uint8Array,
  { path = "/webhooks/acme", type = "application/json" }: { path?: string; type?: string } = {},
): Promise<Sent> {
  const request: TestRequest = await signedRequest("standard_webhooks", { body, id: `evt_${++ids}` });
  return { path, headers: { ...request.headers, "content-type": type }, body: request.body };
}

/** Makes the way to a server on this machine. */
export function postTo(port: number): Post {
  return ({ path, headers, body }) =>
    fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", headers, body });
}

/** Makes the way to a host that is a function of a request. */
export function postInto(handle: (request: Request) => Response | Promise<Response>): Post {
  return async ({ path, headers, body }) =>
    handle(new Request(`http://127.0.0.1${path}`, { method: "POST", headers, body }));
}

/** Bytes that no text has: a parser or a gateway that goes through text would change them. */
export const NOT_UTF8: Uint8Array<ArrayBuffer> = new Uint8Array(
  Buffer.concat([Buffer.from('{"type":"a.b","name":"'), Buffer.from([0xff, 0xfe, 0x80, 0x00, 0x22, 0x7d])]),
);

/** JSON whose spaces and escapes are lost when it is parsed and written again. */
export const SPACED = '{ "type" : "a.b",  "name": "Zo\\u00eb", "amount": 1.0 }';

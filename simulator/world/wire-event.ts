import type { OutgoingRequest } from "../../library/src/delivery/egress/egress.js";
import { parseStamp, STAMP_HEADERS } from "../../library/src/signature/stamp.js";
import type { WireEvent } from "./run-log.js";

const HOST_AT = "https://".length;

/** What somebody who reads along on the wire knows of a request. */
export function wireEventOf({ url, headers, body }: OutgoingRequest, post: number): WireEvent {
  const stamp = parseStamp(STAMP_HEADERS.map((name) => headers[name] ?? ""));
  const { key, sequence, after } = stamp?.lane ?? {};
  return {
    post,
    endpoint: addressOf(url).source,
    eventId: headers["webhook-id"] ?? "",
    body: textOf(body),
    key,
    sequence,
    after,
    attempt: stamp?.attempt ?? 0,
  };
}

/** Bytes as a text of the same length: equal texts are equal bytes. */
export function textOf(body: Uint8Array): string {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("latin1");
}

/** The number that an event of a run carries in its body; -1 where it carries none. */
export function numberOf(body: string): number {
  return Number(/"number":(\d+)/.exec(body)?.[1] ?? -1);
}

/** What the body of an event of a run tells. */
export interface Told {
  readonly type: string;
  readonly number: number;
  readonly key: string | undefined;
  readonly handler: string;
}

/** The bytes of an event of a run. They are few: arrays of up to 64 bytes cost a tenth of larger ones. */
export function bodyOf(told: Told): Uint8Array {
  const text = bodyTextOf(told);
  // All of it is ASCII, and an encoder costs ten times this.
  const bytes = new Uint8Array(text.length);
  for (let n = 0; n < text.length; n++) bytes[n] = text.charCodeAt(n);
  return bytes;
}

/** The same as `textOf` reads it. */
export function bodyTextOf({ type, number, key, handler }: Told): string {
  return JSON.stringify(handler === "works" ? { type, number, key } : { type, number, key, handler });
}

/** The host and the source that an endpoint's address of a run names. */
export function addressOf(url: string): { readonly host: string; readonly source: string } {
  const end = url.indexOf("/", HOST_AT);
  return { host: url.slice(HOST_AT, end), source: url.slice(end + 1) };
}

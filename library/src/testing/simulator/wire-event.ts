import { utf8 } from "../../bytes.js";
import type { OutgoingRequest } from "../../delivery/egress.js";
import { parseStamp, STAMP_HEADERS } from "../../signature/stamp.js";
import type { WireEvent } from "./run-log.js";

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

/** The bytes of an event of a run. They are few: arrays of up to 64 bytes cost a tenth of larger ones. */
export function bodyOf(told: {
  readonly type: string;
  readonly number: number;
  readonly key: string | undefined;
  readonly handler: string;
}): Uint8Array {
  const { handler, ...others } = told;
  return utf8(JSON.stringify(handler === "works" ? others : told));
}

/** The host and the source that an endpoint's address of a run names. */
export function addressOf(url: string): { readonly host: string; readonly source: string } {
  const [, , host = "", source = ""] = url.split("/");
  return { host, source };
}

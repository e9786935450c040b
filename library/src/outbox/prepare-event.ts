import { concat, utf8 } from "../bytes.js";
import {
  headerBytes,
  headerFault,
  isContentType,
  MAX_EVENT_HEADER_BYTES,
  MAX_EVENT_HEADERS,
} from "../event-headers.js";
import type { EventHeaders } from "../event-headers.js";
import { ExactJson } from "../exact-json.js";
import { newId } from "../id.js";
import { PosthornError } from "../posthorn-error.js";
import type { Publication } from "../publication.js";
import { isStorableTime, nameFault } from "../storable.js";
import type { OutboxErrorCode } from "./outbox-errors.js";
import type { OutgoingEvent } from "./outgoing-event.js";

/** An event that is checked. */
export interface PreparedEvent {
  /** Complete but for its `contentHash`, which may take a promise. */
  readonly event: OutgoingEvent;
  /** What is to be hashed, because it must be the same when its id comes again; undefined where nobody gave one. */
  readonly content: Uint8Array | undefined;
}

export interface PublicationLimits {
  readonly maxBodyBytes: number;
}

const DEFAULT_TENANT = "default";
const DEFAULT_SOURCE = "app";
const JSON_TYPE = "application/json";

/** Checks a publication and completes it. What cannot be delivered is refused here, before anything is written. */
export function prepareEvent(given: Publication, nowMs: number, limits: PublicationLimits): PreparedEvent {
  const type = named("type", given.type);
  const time = instant("time", given.time) ?? new Date(nowMs);
  const deliverAt = instant("deliverAt", given.deliverAt);
  const expiresAt = instant("expiresAt", given.expiresAt);
  if (expiresAt !== undefined && expiresAt.getTime() <= (deliverAt?.getTime() ?? nowMs)) {
    throw invalid(
      `expiresAt is ${expiresAt.toISOString()}, which is before it could be delivered; it would never be sent`,
    );
  }
  const event: OutgoingEvent = {
    id: given.id === undefined ? newId("evt", nowMs) : givenId(given.id),
    idGiven: given.id !== undefined,
    tenant: given.tenant === undefined ? DEFAULT_TENANT : named("tenant", given.tenant),
    source: given.source === undefined ? DEFAULT_SOURCE : named("source", given.source),
    type,
    key: given.key === undefined ? undefined : named("key", given.key),
    body: bodyOf(given, type, { time, ...limits }),
    contentHash: undefined,
    contentType: contentTypeOf(given),
    headers: headersOf(given.headers),
    time,
    deliverAt,
    expiresAt,
  };
  return { event, content: event.idGiven ? contentOf(given, event) : undefined };
}

function contentOf({ data, body, time }: Publication, event: OutgoingEvent): Uint8Array {
  // Without the time that we put into the body: by it, a second call with the same data would always be a conflict.
  const isOwnTime = body === undefined && time === undefined;
  return contentToHash(event.type, isOwnTime ? withData({}, data) : event.body);
}

/** What must be the same when an id is published again. The type's length comes first, so that no two pairs of type and body make the same bytes. */
export function contentToHash(type: string, body: Uint8Array): Uint8Array {
  const bytes = utf8(type);
  return concat([`${bytes.length}:`, bytes, body]);
}

function bodyOf(
  { data, body }: Publication,
  type: string,
  { time, maxBodyBytes }: PublicationLimits & { readonly time: Date },
): Uint8Array {
  if ((data === undefined) === (body === undefined)) {
    throw invalid("give either `data` or `body`; a delivery without a body is `body: new Uint8Array()`");
  }
  const bytes = body ?? withData({ type, timestamp: time.toISOString() }, data);
  // A Buffer of a pool that is written again before the commit would change the event under way; the driver copies.
  if (!(bytes instanceof Uint8Array)) throw invalid("`body` must be a Uint8Array, exactly the bytes to send");
  if (bytes.length > maxBodyBytes) {
    throw invalid(`its body has ${bytes.length} bytes; at most ${maxBodyBytes} are taken (\`maxBodyBytes\`)`);
  }
  return bytes;
}

/** The JSON of the fields, with `data` as the last of them. */
function withData(fields: Readonly<Record<string, string>>, data: unknown): Uint8Array {
  if (!(data instanceof ExactJson)) return utf8(jsonOf({ ...fields, data }));
  const [head, tail] = jsonOf({ ...fields, data: 0 }).split(/0(?=\}$)/) as [string, string];
  return concat([head, data.bytes, tail]);
}

function jsonOf(value: object): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    throw invalid(`\`data\` cannot be written as JSON (${found})`, error);
  }
}

function contentTypeOf({ contentType = JSON_TYPE }: Publication): string {
  if (isContentType(contentType)) return contentType;
  throw invalid("`contentType` must be 1 to 255 visible ASCII characters");
}

/** With names in lower case; undefined where there are none. */
function headersOf(given: unknown): EventHeaders | undefined {
  if (given === undefined) return undefined;
  // A Headers or a Map has no properties of its own: its headers would be left out without a word.
  if (Object.prototype.toString.call(given) !== "[object Object]") {
    throw invalid("`headers` must be a plain object of texts");
  }
  const headers = new Map<string, string>();
  let bytes = 0;
  for (const [written, value] of Object.entries(given as Record<string, string>)) {
    const name = written.toLowerCase();
    const fault = headerFault(name, value) ?? (headers.has(name) ? "is given twice" : undefined);
    if (fault !== undefined) throw invalid(`the header ${JSON.stringify(written).slice(0, 80)} ${fault}`);
    headers.set(name, value);
    bytes += headerBytes(name, value);
  }
  if (headers.size > MAX_EVENT_HEADERS)
    throw invalid(`it has ${headers.size} headers; at most ${MAX_EVENT_HEADERS} are sent`);
  if (bytes > MAX_EVENT_HEADER_BYTES) {
    throw invalid(`its headers have ${bytes} bytes; at most ${MAX_EVENT_HEADER_BYTES} are sent`);
  }
  return headers.size === 0 ? undefined : Object.fromEntries(headers);
}

function givenId(id: unknown): string {
  if (typeof id === "string" && /^[\x21-\x2d\x2f-\x7e]{1,255}$/.test(id)) return id;
  throw invalid(
    `\`id\` is ${JSON.stringify(id)?.slice(0, 80) ?? String(id)}; expected 1 to 255 visible ASCII characters without a full stop`,
  );
}

/** A name that every store and header can carry. */
export function named(field: string, value: unknown): string {
  const fault = nameFault(value);
  if (fault === undefined) return value as string;
  throw invalid(`\`${field}\` ${fault}`);
}

function instant(field: string, value: unknown): Date | undefined {
  if (value === undefined) return undefined;
  if (value instanceof Date && isStorableTime(value)) return value;
  throw invalid(`\`${field}\` must be a Date between the years 1970 and 9000`);
}

function invalid(found: string, cause?: unknown): PosthornError<OutboxErrorCode> {
  return new PosthornError(
    "publication_invalid",
    `The event cannot be published: ${found}. Nothing was written.`,
    cause === undefined ? {} : { cause },
  );
}

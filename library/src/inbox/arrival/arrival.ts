import { sha256 } from "#crypto";
import { encodeHex } from "../../bytes.js";
import type { Event, IncomingName } from "../../event.js";
import type { HeaderBag } from "../../signature/headers/headers.js";
import { storableTime } from "../../storable.js";
import type { Arrival } from "../inbox-store.js";
import { contentOf, namesBy, namingId } from "./names.js";
import { UNKNOWN_BODY } from "./same-body.js";
import type { Source } from "../source.js";
import { storedId } from "./stored-id.js";

/** An arrival, and the id under which people and handlers know it. */
export interface Identified {
  readonly arrival: Arrival;
  readonly id: string;
}

/** The same of a request, with what may make it a duplicate. */
export interface Named extends Identified {
  /** The names under which it may have been stored before. */
  readonly names: readonly [IncomingName, ...IncomingName[]];
  /** The source's rule asks for the canonical form, and the body has none. */
  readonly fellBack: boolean;
}

/** What a request has shown. */
export interface Proof {
  /** The bytes are those that were sent, so that another body under the id can be told. */
  readonly exact: boolean;
  /** The name of the key that verified it; undefined where none did. */
  readonly key: string | undefined;
  /** When its provider's log says that it was sent, at the latest. */
  readonly sentAt?: Date | undefined;
}

/** A request by which its events are judged. */
export interface Shown {
  readonly headers: HeaderBag;
  /** The same without credentials, as they are kept. */
  readonly kept: string;
  readonly proof: Proof;
}

/** Gives an event its identity: (tenant, source, id), with a hash of what of the body counts where there is no id or where asked. */
export async function identify(source: Source, event: Event, headers: string): Promise<Named> {
  const { naming } = source;
  const { content, fellBack } = contentOf(naming, event.body);
  const hash = await sha256(content);
  const named = namingId(naming, event.id);
  const id = named ?? `body_${encodeHex(hash)}`;
  const stored = await storedId(id);
  return {
    id,
    names: namesBy(naming, named === undefined ? undefined : stored.id, hash),
    fellBack,
    arrival: {
      tenant: source.tenant,
      source: source.name,
      id: stored.id,
      idPreview: stored.preview,
      type: event.type,
      eventAt: storableTime(event.time),
      body: event.body,
      // Where the provider writes a new body for every delivery, two bodies under one id are no conflict.
      bodyHash: naming.bodyVaries ? await sha256(id) : hash,
      headers,
      windowS: source.windowS,
    },
  };
}

/** The same of an event that its provider's log told of: the log says what was sent, but not always in the same bytes. */
export function withoutBytes(identified: Named): Named {
  const [byId] = identified.names;
  return {
    ...identified,
    arrival: { ...identified.arrival, bodyHash: UNKNOWN_BODY },
    names: [{ ...byId, bodyHash: undefined }],
  };
}

/** Says of an event without its own verdict's reason that its exact bytes name it. */
export const FELL_BACK = "the body has no canonical form: its exact bytes name it";

/** When something happened: by its event, and by the log of its provider. */
export interface Times {
  readonly eventAt: Date | undefined;
  readonly sentAt?: Date | undefined;
}

/** Whether the event happened before its window began, so that it may have been applied and forgotten. */
export function isStale(source: Source, { eventAt, sentAt = eventAt }: Times, nowMs: number): boolean {
  const at = eventAt !== undefined && sentAt !== undefined && eventAt < sentAt ? eventAt : sentAt;
  if (source.stale === "accept" || source.windowS === undefined || at === undefined) return false;
  return nowMs - at.getTime() > source.windowS * 1000;
}

/** Whose idempotency keys: each consumer of an event has its own, and other ones in each round of a replay. */
export interface KeyOwner {
  /** As the inbox names it; `''` is the receiver's own handler, and a worker's default one. */
  readonly consumer: string;
  readonly round: number;
}

const FIRST: KeyOwner = { consumer: "", round: 1 };

/** The beginning of every idempotency key of the event: the same on every run, and of no meaning to others. */
export async function idempotencyBase(
  { tenant, source, id }: Arrival,
  { consumer, round }: KeyOwner = FIRST,
): Promise<string> {
  const owner = consumer === "" && round === 1 ? [] : [consumer, String(round)];
  const hash = await sha256([tenant, source, id, ...owner].join("\n"));
  return encodeHex(hash.subarray(0, 16));
}

import { sha256 } from "#crypto";
import { encodeHex } from "../bytes.js";
import type { Event } from "../event.js";
import { storableTime } from "../storable.js";
import type { Arrival } from "./inbox-store.js";
import type { Source } from "./source.js";
import { storedId } from "./stored-id.js";

/** An arrival, and the id under which people and handlers know it. */
export interface Identified {
  readonly arrival: Arrival;
  readonly id: string;
}

/** Gives an event its identity: (tenant, source, id), with a hash of the body where there is no id or where asked. */
export async function identify(source: Source, event: Event, headers: string): Promise<Identified> {
  const hash = await sha256(event.body);
  const id = source.identifyBy === "body" || event.id === undefined ? `body_${encodeHex(hash)}` : event.id;
  const stored = await storedId(id);
  return {
    id,
    arrival: {
      tenant: source.tenant,
      source: source.name,
      id: stored.id,
      idPreview: stored.preview,
      type: event.type,
      eventAt: storableTime(event.time),
      body: event.body,
      // Where the provider writes a new body for every delivery, two bodies under one id are no conflict.
      bodyHash: source.verifier.scheme.bodyVaries === true ? await sha256(id) : hash,
      headers,
      windowS: source.windowS,
    },
  };
}

/** Whether the event happened before its window began, so that it may have been applied and forgotten. */
export function isStale(source: Source, arrival: Arrival, nowMs: number): boolean {
  if (source.stale === "accept" || source.windowS === undefined || arrival.eventAt === undefined)
    return false;
  return nowMs - arrival.eventAt.getTime() > source.windowS * 1000;
}

/** The beginning of every idempotency key of the event: the same on every run, and of no meaning to others. */
export async function idempotencyBase({ tenant, source, id }: Arrival): Promise<string> {
  const hash = await sha256([tenant, source, id].join("\n"));
  return encodeHex(hash.subarray(0, 16));
}

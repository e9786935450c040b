import type { Claim, ClaimRequest, Settled, SettleRequest } from "../../library/src/lanes/lane-store.js";
import type { Outcome } from "../../library/src/delivery/outcome.js";
import type { Redriven, Skipped } from "../../library/src/operator/operator-store.js";
import type { EndpointState } from "../../library/src/outbox/endpoint.js";
import type { EventPlan, PublishHow } from "../script/script.js";
import type { StoredSighting } from "../stored/sightings.js";
import type { Who } from "./who.js";

/** One event on the wire, as an observer of the wire reads it. */
export interface WireEvent {
  readonly post: number;
  readonly endpoint: string;
  readonly eventId: string;
  readonly body: string;
  readonly key: string | undefined;
  readonly sequence: bigint | undefined;
  readonly after: bigint | undefined;
  readonly attempt: number;
}

/** What the observers of a run write down; each sees only what is before its own eyes. */
export type Sighting =
  // The publisher.
  | {
      readonly kind: "publish";
      readonly call: number;
      readonly node: number;
      readonly how: PublishHow;
      readonly events: readonly EventPlan[];
    }
  | {
      readonly kind: "published";
      readonly call: number;
      readonly result: "ok" | "fail" | "unknown";
    }
  /** Which ids the events that it writes have. */
  | { readonly kind: "named"; readonly names: ReadonlyMap<string, number> }
  // The database's own order of what it was asked and answered.
  | ({
      readonly kind: "claim";
      readonly database: number;
      readonly request: ClaimRequest;
      readonly claims: readonly Claim[];
    } & Who)
  | ({
      readonly kind: "settle";
      readonly database: number;
      readonly request: SettleRequest;
      readonly answers: readonly Settled[];
    } & Who)
  | {
      readonly kind: "release";
      readonly database: number;
      readonly worker: string;
      readonly held: readonly Pick<Claim, "kind" | "id">[];
    }
  | {
      readonly kind: "redrive";
      readonly database: number;
      readonly delivery: string;
      readonly answer: Redriven;
    }
  | {
      readonly kind: "skip";
      readonly database: number;
      readonly lane: bigint;
      /** The head that the operator named. */
      readonly head: bigint;
      readonly answer: Skipped;
    }
  | {
      readonly kind: "endpoint";
      readonly database: number;
      readonly id: string;
      readonly state: EndpointState;
    }
  // Observers of the wire and of the receiver's door.
  | ({ readonly kind: "post" } & WireEvent & Who)
  | ({ readonly kind: "arrival" } & WireEvent)
  | {
      readonly kind: "reply";
      readonly post: number;
      readonly status: number;
      readonly verdict: string | undefined;
    }
  | { readonly kind: "answer"; readonly post: number; readonly outcome: Outcome }
  /** Given up by its sender before the first byte. */
  | ({
      readonly kind: "unsent";
      readonly endpoint: string;
      readonly eventId: string;
      readonly outcome: Outcome;
    } & Who)
  // The world that injects faults.
  | { readonly kind: "fault"; readonly what: string }
  | StoredSighting;

export type SightingOf<Kind extends Sighting["kind"]> = Extract<Sighting, { kind: Kind }>;

export type LogRecord = Sighting & {
  readonly at: number;
  /** True when the database that wrote it has lost it. */
  lost: boolean;
};

/** An append-only log of one run, and counters of what really happened in it. */
export class RunLog {
  readonly records: LogRecord[] = [];
  readonly counts: Map<string, number> = new Map();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  add(sighting: Sighting): void {
    // Completed in place: a copy of each would be a tenth of a run.
    const record = sighting as LogRecord & { at: number };
    record.at = this.#now();
    record.lost = false;
    this.records.push(record);
  }

  count(what: string, times = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + times);
  }

  /** A fault that really happened. */
  fault(what: string): void {
    this.count(`fault.${what}`);
    this.add({ kind: "fault", what });
  }

  /** What a database has written since then is gone with its power. */
  lose(database: number, since: number): void {
    for (const record of this.records.slice(since)) {
      if ("database" in record && record.database === database) record.lost = true;
    }
  }
}

/** One line that says the same on every run of the same script: ids that are made by chance are left out. */
export function lineOf({ at, lost, ...record }: LogRecord): string {
  const known = JSON.stringify(record, (name, value: unknown) => {
    if (typeof value === "bigint") return String(value);
    return MADE_BY_CHANCE.has(name) ? undefined : value instanceof Uint8Array ? value.length : value;
  });
  return `${at.toFixed(3)}${lost ? " (lost)" : ""} ${known}`;
}

// Ids, workers' names, and headers, which name and sign by them; events are known by the number in their body.
const MADE_BY_CHANCE = new Set(["worker", "eventId", "id", "inFlight", "answer", "names", "requestHeaders"]);

/** A short name of a whole history. */
export function hashOf(records: readonly LogRecord[]): string {
  let hash = 0xcbf29ce484222325n;
  for (const record of records) {
    let word = 0x811c9dc5;
    const line = lineOf(record);
    for (let n = 0; n < line.length; n++) word = Math.imul(word ^ line.charCodeAt(n), 0x01000193) >>> 0;
    hash = BigInt.asUintN(64, (hash ^ BigInt(word)) * 0x100000001b3n);
  }
  return hash.toString(16).padStart(16, "0");
}

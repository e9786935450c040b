import type { DedupRule } from "../dedup-rule.js";
import type { PlaceOption } from "../place.js";

// What the admin API speaks of, as JSON. Sequences and lane ids are decimal texts, instants ISO 8601.

/** A part of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Hand it back as `after` for the next page; null at the end. */
  readonly next: string | null;
}

export type { DedupRule };

/** Where in a request something stands. */
export type Place = PlaceOption;

/** A source that is to be made. */
export interface SourceInput {
  /** Lower-case letters, digits, `-` and `_`: it is part of the URL. */
  readonly name: string;
  /** A provider's scheme, `hmac`, or `none` for a source that nobody signs. */
  readonly scheme: string;
  readonly secrets?: readonly string[];
  /** For `hmac`, and what a scheme asks for beyond its secrets (`publicUrl`, PayPal's `webhookId`). */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly tenant?: string;
  readonly dedup?: DedupRule;
  /** How long a duplicate is known, in seconds. */
  readonly windowS?: number;
  /** Where the key stands by which its events are in order. */
  readonly key?: Place | null;
  /** Patterns of headers that are sent on, `*` for any text. */
  readonly forwardHeaders?: readonly string[];
  /** Must be said of a source with the scheme `none`. */
  readonly allowUnverified?: boolean;
}

/** A source, as the API shows it: without its secrets. */
export interface Source extends Required<Omit<SourceInput, "secrets" | "allowUnverified">> {
  /** How many there are; they are never shown. */
  readonly secretCount: number;
  /** Where the provider sends to. */
  readonly path: string;
  /** The address to give to the provider, where the server has a `public_url`; null where not. */
  readonly url: string | null;
  readonly createdAt: string;
}

/** What of a source can be changed; what is left out stays as it is. */
export type SourceUpdate = Partial<Omit<SourceInput, "name">>;

/** An endpoint that is to be made. */
export interface EndpointInput {
  readonly url: string;
  readonly id?: string;
  readonly tenant?: string;
  /** One is made where none is given, and shown once. */
  readonly secrets?: readonly string[];
  readonly sources?: readonly string[];
  readonly types?: readonly string[];
  readonly order?: "key" | "endpoint" | "none";
  readonly dead?: "halt" | "skip" | "park" | null;
  readonly maxInFlight?: number;
  readonly retry?: Readonly<Record<string, unknown>>;
}

/** An endpoint, as the API shows it: without its secrets. */
export interface Endpoint extends Required<Omit<EndpointInput, "secrets">> {
  readonly state: "active" | "paused" | "disabled";
  readonly because: string | null;
  readonly secretCount: number;
  readonly version: number;
}

/** An endpoint that was just made: the only time that a generated secret is shown. */
export interface CreatedEndpoint extends Endpoint {
  readonly secret?: string;
}

/** What of an endpoint can be changed; what is left out stays as it is. */
export type EndpointUpdate = Partial<Omit<EndpointInput, "id" | "tenant">>;

/** An event that could not be given its places, and was set aside so that it stops no other. */
export interface SetAside {
  readonly id: string;
  readonly tenant: string;
  /** Null where somebody has deleted the event. */
  readonly eventId: string | null;
  readonly type: string | null;
  /** Why it could not be given its places. */
  readonly error: string;
  readonly setAsideAt: string;
}

/** What became of an event that was set aside. */
export interface RedrivenEvent {
  /** `event_missing`: somebody has deleted the event; it is listed no more. */
  readonly result: "staged" | "event_missing";
}

/** What a test sends; a type and data of its own where nothing is given. */
export interface TestInput {
  readonly type?: string;
  readonly data?: unknown;
}

/** What an endpoint answered to a test. */
export interface TestSend {
  /** The id under which the receiver saw it. */
  readonly eventId: string;
  readonly outcome: string;
  readonly status: number | null;
  readonly error: string | null;
  readonly detail: string | null;
  readonly durationMs: number;
  /** The first bytes of the answer, as base64. */
  readonly answer: string | null;
}

/** An event that is to be published. */
export interface EventInput {
  readonly type: string;
  readonly data?: unknown;
  /** Exact bytes instead, as base64. */
  readonly body?: string;
  readonly contentType?: string;
  readonly key?: string;
  readonly id?: string;
  readonly tenant?: string;
  readonly source?: string;
  readonly time?: string;
  readonly deliverAt?: string;
  readonly expiresAt?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Under which id an event was published, and whether it was known. */
export interface PublishedEvent {
  readonly id: string;
  readonly duplicate: boolean;
}

/** An event in a list. */
export interface EventSummary {
  readonly id: string;
  readonly tenant: string;
  readonly source: string;
  readonly type: string;
  readonly key: string | null;
  readonly time: string;
  readonly contentType: string;
  readonly bodyBytes: number;
  /** `in`: from a source. `out`: published. */
  readonly direction: "in" | "out";
  /** When it was stored. */
  readonly writtenAt: string;
  /** The id that its provider gave it. */
  readonly providerId: string | null;
  /** The key that verified its signature. */
  readonly verifiedBy: string | null;
  /** The event whose handler published it. */
  readonly causedBy: string | null;
  readonly deliverAt: string | null;
  readonly expiresAt: string | null;
}

/** An event with its headers and deliveries; its bytes are asked for apart. */
export interface EventDetail extends EventSummary {
  readonly headers: Readonly<Record<string, string>>;
  readonly deliveries: readonly Delivery[];
}

/** One event on its way to one endpoint, and how it stands. */
export interface Delivery {
  readonly id: string;
  readonly eventId: string;
  readonly endpointId: string;
  readonly tenant: string;
  readonly type: string;
  readonly laneId: string | null;
  readonly key: string | null;
  readonly sequence: string | null;
  readonly round: number;
  readonly state: "waiting" | "under_way" | "retrying" | "delivered" | "dead" | "cancelled";
  readonly because: string | null;
  readonly attempts: number;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly lastAttemptAt: string | null;
  readonly dueInMs: number | null;
}

/** One attempt to deliver. */
export interface Attempt {
  readonly round: number;
  readonly number: number;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly outcome: string;
  readonly status: number | null;
  readonly error: string | null;
  /** As base64. */
  readonly answer: string | null;
  /** Where it went and how it got there; null where nobody knows, and of handlers. */
  readonly sent: AttemptSent | null;
}

/** Where an attempt went, and how it got there. */
export interface AttemptSent {
  readonly url: string;
  /** The address that was reached; null where no connection stood. */
  readonly address: string | null;
  /** As they were sent, without what could be used again; kept of attempts that were not acknowledged. */
  readonly headers: Readonly<Record<string, string>> | null;
  /** By step, in milliseconds: `dnsMs`, `connectMs`, `tlsMs`, `firstByteMs`, `totalMs`. A connection that stood already has no first three. */
  readonly timings: Readonly<Record<string, number>>;
  /** Failures of one cause have the same. */
  readonly fingerprint: string | null;
}

/** A lane in which something waits. */
export interface Lane {
  readonly id: string;
  readonly tenant: string;
  readonly endpointId: string;
  readonly key: string;
  readonly state: "flowing" | "halted" | "parked" | "retrying" | "paused" | "disabled";
  readonly depth: string;
  readonly head: string;
  /** The delivery at its head, `dlv_…`. */
  readonly headId: string;
  readonly failures: number;
  readonly blockedMs: number | null;
  readonly dueInMs: number | null;
}

/** A delivery that was given up. */
export interface DeadLetter {
  readonly id: string;
  /** Null where its event has no key. */
  readonly laneId: string | null;
  readonly tenant: string;
  readonly endpointId: string;
  readonly key: string | null;
  readonly sequence: string | null;
  readonly eventId: string;
  readonly type: string;
  readonly round: number;
  readonly because: string;
  readonly diedAt: string;
  readonly attempts: number;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  /** Whether its lane waits for it. */
  readonly blocks: boolean;
}

/** Where a redriven delivery is now. */
export interface Redriven {
  /** `in_place`: at the head of its lane, which had waited for it. `at_end`: the lane had gone on without it. */
  readonly result: "in_place" | "at_end";
}

/** Which head is to be skipped. */
export interface SkipInput {
  /** The sequence of the head that is meant, decimal. */
  readonly head: string;
}

/** What a retry came to. */
export interface Retried {
  /** How many deliveries are due now that had waited for their next attempt. */
  readonly retried: number;
}

/** What became of a skip. */
export interface Skipped {
  /** `intended`: a worker has the head under way, and it is skipped unless that succeeds. */
  readonly result: "skipped" | "intended";
}

/** A request that was refused, and why. */
export interface RejectedRequest {
  readonly id: string;
  readonly source: string;
  readonly receivedAt: string;
  readonly method: string;
  /** Without credentials. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyBytes: number;
  /** The error's code, such as `signature_mismatch`, `conflict` or `body_too_large`. */
  readonly code: string;
  readonly message: string;
  /** Whether it was kept whole, so that it can be taken in again; null in lists. */
  readonly retryable: boolean | null;
  /** What forensics found, one sentence each. */
  readonly diagnosis: readonly string[];
}

/** What came of a rejected request that was taken in again. */
export interface RetakenRequest {
  readonly events: readonly { readonly id: string; readonly verdict: "stored" | "duplicate" | "conflict" }[];
}

/** A token that is to be made. */
export interface TokenInput {
  readonly name: string;
  readonly scope: "read" | "full" | "metrics";
  /** @default never */
  readonly expiresAt?: string;
}

/** A token in a list: never the token itself. */
export interface Token {
  readonly id: string;
  readonly name: string;
  readonly scope: "read" | "full" | "metrics";
  /** The first 12 digits of its SHA-256, in hexadecimal: what a leaked token is known by. */
  readonly fingerprint: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
}

/** A token that was just made: the only time that it is shown. */
export interface CreatedToken extends Token {
  readonly token: string;
}

/** How a browser signs in: with one of the two. */
export interface SessionInput {
  /** `phk_…` */
  readonly token?: string;
  /** Of the link that a start of the server prints. */
  readonly code?: string;
}

/** Who is signed in by a cookie. All else is null where nobody is. */
export interface Session {
  readonly signedIn: boolean;
  /** The token whose rights the session has. */
  readonly tokenId: string | null;
  readonly name: string | null;
  readonly scope: "read" | "full" | "metrics" | null;
  readonly expiresAt: string | null;
}

/** An error of the API, as RFC 9457 says. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** Lower snake case, for programs. */
  readonly code: string;
  /** What the server's log calls this request. */
  readonly requestId?: string;
  /** Which part of the request is wrong: `url`, `0.type`. */
  readonly field?: string;
  /** The ids of the events that are in conflict. */
  readonly ids?: readonly string[];
  /** The sequence at the head of the lane now, where another one was named. */
  readonly head?: string;
}

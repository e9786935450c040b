import type { Clock } from "../clock.js";
import type { DedupRule } from "../dedup-rule.js";
import type { Event, Stamp } from "../event.js";
import type { Observer } from "../observer.js";
import type { PosthornError } from "../posthorn-error.js";
import type { HeaderBag } from "./headers/headers.js";
import type { Algorithm, Key, KeyHint, KeySource } from "./keys/key.js";
import type { Content, Question } from "./crypto/question.js";

/** A request as it came off the wire. */
export interface SignedRequest {
  readonly headers: HeaderBag;
  /**
   * Names and values in turn, as they came off the wire: Node's `rawHeaders`. They show a header that stands twice, where
   * `headers` holds both values joined.
   */
  readonly rawHeaders?: readonly string[] | undefined;
  /** The exact bytes. A parsed object or a decoded text is refused: what was signed is gone by then. */
  readonly body: Uint8Array;
  /** Needed by schemes that sign it (HubSpot). */
  readonly method?: string;
  /** Needed by schemes that sign it (Twilio, Square, HubSpot): absolute, or the path when `publicUrl` is set. */
  readonly url?: string;
}

/** A reply as any framework can send it. */
export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Signatures that the request claims for one content, not yet believed. */
export interface Claim {
  readonly algorithm: Algorithm;
  readonly content: Content;
  readonly signatures: readonly Uint8Array[];
}

/** What a scheme reads from a request before any cryptography. */
export interface Reading {
  readonly claims: readonly Claim[];
  /** The time under the signature, in whole unix seconds; undefined where the scheme signs none. */
  readonly signedAtS?: number;
  /** Which key the request says it needs, for keys that a promise brings. */
  readonly hint?: KeyHint;
  /** What must hold besides a signature: a hash of the body that a signed part of the request names. */
  readonly also?: Question;
  /** What the request claims of order, given the signature that held; only Posthorn's own senders make it. */
  readonly stamp?: (match: Match) => StampClaim | undefined;
}

/** A stamp and the signature that must hold before it is believed. */
export interface StampClaim {
  readonly claim: Claim;
  readonly stamp: Stamp;
}

/** A signature that held. */
export interface Match {
  readonly key: Key;
  readonly keyIndex: number;
  readonly signature: Uint8Array;
}

/** A request that proved where it comes from. */
export interface Verified {
  readonly verifier: Verifier;
  readonly request: SignedRequest;
  /** The key that matched and its place among the given ones: during a rotation, tells who still uses the old secret. */
  readonly key: string;
  readonly keyIndex: number;
  /** The key and the signature that held, for handshakes that answer with the same key. */
  readonly match: Match;
  readonly signedAt: Date | undefined;
  readonly stamp: Stamp | undefined;
}

/** The identity of one event in a verified request. */
export type EventIdentity = {
  readonly [Field in "id" | "type" | "time" | "body"]?: Event[Field] | undefined;
};

/** Where the facts of a scheme come from. */
export type Evidence =
  | { readonly kind: "official_library"; readonly name: string; readonly version: string }
  | { readonly kind: "published_example"; readonly where: string }
  | { readonly kind: "unconfirmed"; readonly why: string };

/** A provider's way of signing, naming and repeating its events: data, plus the little code it needs. */
export interface Scheme {
  /** Lower-case name, the default name of the source. */
  readonly name: string;
  readonly title: string;
  /** What its users have to paste as the secret, for messages and docs/providers.md. */
  readonly secret?: string;
  /** A vector that our code did not compute, or why there is none. */
  readonly evidence?: Evidence;
  /** What the signature covers: without the body, anybody who has one request can forge another. */
  readonly covers: {
    readonly body: boolean;
    readonly url: boolean;
    readonly time: boolean;
    /**
     * False where the id stands in a header that nobody signs: whoever has one request can send it
     * again under a new id, and only the hash of the body can tell. @default true
     */
    readonly id?: boolean;
  };
  /** The headers that prove or name an event, in lower case. A request in which one of them stands twice is refused. */
  readonly headers: readonly string[];
  /** Those of them in which one value may hold a comma and a space. */
  readonly listHeaders?: readonly string[];
  /** Where an event's id, type and time are read, for docs/providers.md. */
  readonly identity?: { readonly id: string; readonly type: string; readonly time: string | undefined };
  /** How far the signed time may be from now; undefined where no time is signed. */
  readonly toleranceS: number | undefined;
  /** How long the provider goes on redelivering by itself, in seconds; 0 = it never does. Dedup must remember longer. */
  readonly retryHorizonS: number;
  /** Whether a redelivery may bring another body under the same id, such as a new time of the attempt. @default false */
  readonly bodyVaries?: boolean;
  /** What makes two deliveries the same event, where its source does not say. @default { by: "id" }; the exact bytes without one */
  readonly dedup?: DedupRule;
  /**
   * Whether its events have no id, and two of them may have the same bytes, because the body has no time either, such as a
   * quantity that changes back. They are then remembered for twice as long as the provider retries, from their first receipt, and no longer.
   * @default false
   */
  readonly bodiesRecur?: boolean;
  /** The largest body that the provider sends, in bytes; undefined where it names none. @default 1 MiB, the receiver's */
  readonly maxBodyBytes?: number;
  /** Whether one request may carry many events. */
  readonly batch: boolean;
  readonly replies: {
    readonly success: Reply;
    /** Makes the provider give up this one event and go on with others; undefined where it knows no such reply. */
    readonly stopEvent?: Reply;
    /** Makes the provider come back later; undefined where 503 with Retry-After is as good as any. */
    readonly slowDown?: Reply;
  };
  /** Reads the request. Throws a PosthornError where something is missing or malformed. */
  read(request: SignedRequest, verifier: Verifier): Reading;
  /**
   * Names the events of a request that was verified. Total: odd bodies yield undefined fields, never a throw.
   * Left out, they are named as in Standard Webhooks (read-events.ts).
   */
  identify?(verified: Verified): readonly EventIdentity[];
  /** The success reply that this request expects; undefined where it is `replies.success`. */
  successFor?(verified: Verified): Reply | undefined;
  /** The reply to a request that only asks whether we are there; undefined for an ordinary one. */
  handshake?(verified: Verified): Reply | Promise<Reply> | undefined;
}

/** A scheme with all that the docs tell of it. */
export type DescribedScheme = Scheme & Required<Pick<Scheme, "secret" | "evidence" | "identity">>;

/** All that verifying asks of a clock. */
export type WallClock = Pick<Clock, "now">;

/** A scheme bound to its keys: made once, checked at construction, used for every request. */
export interface Verifier {
  readonly scheme: Scheme;
  readonly keys: KeySource;
  readonly toleranceS: number | undefined;
  readonly publicUrl: string | undefined;
  readonly requireOrder: boolean;
  readonly clock: WallClock;
  readonly observer: Observer | undefined;
  readonly diagnose: Diagnose | undefined;
}

/** A refused request, with all that forensics may look at. */
export interface Refusal {
  readonly verifier: Verifier;
  readonly request: SignedRequest;
  readonly keys: readonly Key[];
  readonly error: PosthornError;
}

/** Forensics: says what may have gone wrong, as far as it can be seen or proved. Never throws. */
export interface Diagnose {
  (refusal: Refusal): Promise<readonly string[]>;
  /** The same for `verifySync`. */
  sync(refusal: Refusal): readonly string[];
}

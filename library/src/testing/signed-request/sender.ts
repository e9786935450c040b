import { produce } from "#crypto";
import type { KeySet } from "../../signature/keys/key.js";
import type { Content } from "../../signature/crypto/question.js";
import type { Verifier, WallClock } from "../../signature/scheme.js";
import type { VerifierOptions } from "../../signature/verifier.js";

/** An event as a test wants it; what is left out is taken from a sample of the provider's. */
export interface EventWish {
  /** Only where the provider sends one. */
  readonly id?: string;
  readonly type?: string;
  /** When it happened; cut to whole seconds where the provider knows no finer. */
  readonly time?: Date;
  /** Laid over the sample of what the event is about, where the provider has it: Stripe's `data.object`, GitHub's payload. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** An event that is about to be written. */
export interface PlannedEvent {
  /** Undefined where none was asked for and the provider sends none. */
  readonly id: string | undefined;
  readonly type: string;
  readonly time: Date;
  readonly data: Readonly<Record<string, unknown>>;
  /** 32 random hexadecimal digits, for whatever else must differ between two events. */
  readonly nonce: string;
}

/** The one delivery of an event that a request is. */
export interface Attempt {
  readonly at: Date;
  /** A random UUID, for ids and tokens of the delivery. */
  readonly nonce: string;
  readonly signatures: readonly Uint8Array[];
}

/** Headers and body; anything but a text is written as JSON. */
export interface Draft {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Makes one signature. */
export type Sign = (content: Content) => Promise<Uint8Array>;

/** What a provider signs with. */
export interface SigningOptions {
  readonly secrets: readonly string[];
  readonly clock: WallClock;
  readonly webhookId: string | undefined;
  readonly certificate: string | undefined;
}

/** A scheme that can read requests, and one function for each secret that signs them. */
export interface BoundSender {
  readonly verifier: Verifier;
  readonly signers: readonly Sign[];
}

/**
 * How one provider's requests look. What is signed is not said here: the scheme's own `read` says it, of the request
 * with blank signatures, so that the two cannot drift apart.
 */
export interface Sender {
  /** The type of event that is sent unless another is asked for. */
  readonly type: string;
  /** An id as the provider makes them; left out where it sends none. */
  readonly id?: (nonce: string) => string;
  /** Whether all secrets sign at once, as during a rotation. @default false */
  readonly signsWithAll?: boolean;
  bind(options: SigningOptions): BoundSender;
  /** Writes the request; called twice, first with blank signatures. */
  write(event: PlannedEvent, attempt: Attempt): Draft;
  /** The body of a request with many events, where the provider sends such. */
  batch?(events: readonly PlannedEvent[]): unknown;
  /** Headers that are computed of the written body, where a hash of it is signed. */
  digest?(body: Uint8Array): Promise<Readonly<Record<string, string>>>;
  /** The URL that the provider calls, where it adds to the configured one. */
  address?(url: string, body: Uint8Array): Promise<string>;
}

/** Binds a scheme whose secret both signs and verifies. */
export function bySecret(create: (options: VerifierOptions) => Verifier): Sender["bind"] {
  return ({ secrets, clock }) => {
    const verifier = create({ secrets, clock });
    // Made of `secrets`, so they are here and no promise.
    const { keys } = verifier.keys as KeySet;
    return { verifier, signers: keys.map((key) => (content) => produce(key, content)) };
  };
}

/** The two halves of a type such as `issues.opened`; the second is undefined where there is no full stop. */
export function splitType(type: string): readonly [subject: string, action: string | undefined] {
  const stop = type.indexOf(".");
  return stop < 0 ? [type, undefined] : [type.slice(0, stop), type.slice(stop + 1)];
}

/** A UUID of 32 hexadecimal digits. */
export function uuidOf(nonce: string): string {
  return nonce.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Whole unix seconds. */
export function unixSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}

/** A safe whole number above zero. */
export function numberOf(nonce: string): number {
  return Number.parseInt(nonce.slice(0, 12), 16) + 1;
}

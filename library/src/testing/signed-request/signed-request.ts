import { equalBytes, utf8 } from "../../bytes.js";
import type { Event } from "../../event.js";
import { PosthornError } from "../../posthorn-error.js";
import { Key } from "../../signature/keys/key.js";
import type { Content } from "../../signature/crypto/question.js";
import { readEvents } from "../../signature/read-events.js";
import type { Verifier, WallClock } from "../../signature/scheme.js";
import type { SignatureErrorCode } from "../../signature/signature-errors.js";
import { WALL_CLOCK } from "../../signature/verifier.js";
import { TEST_SECRETS } from "./fixture-keys.js";
import type { ProviderName } from "./provider-name.js";
import type { Attempt, EventWish, PlannedEvent, Sender } from "./sender.js";
import { SENDERS } from "./senders.js";

/** What a signed request can be told. */
export interface SignedRequestOptions extends EventWish {
  /**
   * What the provider signs with: its secret, or its private key (Discord: the seed in hexadecimal; SendGrid and
   * PayPal: PKCS #8 in PEM). Several, where it signs with old and new during a rotation. @default TEST_SECRETS
   */
  readonly secrets?: string | readonly string[];
  /** Many events in one request, where the provider sends such: HubSpot, SendGrid, Twilio's Event Streams. */
  readonly events?: readonly EventWish[];
  /** Exact bytes instead of a sample: a handshake, an empty batch. */
  readonly body?: string | Uint8Array;
  /** More headers, laid over the provider's. */
  readonly headers?: Readonly<Record<string, string>>;
  /** @default "POST" */
  readonly method?: string;
  /** The URL as the provider has it, which some sign. @default "https://example.com/webhooks/" and the provider */
  readonly url?: string;
  /** The time of the delivery. @default the system's clock */
  readonly clock?: WallClock;
  /** PayPal's: the webhook's id is part of what is signed. @default TEST_WEBHOOK_ID */
  readonly webhookId?: string;
  /** PayPal's: the certificate that goes with the key; a pair that does not match is refused here. */
  readonly certificate?: string;
}

/** A request as it would come off the wire: for `verify`, `receiver.receive`, or `new Request(request.url, request)`. */
export interface TestRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

/**
 * Makes a request that the provider's verifier accepts and that names the event that was asked for. Throws where
 * the provider cannot carry what was asked for, an id in Zoom's events for instance.
 *
 * @example
 * const request = await signedRequest("stripe", { secrets: "whsec_test", type: "invoice.paid", data: { id: "in_7" } });
 * const reply = await receiver.receive("stripe", request);
 */
export async function signedRequest(
  provider: ProviderName,
  options: SignedRequestOptions = {},
): Promise<TestRequest> {
  const sender = senderOf(provider);
  const { verifier, signers } = sender.bind({
    secrets: secretsOf(provider, sender, options),
    clock: options.clock ?? WALL_CLOCK,
    webhookId: options.webhookId,
    certificate: options.certificate,
  });
  const letter = plan(provider, sender, options);
  const blank = await write(
    letter,
    signers.map(() => new Uint8Array(64)),
  );
  const content = contentOf(verifier, blank);
  const signatures = await Promise.all(signers.map((sign) => sign(content)));
  const request = await write(letter, signatures);
  checkSigned(verifier, request, signatures);
  checkIdentities(verifier, request, options);
  return request;
}

function senderOf(provider: ProviderName): Sender {
  if (Object.hasOwn(SENDERS, provider)) return SENDERS[provider];
  throw invalid(`There is no provider "${provider}"; there are ${Object.keys(SENDERS).join(", ")}.`);
}

function secretsOf(
  provider: ProviderName,
  sender: Sender,
  { secrets = TEST_SECRETS[provider].signing }: SignedRequestOptions,
): readonly string[] {
  const list = typeof secrets === "string" ? [secrets] : secrets;
  if (list.length <= 1 || sender.signsWithAll === true) return list;
  throw invalid(`${list.length} secrets are given, but ${provider} signs with one at a time.`);
}

/** All that a request is made of but its signatures. */
interface Letter {
  readonly sender: Sender;
  readonly options: SignedRequestOptions;
  readonly url: string;
  readonly event: PlannedEvent;
  readonly events: readonly PlannedEvent[] | undefined;
  readonly attempt: Omit<Attempt, "signatures">;
}

function plan(provider: ProviderName, sender: Sender, options: SignedRequestOptions): Letter {
  if (options.events !== undefined && sender.batch === undefined) {
    throw invalid(`\`events\` is given, but ${provider} sends one event in each request.`);
  }
  const at = new Date((options.clock ?? WALL_CLOCK).now());
  return {
    sender,
    options,
    url: options.url ?? `https://example.com/webhooks/${provider}`,
    event: planEvent(sender, options, at),
    events: options.events?.map((wish) => planEvent(sender, wish, at)),
    attempt: { at, nonce: crypto.randomUUID() },
  };
}

function planEvent(sender: Sender, wish: EventWish, at: Date): PlannedEvent {
  const nonce = crypto.randomUUID().replaceAll("-", "");
  return {
    id: wish.id ?? sender.id?.(nonce),
    type: wish.type ?? sender.type,
    time: wish.time ?? new Date(Math.floor(at.getTime() / 1000) * 1000),
    data: wish.data ?? {},
    nonce,
  };
}

async function write(letter: Letter, signatures: readonly Uint8Array[]): Promise<TestRequest> {
  const { sender, options, event, events, attempt } = letter;
  const draft = sender.write(event, { ...attempt, signatures });
  const content = options.body ?? (events === undefined ? draft.body : sender.batch?.(events));
  const body = bytesOf(content);
  const form = typeof content === "string" && options.body === undefined;
  return {
    method: options.method ?? "POST",
    url: (await sender.address?.(letter.url, body)) ?? letter.url,
    headers: {
      "content-type": form ? "application/x-www-form-urlencoded" : "application/json",
      ...draft.headers,
      ...(await sender.digest?.(body)),
      ...options.headers,
    },
    body,
  };
}

function bytesOf(content: unknown): Uint8Array<ArrayBuffer> {
  if (content instanceof Uint8Array) return new Uint8Array(content);
  return utf8(typeof content === "string" ? content : JSON.stringify(content));
}

function contentOf(verifier: Verifier, request: TestRequest): Content {
  // Where there are several claims they are one content for keys of two kinds, or one URL in two writings.
  return verifier.scheme.read(request, verifier).claims[0]?.content ?? [];
}

/** A given body may leave no place for a signature that stands in the body, and would be refused for it. */
function checkSigned(verifier: Verifier, request: TestRequest, signatures: readonly Uint8Array[]): void {
  const claimed = verifier.scheme.read(request, verifier).claims.flatMap((claim) => claim.signatures);
  if (signatures.every((made) => claimed.some((found) => equalBytes(found, made)))) return;
  throw invalid(
    `${verifier.scheme.title} has its signature in the body or in a header that you gave: leave that out.`,
  );
}

const NO_KEY = new Key("sha256", "none", new Uint8Array());

/** What the provider cannot carry must not be asked for in vain: the test would look for an event that never comes. */
function checkIdentities(verifier: Verifier, request: TestRequest, options: SignedRequestOptions): void {
  const match = { key: NO_KEY, keyIndex: 0, signature: new Uint8Array() };
  const proof = { key: "none", keyIndex: 0, match, signedAt: undefined, stamp: undefined };
  const found = readEvents({ verifier, request, ...proof });
  const wishes = options.events ?? [options];
  for (const [index, wish] of wishes.entries()) {
    const event = found[index];
    const missed = missedWish(wish, event);
    if (missed === undefined) continue;
    const says = event === undefined ? "holds no such event" : `says ${String(event[missed] ?? "nothing")}`;
    throw invalid(
      `The ${missed} ${String(wish[missed])} was asked for, but ${verifier.scheme.title} cannot carry it as given: ` +
        `the request ${says}. docs/providers.md tells where each stands.`,
    );
  }
}

function missedWish(wish: EventWish, event: Event | undefined): "id" | "type" | "time" | undefined {
  if (wish.id !== undefined && wish.id !== event?.id) return "id";
  if (wish.type !== undefined && wish.type !== event?.type) return "type";
  if (wish.time === undefined) return undefined;
  const differenceMs = Math.abs(wish.time.getTime() - (event?.time?.getTime() ?? Number.NaN));
  return differenceMs < 1000 ? undefined : "time";
}

function invalid(message: string): PosthornError<SignatureErrorCode> {
  return new PosthornError("option_invalid", message);
}

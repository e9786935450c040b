import { contentRule, dedupFault } from "../dedup-rule.js";
import type { DedupRule } from "../dedup-rule.js";
import { LARGEST_SEQUENCE } from "../hold-mark.js";
import { unknownOption } from "../known-options.js";
import type { OptionNames } from "../known-options.js";
import type { Observer } from "../observer.js";
import { notify } from "../observer.js";
import { parsePlace } from "../place.js";
import type { Place, PlaceOption } from "../place.js";
import { PosthornError } from "../posthorn-error.js";
import { diagnose } from "../signature/forensics/forensics.js";
import type { Scheme, Verifier } from "../signature/scheme.js";
import type { InboxErrorCode } from "./inbox-errors.js";
import type { NamingRule } from "./arrival/names.js";

/** What a source can be told besides its verifier. */
export interface SourceOptions {
  readonly verifier: Verifier;
  /** Whose events these are. @default "default" */
  readonly tenant?: string;
  /**
   * What makes two deliveries the same event: its id, its content, or either of them. `both` needs `mode: "store_first"`.
   * @default { by: "id" }; its exact bytes where it has no id, or what the provider's scheme says
   *
   * @example
   * { verifier, dedup: { by: "content", content: "json", exclude: ["/sent_at"] } }
   */
  readonly dedup?: DedupRule;
  /** How long an event is remembered after its last receipt, in seconds. @default 14 days, or as long as the provider retries; less where bodies recur */
  readonly windowS?: number | "forever";
  /** What to do with an event that happened before the window began: it may have been applied and forgotten. @default "reject_stale" */
  readonly stale?: "reject_stale" | "accept";
  /**
   * What orders its events where they are stored first: those with the same value are handled one after the other. The
   * value is kept with the event as it is, also of a header that is itself left out of what is kept, as a credential is.
   * @default none: handlers of different events run side by side
   *
   * @example
   * { verifier: stripe({ secrets }), key: { json: "/data/object/customer" } }
   */
  readonly key?: PlaceOption;
  /** What happens to events that come before their turn; needs `mode: "store_first"`. @default they are handled as they come */
  readonly order?: OrderOptions;
}

/**
 * Holds an event of a key until those before it have come, or until it was waited for long enough: a signed sequence of a
 * Posthorn sender, or one that a provider writes into its events.
 */
export interface OrderOptions {
  readonly policy: "hold";
  /** How many events of a key are held at most; with one more, the first gap is given up. @default 100 */
  readonly maxEvents?: number;
  /** How long an event is held at most, in milliseconds. @default 60,000 */
  readonly maxMs?: number;
  /**
   * Where a whole number stands that grows by 1 with each event of a `key`. @default the signed stamp of a Posthorn sender,
   * whose key is the event's key then
   */
  readonly sequence?: PlaceOption;
  /**
   * With which event a key starts of which nothing is known, so that its first events are put in order, too: the first
   * number of `sequence`, or `"signed"` for the event that the Posthorn sender has signed as the first of its lane. An event
   * of a key that began before is held for `maxMs` then, once: when the receiver is new, or has forgotten the key.
   * @default a key starts with whatever comes first
   */
  readonly first?: number | bigint | "signed";
}

/** The same, checked. */
export interface HoldRule {
  readonly maxEvents: number;
  readonly maxMs: number;
  /** Undefined: the sender's stamp. */
  readonly sequence: Place | undefined;
  /** Undefined: a key starts with whatever comes first. */
  readonly first: bigint | "signed" | undefined;
}

/** A source, checked. */
export interface Source {
  readonly name: string;
  readonly verifier: Verifier;
  readonly tenant: string;
  /** How its events are known again. */
  readonly naming: NamingRule;
  readonly windowS: number | undefined;
  readonly stale: "reject_stale" | "accept";
  /** Whether the signature binds the id and not the body, so that only the first body of an id may ever be applied. */
  readonly firstBodyOnly: boolean;
  readonly key: Place | undefined;
  /** Undefined: events are handled as they come. */
  readonly hold: HoldRule | undefined;
}

const OPTIONS: OptionNames<SourceOptions> = {
  verifier: true,
  tenant: true,
  dedup: true,
  windowS: true,
  stale: true,
  key: true,
  order: true,
};
const ORDER: OptionNames<OrderOptions> = {
  policy: true,
  maxEvents: true,
  maxMs: true,
  sequence: true,
  first: true,
};
const DEDUP = { by: true, content: true, include: true, exclude: true };
const PLACE = { header: true, json: true };

const LEAST_DEFAULT_WINDOW_S = 14 * 24 * 3600;

/**
 * How long events of a scheme are remembered unless somebody says otherwise: never less than its provider retries. Where bodies
 * without id and time recur, nothing but the time tells a retry from a new event, so there it is hardly more.
 */
export function defaultWindowS({
  retryHorizonS,
  bodiesRecur = false,
}: Pick<Scheme, "retryHorizonS" | "bodiesRecur">): number {
  return bodiesRecur ? 2 * retryHorizonS : Math.max(LEAST_DEFAULT_WINDOW_S, retryHorizonS);
}

/** Why a window is too short for the events of a scheme; undefined when it is long enough. */
export function windowFault(
  windowS: number,
  { retryHorizonS, title }: Pick<Scheme, "retryHorizonS" | "title">,
): string | undefined {
  if (windowS >= retryHorizonS) return undefined;
  return (
    `is ${windowS} s, but ${title} redelivers for up to ${retryHorizonS} s: an event would be forgotten and then ` +
    `taken for a new one. Set at least ${retryHorizonS}`
  );
}

/** Checks a source once. A window that ends while the provider may still redeliver is refused: the event would be applied twice. */
export function createSource(
  name: string,
  given: Verifier | SourceOptions,
  observer: Observer | undefined,
): Source {
  const options = checkedOptions(name, given);
  const { verifier, stale = "reject_stale" } = options;
  const windowS = options.windowS ?? defaultWindowS(verifier.scheme);
  if (!/^[a-z0-9_-]{1,64}$/i.test(name)) {
    throw invalid(
      "inbox_option_invalid",
      `The source's name "${name}" must be 1 to 64 letters, digits, "_" or "-".`,
    );
  }
  if (windowS !== "forever") checkWindow(name, windowS, verifier);
  const { covers, title } = verifier.scheme;
  const firstBodyOnly = !covers.body && covers.id !== false;
  const dedup = checkedDedup(name, options.dedup ?? verifier.scheme.dedup);
  if (firstBodyOnly && dedup.by !== "id") {
    throw invalid(
      "inbox_option_invalid",
      `dedup of "${name}" is by "${dedup.by}", but ${title} signs the id and not the body: whoever has one request could ` +
        "send any body as a new event. Leave it out.",
    );
  }
  if (
    stale === "reject_stale" &&
    verifier.scheme.identity !== undefined &&
    verifier.scheme.identity.time === undefined
  ) {
    notify(observer, { kind: "stale_untold", source: name });
  }
  return Object.freeze({
    name,
    // A receiver explains its refusals, to its observer, unless the verifier was told otherwise.
    verifier: Object.freeze({
      ...verifier,
      observer: verifier.observer ?? observer,
      diagnose: verifier.diagnose ?? diagnose,
    }),
    tenant: options.tenant ?? "default",
    naming: Object.freeze({
      source: name,
      by: dedup.by,
      content: contentRule(dedup),
      bodyVaries: verifier.scheme.bodyVaries === true,
      ...(verifier.scheme.bodiesRecur === true && { bodiesRecur: true }),
    }),
    windowS: windowS === "forever" ? undefined : windowS,
    stale,
    firstBodyOnly,
    key: checkedKey(name, options.key),
    hold: checkedHold(name, options),
  });
}

/** A secret or the provider's function itself in the place of its verifier. A secret is never shown. */
function checkVerifier(name: string, verifier: unknown): void {
  if (typeof (Object(verifier) as { scheme?: unknown }).scheme === "object") return;
  const found =
    verifier === undefined || typeof verifier === "object" ? "no verifier" : `a ${typeof verifier}`;
  throw invalid(
    "inbox_option_invalid",
    `The source "${name}" is ${found}; expected a verifier, as stripe({ secrets: process.env.STRIPE_WEBHOOK_SECRET }) makes ` +
      "one, or { verifier, … }.",
  );
}

function checkedOptions(name: string, given: Verifier | SourceOptions): SourceOptions {
  const options: SourceOptions =
    "verifier" in Object(given) ? (given as SourceOptions) : { verifier: given as Verifier };
  checkVerifier(name, options.verifier);
  checkNames(name, options, given);
  return options;
}

/** What a compiler refuses, for hosts that have none. */
function checkNames(name: string, options: SourceOptions, given: Verifier | SourceOptions): void {
  const { key, order, dedup } = options;
  const beside = Object.keys(OPTIONS).find((each) => options !== given && Object.hasOwn(given, each));
  const found =
    beside === undefined
      ? (unknownOption(`the source "${name}"`, options, OPTIONS) ??
        unknownOption(`the key of "${name}"`, key, PLACE) ??
        unknownOption(`the order of "${name}"`, order, ORDER) ??
        unknownOption(`the sequence of "${name}"`, order?.sequence, PLACE) ??
        unknownOption(`the dedup of "${name}"`, dedup, DEDUP))
      : `The source "${name}" has "${beside}" inside of its verifier, where it counts for nothing; expected ` +
        `{ verifier: stripe({ … }), ${beside} }.`;
  if (found !== undefined) throw invalid("inbox_option_invalid", found);
}

function checkedDedup(name: string, given: DedupRule = { by: "id" }): DedupRule {
  const wrong = dedupFault(given);
  if (wrong === undefined) return given;
  throw invalid("inbox_option_invalid", `dedup.${wrong.field} of "${name}": ${wrong.fault}.`);
}

function checkedKey(name: string, key: PlaceOption | undefined): Place | undefined {
  const place = key === undefined ? undefined : parsePlace(key);
  if (key === undefined || place !== undefined) return place;
  throw invalid(
    "inbox_option_invalid",
    `key of "${name}" is no place in a request; expected { header: "x-order" } or { json: "/data/id" }.`,
  );
}

// Posthorn's senders sign by it. An order that waits for the stamp of any other would hold nothing, without a word.
const MAY_BE_STAMPED = "standard_webhooks";
const MOST_HELD = 10_000;
const LONGEST_HOLD_MS = 86_400_000;

function checkedHold(name: string, { order, key, verifier }: SourceOptions): HoldRule | undefined {
  if (order === undefined) return undefined;
  const { policy, maxEvents = 100, maxMs = 60_000, sequence } = order;
  const refuse = (found: string): PosthornError<InboxErrorCode> =>
    invalid("inbox_option_invalid", `order of "${name}": ${found}.`);
  // Callers without types can ask for anything.
  if ((policy as string) !== "hold") throw refuse(`policy is ${JSON.stringify(policy)}; expected "hold"`);
  if (!Number.isInteger(maxEvents) || maxEvents < 1 || maxEvents > MOST_HELD)
    throw refuse(`maxEvents is ${maxEvents}; expected a whole number from 1 to ${MOST_HELD}`);
  if (!(Number.isFinite(maxMs) && maxMs > 0 && maxMs <= LONGEST_HOLD_MS))
    throw refuse(`maxMs is ${maxMs}; expected milliseconds above 0, up to ${LONGEST_HOLD_MS}`);
  const place = sequence === undefined ? undefined : parsePlace(sequence);
  if (sequence !== undefined && place === undefined)
    throw refuse('sequence is no place in a request; expected { json: "/seq" } or { header: "x-seq" }');
  if (sequence === undefined && verifier.scheme.name !== MAY_BE_STAMPED)
    throw refuse(
      `${verifier.scheme.title} signs no sequence; add sequence: { json: "…" }, the place of a whole number that grows by 1 ` +
        "with each event of a key, or leave order out where its events have none",
    );
  if (sequence !== undefined && key === undefined)
    throw refuse(
      "sequence counts the events of a key, and there is no `key`: say what its events are counted by",
    );
  return Object.freeze({ maxEvents, maxMs, sequence: place, first: checkedFirst(order, refuse) });
}

function checkedFirst(
  { first, sequence }: OrderOptions,
  refuse: (found: string) => Error,
): HoldRule["first"] {
  if (first === undefined) return undefined;
  if (sequence === undefined) {
    if (first === "signed") return first;
    throw refuse(`first is ${first}, and the sequence is signed; expected "signed"`);
  }
  const isNumber = typeof first === "bigint" || Number.isSafeInteger(first);
  const number = isNumber ? BigInt(first) : -1n;
  if (number < 0n || number > LARGEST_SEQUENCE)
    throw refuse(
      `first is ${JSON.stringify(String(first))}; expected the first number of \`sequence\`, such as 1`,
    );
  return number;
}

function checkWindow(name: string, windowS: number, verifier: Verifier): void {
  if (!Number.isFinite(windowS) || windowS <= 0) {
    throw invalid(
      "inbox_option_invalid",
      `windowS of "${name}" is ${windowS}; expected seconds above 0, or "forever".`,
    );
  }
  const fault = windowFault(windowS, verifier.scheme);
  if (fault !== undefined) throw invalid("window_too_short", `windowS of "${name}" ${fault}.`);
}

function invalid(code: InboxErrorCode, message: string): PosthornError<InboxErrorCode> {
  return new PosthornError(code, message);
}

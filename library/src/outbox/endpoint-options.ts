import { newId } from "../id.js";
import { PosthornError } from "../posthorn-error.js";
import { parseStandardSecret } from "../signature/keys/secret.js";
import { checkRetry, DEFAULT_RETRY } from "../work/retry-policy.js";
import type { RetryOptions } from "../work/retry-policy.js";
import { objectToName, objectToPort } from "../name-and-port-rules.js";
import type { Endpoint, EndpointChange, Order } from "./endpoint.js";
import type { DeadPolicy } from "../lanes/dead.js";
import type { OutboxErrorCode } from "./outbox-errors.js";

/** An endpoint as the host describes it. */
export interface EndpointOptions {
  /** @default a new one, `ep_…` */
  readonly id?: string;
  /** @default "default" */
  readonly tenant?: string;
  readonly url: string;
  /** `whsec_` secrets or `whsk_` keys, one or several; all of them sign. */
  readonly secrets: string | readonly string[];
  /** Patterns of sources: `*` stands for any text. @default ["*"] */
  readonly sources?: readonly string[];
  /** Patterns of event types, as `["order.*", "invoice.paid"]`. @default ["*"] */
  readonly types?: readonly string[];
  /** @default "key" */
  readonly order?: Order;
  /** @default 1 s × 4ⁿ up to 10 h, 15 attempts */
  readonly retry?: RetryOptions;
  /** @default "halt" for events with a key, "skip" without */
  readonly dead?: DeadPolicy;
  /** How many attempts may be under way at once. @default 64 */
  readonly maxInFlight?: number;
}

/** What of an endpoint may be changed by the host. */
export type EndpointUpdate = Partial<Omit<EndpointOptions, "id" | "tenant" | "dead">> & {
  /** null restores the default. */
  readonly dead?: DeadPolicy | null;
};

/** Judges URLs of endpoints: `createAddressGuard` of `posthorn/dispatch` makes one. */
export interface UrlGuard {
  judgeUrl(
    url: string,
  ): { readonly kind: "allowed" } | { readonly kind: "forbidden"; readonly message: string };
}

export interface EndpointRules {
  /** The dispatcher's: what it would refuse at each attempt is refused here. Without it, only public names of https are taken. */
  readonly guard: UrlGuard | undefined;
}

const ORDERS: ReadonlySet<unknown> = new Set(["key", "endpoint", "none"] satisfies Order[]);
const DEAD_POLICIES: ReadonlySet<unknown> = new Set(["halt", "skip", "park"] satisfies DeadPolicy[]);
const MAX_SECRETS = 8;
const MAX_PATTERNS = 100;
const MAX_IN_FLIGHT = 10_000;
const MAX_URL_LENGTH = 2048;

const DEFAULTS = {
  sources: ["*"],
  types: ["*"],
  order: "key",
  retry: DEFAULT_RETRY,
  dead: undefined,
  maxInFlight: 64,
  state: "active",
  because: undefined,
  version: 1,
} as const;

/** Checks an endpoint and completes it. */
export function endpointOf(options: EndpointOptions, nowMs: number, rules: EndpointRules): Endpoint {
  const { id = newId("ep", nowMs), tenant = "default" } = options;
  if (!/^[\w-]{1,64}$/.test(id)) throw invalid("`id` must be 1 to 64 letters, digits, `_` or `-`");
  if (typeof tenant !== "string" || !/^[^\p{Cc}]{1,255}$/u.test(tenant)) {
    throw invalid("`tenant` must be a text of 1 to 255 characters");
  }
  return {
    ...DEFAULTS,
    ...changeOf(options, rules),
    url: checkUrl(options.url, rules),
    secrets: checkSecrets(options.secrets),
    id,
    tenant,
  };
}

/** Checks what is to be changed; a part that is not named stays as it is. */
export function changeOf(update: EndpointUpdate, rules: EndpointRules): EndpointChange {
  const { url, secrets, sources, types, order, retry, dead, maxInFlight } = update;
  return {
    ...(url !== undefined && { url: checkUrl(url, rules) }),
    ...(secrets !== undefined && { secrets: checkSecrets(secrets) }),
    ...(sources !== undefined && { sources: checkPatterns("sources", sources) }),
    ...(types !== undefined && { types: checkPatterns("types", types) }),
    ...(order !== undefined && { order: oneOf("order", order, ORDERS) }),
    ...(retry !== undefined && { retry: checkRetry(retry) }),
    ...(dead !== undefined && { dead: dead === null ? undefined : oneOf("dead", dead, DEAD_POLICIES) }),
    ...(maxInFlight !== undefined && { maxInFlight: checkInFlight(maxInFlight) }),
  };
}

function checkUrl(text: unknown, { guard }: EndpointRules): string {
  const absolute = typeof text === "string" && text.length <= MAX_URL_LENGTH && URL.canParse(text);
  if (!absolute) throw invalid(`\`url\` is no absolute URL of at most ${MAX_URL_LENGTH} characters`);
  const url = new URL(text);
  // They would stand in every log; a receiver that wants them checks the signature instead.
  if (url.username !== "" || url.password !== "") throw invalid("`url` holds a user name or password");
  if (url.protocol !== "https:" && url.protocol !== "http:") throw invalid("`url` must be https");
  const verdict = guard?.judgeUrl(url.href);
  if (verdict?.kind === "forbidden") throw new PosthornError("endpoint_invalid", verdict.message);
  const objection = verdict === undefined ? objectToUrl(url) : undefined;
  if (objection !== undefined) throw invalid(objection);
  // A fragment never reaches the server.
  url.hash = "";
  return url.href;
}

/** Why nobody would deliver to a URL; undefined where a dispatcher does that whose guard has no settings. */
function objectToUrl({ protocol, hostname, port }: URL): string | undefined {
  const name = isAddress(hostname) ? undefined : objectToName(hostname);
  if (name?.local === false) return `\`url\` is of the host ${hostname.slice(0, 64)}: ${name.why}`;
  const onPort = port === "" ? undefined : objectToPort(Number(port));
  const objections = [
    protocol === "http:" && "http can be read by anybody on the way",
    isAddress(hostname) && `${hostname} is an address, which only a guard judges`,
    name !== undefined && `of the host ${hostname.slice(0, 64)}, ${name.why}`,
    onPort !== undefined && `of the port ${port}, ${onPort}`,
  ].filter((each) => each !== false);
  if (objections.length === 0) return undefined;
  // All at once: whoever mends one of them must not meet the next at the next start.
  const settings = [
    protocol === "http:" && "allowHttp: true",
    (isAddress(hostname) || name !== undefined) && `allowAddresses: [${addressesOf(hostname)}]`,
    onPort !== undefined && `allowPorts: [${port}]`,
  ].filter((each) => each !== false);
  return (
    `\`url\` is refused: ${objections.join("; ")}. Where it is meant, give the sender and the dispatcher one \`guard\`: ` +
    `createAddressGuard({ ${settings.join(", ")} })`
  );
}

function isAddress(hostname: string): boolean {
  return /^\[|^[\d.]+$/.test(hostname);
}

/** What `allowAddresses` has to hold, as far as it is known without asking DNS. */
function addressesOf(hostname: string): string {
  if (isAddress(hostname)) return `"${hostname.replace(/^\[|\]$/g, "")}"`;
  return /^(.*\.)?localhost\.?$/.test(hostname) ? '"127.0.0.1", "::1"' : "the addresses that it resolves to";
}

function checkSecrets(given: string | readonly string[]): readonly string[] {
  const secrets = typeof given === "string" ? [given] : given;
  if (!Array.isArray(secrets) || secrets.length === 0 || secrets.length > MAX_SECRETS) {
    throw invalid(`\`secrets\` must hold 1 to ${MAX_SECRETS} secrets, as generateSecret() makes them`);
  }
  secrets.forEach((secret: unknown, index) => {
    const key = parseStandardSecret(typeof secret === "string" ? secret : "", `secrets[${index}]`);
    if (key.algorithm === "ed25519")
      throw invalid(`\`secrets[${index}]\` is a public key, which cannot sign`);
  });
  return Object.freeze([...secrets]);
}

function checkPatterns(field: string, patterns: unknown): readonly string[] {
  const fit =
    Array.isArray(patterns) &&
    patterns.length > 0 &&
    patterns.length <= MAX_PATTERNS &&
    patterns.every((each) => typeof each === "string" && /^[^\p{Cc}]{1,255}$/u.test(each));
  if (!fit) throw invalid(`\`${field}\` must hold 1 to ${MAX_PATTERNS} patterns of 1 to 255 characters`);
  return Object.freeze([...(patterns as string[])]);
}

function oneOf<T>(field: string, value: T, allowed: ReadonlySet<unknown>): T {
  if (allowed.has(value)) return value;
  throw invalid(`\`${field}\` is ${String(value)}; expected one of ${[...allowed].join(", ")}`);
}

function checkInFlight(value: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= MAX_IN_FLIGHT) return value;
  throw invalid(`\`maxInFlight\` is ${String(value)}; expected a whole number from 1 to ${MAX_IN_FLIGHT}`);
}

function invalid(found: string): PosthornError<OutboxErrorCode> {
  return new PosthornError("endpoint_invalid", `The endpoint cannot be used: ${found}.`);
}

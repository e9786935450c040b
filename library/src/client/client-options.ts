import { systemClock } from "../clock.js";
import type { Clock } from "../clock.js";
import { PosthornError } from "../posthorn-error.js";
import type { ClientErrorCode } from "./client-errors.js";

/** What a client needs of `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Where the server is, and who asks. */
export interface ClientOptions {
  /** Of the server, as `http://127.0.0.1:8710`; a path before `/api/v1` is kept. */
  readonly url: string;
  /** `phk_…`. Left out by a page of the server itself, which comes with the cookie of its session. */
  readonly token?: string;
  /** @default the runtime's own */
  readonly fetch?: Fetch;
  /** For one request with its answer. @default 20,000 */
  readonly timeoutMs?: number;
  /** How often a request that changes nothing twice is sent again. @default 2 */
  readonly retries?: number;
  readonly clock?: Clock;
}

export interface ClientSettings {
  /** Without a slash at the end. */
  readonly base: string;
  readonly token: string | undefined;
  readonly fetch: Fetch;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly clock: Clock;
}

const LONGEST_TIMEOUT_MS = 600_000;
const MOST_RETRIES = 10;

/** Checks options once, where they are handed in. */
export function checkClientOptions(options: ClientOptions): ClientSettings {
  const { timeoutMs = 20_000, retries = 2, clock = systemClock } = options;
  return Object.freeze({
    base: checkUrl(options.url),
    token: checkToken(options.token),
    // Called as a function of its own: browsers refuse `fetch` with another `this`.
    fetch: options.fetch ?? ((url: string, init: RequestInit) => fetch(url, init)),
    timeoutMs: whole("timeoutMs", timeoutMs, 1, LONGEST_TIMEOUT_MS),
    retries: whole("retries", retries, 0, MOST_RETRIES),
    clock,
  });
}

function checkUrl(text: unknown): string {
  const url = typeof text === "string" && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw invalid("`url` must be the server's address, as http://127.0.0.1:8710");
  }
  if (url.username !== "" || url.password !== "") {
    throw invalid("`url` holds a user name or password; the server knows tokens only");
  }
  return url.origin + url.pathname.replace(/\/+$/, "").replace(/\/api\/v1$/, "");
}

function checkToken(token: unknown): string | undefined {
  if (token === undefined) return undefined;
  // The error of a header that cannot be written would show the token.
  if (typeof token === "string" && /^[\x21-\x7e]{1,255}$/.test(token)) return token;
  throw invalid("`token` must be a text of visible ASCII characters, as the server printed it");
}

function whole(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw invalid(`\`${name}\` is ${String(value)}; expected a whole number from ${least} to ${most}`);
}

function invalid(found: string): PosthornError<ClientErrorCode> {
  return new PosthornError("api_option_invalid", `The client cannot be made: ${found}.`);
}

import { timingSafeEqual } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ServerParts } from "../../parts.js";
import type { TokenRecord } from "../../store/token.js";
import { FailedTokens } from "./failed-tokens.js";
import { tokenHash } from "./new-token.js";
import { problem } from "../problem.js";
import type { SessionCheck } from "./session-check.js";
import { readCookie, writeCookie } from "./session-cookie.js";
import { checkSessionWrite } from "./session-writes.js";

/** What a request may do. */
export type Scope = TokenRecord["scope"];

export type TokenCheckParts = Pick<ServerParts, "registry" | "clock" | "settings" | "metrics" | "log">;

/** What each scope is enough for. */
const REACHES: Readonly<Record<Scope, ReadonlySet<Scope>>> = {
  full: new Set(["full", "read", "metrics"]),
  read: new Set(["read", "metrics"]),
  metrics: new Set(["metrics"]),
};

interface Known {
  readonly token: TokenRecord;
  readonly foundMs: number;
}

// A token revoked on another node works here this much longer.
const CACHE_MS = 3000;
// Prometheus reads what is wrong while the database is away, which is when it matters.
const METRICS_CACHE_MS = 3_600_000;
const MOST_CACHED = 1000;
const TOUCH_MS = 60_000;

/** Finds the token of a request. A cache of a few seconds saves a query per call. */
export class TokenCheck {
  readonly #parts: TokenCheckParts;
  readonly #failed: FailedTokens;
  readonly #known = new Map<string, Known>();
  readonly #touched = new Map<string, number>();

  constructor(parts: TokenCheckParts) {
    this.#parts = parts;
    this.#failed = new FailedTokens(parts.settings.failedTokensPerMinute, () => parts.clock.monotonic());
  }

  /** Returns the token if it is valid and its scope is enough; throws the problem to answer otherwise. */
  async require(authorization: string | undefined, address: string, needed: Scope): Promise<TokenRecord> {
    return this.allow(await this.#find(authorization, address, needed), needed);
  }

  /** A token that was found to be valid, if its scope is enough. */
  allow(token: TokenRecord, needed: Scope): TokenRecord {
    if (!REACHES[token.scope].has(needed)) {
      const may = token.scope === "metrics" ? "only see /metrics" : "only read";
      throw problem(
        "forbidden",
        `The token ${token.name} may ${may}; this call needs one with the scope ${needed}.`,
      );
    }
    this.#touch(token);
    return token;
  }

  /** The token that another proof leads to; a wrong proof counts as a wrong token does. */
  async limited(address: string, find: () => Promise<TokenRecord | undefined>): Promise<TokenRecord> {
    this.#checkRate(address);
    const token = await find();
    if (token !== undefined) return token;
    this.#failed.count(address);
    this.#parts.metrics.tokenRefused();
    throw unauthorised(
      "The link was used, or is too old. Start the server again for a new one, or use a token.",
    );
  }

  #checkRate(address: string): void {
    const waitS = this.#failed.waitS(address);
    if (waitS === 0) return;
    throw problem("too_many_failures", `Too many wrong tokens came from this address. Wait ${waitS} s.`, {
      retryAfterS: waitS,
    });
  }

  /** Clears the cache after a change on this node: a revoked token stops working here at once. */
  forget(): void {
    this.#known.clear();
  }

  async #find(authorization: string | undefined, address: string, needed: Scope): Promise<TokenRecord> {
    const [, text] = /^Bearer ([\x21-\x7e]{1,255})$/i.exec(authorization ?? "") ?? [];
    // Not counted as a guess: a browser without a token must not lock out its owner.
    if (text === undefined) throw unauthorised("Send a token: `Authorization: Bearer phk_…`.");
    const hash = tokenHash(text);
    const key = Buffer.from(hash).toString("base64");
    const cached = this.#cached(key, CACHE_MS);
    if (cached !== undefined && this.#isValid(cached, hash)) return cached;
    this.#checkRate(address);
    const found = await this.#parts.registry.findToken(hash).catch((error: unknown) => {
      const known = needed === "metrics" ? this.#cached(key, METRICS_CACHE_MS) : undefined;
      if (known === undefined) throw error;
      return known;
    });
    if (found === undefined || !this.#isValid(found, hash)) throw this.#refuse(address, found);
    if (this.#known.get(key)?.token !== found) this.#remember(key, found);
    return found;
  }

  #cached(key: string, withinMs: number): TokenRecord | undefined {
    const known = this.#known.get(key);
    const isYoung = known !== undefined && known.foundMs + withinMs > this.#parts.clock.monotonic();
    return isYoung ? known.token : undefined;
  }

  /** Compares the hash again, in constant time: a store that matches by prefix or ignores case must not let anybody in. */
  #isValid({ hash, expiresAt }: TokenRecord, given: Uint8Array): boolean {
    const same = hash.length === given.length && timingSafeEqual(hash, given);
    return same && (expiresAt === undefined || expiresAt.getTime() > this.#parts.clock.now());
  }

  #refuse(address: string, found: TokenRecord | undefined): Error {
    this.#failed.count(address);
    this.#parts.metrics.tokenRefused();
    this.#parts.log.warn(
      { address, token: found?.id },
      found === undefined ? "token unknown" : "token expired",
    );
    return unauthorised(
      found === undefined
        ? "The token is not known here."
        : `The token ${found.name} has expired; make a new one.`,
    );
  }

  #remember(key: string, token: TokenRecord): void {
    if (this.#known.size >= MOST_CACHED) this.#known.clear();
    this.#known.set(key, { token, foundMs: this.#parts.clock.monotonic() });
  }

  #touch({ id }: TokenRecord): void {
    const { clock, registry, log } = this.#parts;
    const nowMs = clock.monotonic();
    if (nowMs - (this.#touched.get(id) ?? -Infinity) < TOUCH_MS) return;
    if (this.#touched.size >= MOST_CACHED) this.#touched.clear();
    this.#touched.set(id, nowMs);
    // Not awaited: only a column for people depends on it.
    registry.touchToken(id, new Date(clock.now())).catch((error: unknown) => {
      log.debug({ err: error, token: id }, "the time of use was not written");
    });
  }
}

const tokens = new WeakMap<FastifyRequest, TokenRecord>();

/**
 * A hook that runs before the body is read. GET and HEAD need `read`, all else needs `full`. With `sessions`, a browser
 * without a token may send the cookie of its session instead.
 */
export function tokenHook(
  check: TokenCheck,
  sessions?: SessionCheck,
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  return async (request, reply) => {
    const { authorization } = request.headers;
    const needed: Scope = request.method === "GET" || request.method === "HEAD" ? "read" : "full";
    const cookie = authorization === undefined && sessions !== undefined ? readCookie(request) : undefined;
    if (cookie === undefined || sessions === undefined) {
      tokens.set(request, await check.require(authorization, request.ip, needed));
      return;
    }
    if (needed === "full") checkSessionWrite(request);
    const open = await sessions.find(cookie, request.ip);
    if (open === undefined) {
      writeCookie(reply, "", 0);
      throw problem("unauthorised", "The session has ended. Sign in again.");
    }
    tokens.set(request, check.allow(open.token, needed));
  };
}

/** Whether a request that goes on for long may go on: its token or session may have ended since. */
export async function isStillAllowed(
  request: FastifyRequest,
  check: TokenCheck,
  sessions: SessionCheck,
): Promise<boolean> {
  const { authorization } = request.headers;
  if (authorization !== undefined) {
    return check.require(authorization, request.ip, "read").then(
      () => true,
      () => false,
    );
  }
  return (await sessions.find(readCookie(request) ?? "", request.ip)) !== undefined;
}

/** A hook for what Prometheus reads: a token of any scope is enough. */
export function metricsHook(check: TokenCheck): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    tokens.set(request, await check.require(request.headers.authorization, request.ip, "metrics"));
  };
}

/** The token of a request that has passed the hook. */
export function tokenOf(request: FastifyRequest): TokenRecord {
  const token = tokens.get(request);
  if (token === undefined) throw new Error(`${request.url} is not behind tokenHook`);
  return token;
}

function unauthorised(message: string): Error {
  return problem("unauthorised", message);
}

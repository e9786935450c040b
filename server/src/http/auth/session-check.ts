import { randomBytes, timingSafeEqual } from "node:crypto";
import type { ServerParts } from "../../parts.js";
import type { OpenSession } from "../../store/session.js";
import type { TokenRecord } from "../../store/token.js";
import { problem } from "../problem.js";
import { FailedTokens } from "./failed-tokens.js";
import { tokenHash } from "./new-token.js";

type SessionCheckParts = Pick<ServerParts, "registry" | "clock" | "settings">;

/** How long a browser stays signed in. */
export const SESSION_S = 12 * 3600;

// As for tokens: one that was ended on another node works this much longer.
const CACHE_MS = 3000;
const MOST_CACHED = 1000;
const SESSION_BYTES = 32;

interface Known {
  readonly found: OpenSession;
  readonly untilMs: number;
}

/** Opens sessions, finds them by what a cookie holds, and ends them. */
export class SessionCheck {
  readonly #parts: SessionCheckParts;
  // Apart from wrong tokens: the tabs of a browser whose session has ended must not lock out their owner's token.
  readonly #failed: FailedTokens;
  readonly #known = new Map<string, Known>();

  constructor(parts: SessionCheckParts) {
    this.#parts = parts;
    this.#failed = new FailedTokens(parts.settings.failedTokensPerMinute, () => parts.clock.monotonic());
  }

  /** Returns what the cookie is to hold. It is kept nowhere. */
  async open(token: Pick<TokenRecord, "id">): Promise<string> {
    const { clock, registry } = this.#parts;
    const value = randomBytes(SESSION_BYTES).toString("base64url");
    const createdAt = new Date(clock.now());
    const expiresAt = new Date(createdAt.getTime() + SESSION_S * 1000);
    await registry.addSession({ hash: tokenHash(value), tokenId: token.id, createdAt, expiresAt });
    return value;
  }

  /** The session, as long as it and its token are valid. */
  async find(value: string, address: string): Promise<OpenSession | undefined> {
    if (!/^[\w-]{43}$/.test(value)) return undefined;
    const hash = tokenHash(value);
    const key = Buffer.from(hash).toString("base64");
    const known = this.#known.get(key);
    const cached =
      known !== undefined && known.untilMs > this.#parts.clock.monotonic() ? known.found : undefined;
    if (cached !== undefined && this.#isValid(cached, hash)) return cached;
    const waitS = this.#failed.waitS(address);
    if (waitS > 0) {
      throw problem("too_many_failures", `Too many ended sessions came from this address. Wait ${waitS} s.`, {
        retryAfterS: waitS,
      });
    }
    const found = await this.#parts.registry.findSession(hash);
    if (found === undefined || !this.#isValid(found, hash)) {
      this.#failed.count(address);
      return undefined;
    }
    if (this.#known.size >= MOST_CACHED) this.#known.clear();
    this.#known.set(key, { found, untilMs: this.#parts.clock.monotonic() + CACHE_MS });
    return found;
  }

  async end(value: string): Promise<void> {
    this.forget();
    await this.#parts.registry.removeSession(tokenHash(value));
  }

  /** After a change on this node: what a revoked token had opened must not work here for another moment. */
  forget(): void {
    this.#known.clear();
  }

  /** The hash is compared once more, in constant time, as that of a token is. */
  #isValid({ session, token }: OpenSession, hash: Uint8Array): boolean {
    const nowMs = this.#parts.clock.now();
    const same = session.hash.length === hash.length && timingSafeEqual(session.hash, hash);
    const tokenEndsMs = token.expiresAt?.getTime() ?? Infinity;
    return same && session.expiresAt.getTime() > nowMs && tokenEndsMs > nowMs;
  }
}

import { systemClock } from "../../clock.js";
import type { Clock } from "../../clock.js";
import { checkDedup, checkedScope } from "../../inbox/dedup.js";
import type { DedupAdapter, DedupVerdict } from "../../inbox/dedup.js";
import { storedId } from "../../inbox/arrival/stored-id.js";
import type { OptionNames } from "../../known-options.js";
import type { Observer } from "../../observer.js";
import { checkStoreOptions } from "../../store-options.js";
import { Asker } from "./asker.js";
import { commandsOf, textOf } from "./client.js";
import type { RedisClient, RedisCommands } from "./client.js";
import { findLostPromises } from "./durability.js";
import type { LostPromise } from "./durability.js";
import { claimedElsewhere, claimLost, invalid, refusalOf, unavailable } from "./failure.js";
import { CLAIM, CONFIRM, DONE, GIVE_BACK, LOOK, MARK, TAKE } from "./scripts.js";

const DEFAULT_TTL_S = 14 * 24 * 3600;

/** How ids are kept in Redis. */
export interface RedisDedupOptions {
  /** A client of `ioredis` or of `redis` (node-redis), connected. */
  readonly client: RedisClient;
  /** Stands before every key. @default "posthorn:dedup:" */
  readonly prefix?: string;
  /** Ids of one scope say nothing of those of another: give each source its own. @default one scope for all */
  readonly scope?: string;
  /** How long work under a claim may take, in seconds, before another may claim the id. @default 300 */
  readonly claimTtlS?: number;
  /** How long a call waits for Redis before it throws `store_unavailable`. @default 5,000 */
  readonly timeoutMs?: number;
  readonly clock?: Clock;
  readonly observer?: Observer;
}

const OPTIONS: OptionNames<RedisDedupOptions> = {
  client: true,
  prefix: true,
  scope: true,
  claimTtlS: true,
  timeoutMs: true,
  clock: true,
  observer: true,
};

/** What a claim found out, and how to end it. */
export type RedisClaim =
  | {
      readonly duplicate: false;
      /** Remembers the id for the whole ttl. Call it after the work has committed. Throws `claim_lost` when the claim had run out. */
      readonly confirm: () => Promise<void>;
      /** Gives the id back, so that the next delivery does the work. Call it when the work has failed. */
      readonly release: () => Promise<void>;
    }
  | {
      /** The work was done and confirmed: answer with success. */
      readonly duplicate: true;
    };

/** Dedup in Redis. It cannot join the host's transaction, and so never promises effects exactly once. */
export interface RedisDedup extends DedupAdapter {
  readonly sharesHostTransaction: false;
  /**
   * Says whether the id is new and remembers it, at once and for all callers. Work that fails afterwards is
   * lost, because its redelivery is called a duplicate: right only where that may be.
   */
  record(id: string, ttlSeconds: number): Promise<DedupVerdict>;
  /** Safe use A: whether an id was marked. `false` may be late news, so the work must bear being done twice. */
  seen(id: string): Promise<boolean>;
  /** Safe use A: remembers an id after its work has committed. */
  mark(id: string, ttlSeconds: number): Promise<void>;
  /**
   * Safe use B: claims an id for `claimTtlS`; do the work, then `confirm`, or `release` when it failed. After a
   * crash the claim runs out and the next delivery does the work.
   *
   * Throws `dedup_busy` while another's claim is neither confirmed nor released. Answer 503 then, never success:
   * if that other crashes, the event has not been applied, and only a redelivery can mend it.
   */
  claim(
    id: string,
    options?: { /** In seconds. @default 14 days */ readonly ttl?: number },
  ): Promise<RedisClaim>;
  /** Reads the settings on which remembering depends, and returns and reports those that take a promise back. */
  check(): Promise<readonly LostPromise[]>;
}

/** What remains of the options once they are checked. */
interface Parts {
  readonly asker: Asker;
  readonly commands: RedisCommands;
  readonly observer: Observer | undefined;
  readonly prefix: string;
  readonly claimTtlS: number;
}

class RedisIds implements RedisDedup {
  readonly sharesHostTransaction = false;
  readonly #parts: Parts;
  #checked = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async record(id: string, ttlSeconds: number): Promise<DedupVerdict> {
    checkDedup(id, ttlSeconds);
    const { mine } = await this.#take(await this.#keyOf(id), DONE + randomMark(), ttlSeconds);
    return { duplicate: !mine };
  }

  async seen(id: string): Promise<boolean> {
    checkDedup(id, DEFAULT_TTL_S);
    return isDone(await this.#ask(LOOK, await this.#keyOf(id), []));
  }

  async mark(id: string, ttlSeconds: number): Promise<void> {
    checkDedup(id, ttlSeconds);
    await this.#ask(MARK, await this.#keyOf(id), [DONE + randomMark(), milliseconds(ttlSeconds)]);
  }

  async claim(id: string, options: { readonly ttl?: number } = {}): Promise<RedisClaim> {
    checkStoreOptions("claim", options, { ttl: true });
    const { ttl = DEFAULT_TTL_S } = options;
    checkDedup(id, ttl);
    const { claimTtlS } = this.#parts;
    const key = await this.#keyOf(id);
    const mark = randomMark();
    const { mine } = await this.#take(key, CLAIM + mark, claimTtlS);
    if (!mine) return { duplicate: true };
    return {
      duplicate: false,
      confirm: async () => {
        const held = await this.#ask(CONFIRM, key, [CLAIM + mark, DONE + mark, milliseconds(ttl)]);
        if (Number(held) !== 1) throw claimLost(claimTtlS);
      },
      release: async () => {
        await this.#ask(GIVE_BACK, key, [CLAIM + mark]);
      },
    };
  }

  check(): Promise<readonly LostPromise[]> {
    this.#checked = true;
    return findLostPromises(this.#parts.commands, this.#parts.observer);
  }

  /** Takes the id unless it is done; throws while another's claim on it is open. */
  async #take(key: string, value: string, ttlSeconds: number): Promise<{ readonly mine: boolean }> {
    const { asker } = this.#parts;
    let stands: unknown;
    try {
      stands = await asker.ask(TAKE, key, [value, milliseconds(ttlSeconds)]);
    } catch (error) {
      // It may have been written though no answer came: left there, the redelivery would be called a duplicate.
      if (refusalOf(error) === undefined) asker.tell(GIVE_BACK, key, [value]);
      throw unavailable(error);
    }
    if (textOf(stands) === value) return { mine: true };
    if (isDone(stands)) return { mine: false };
    throw claimedElsewhere();
  }

  async #ask(script: string, key: string, args: readonly string[]): Promise<unknown> {
    try {
      return await this.#parts.asker.ask(script, key, args);
    } catch (error) {
      throw unavailable(error);
    }
  }

  async #keyOf(id: string): Promise<string> {
    this.#checkOnce();
    return this.#parts.prefix + (await storedId(id)).id;
  }

  // With the first call, not at construction: the client may not be connected yet. Nothing waits for it.
  #checkOnce(): void {
    if (this.#checked || this.#parts.observer === undefined) return;
    void this.check();
  }
}

/**
 * Remembers ids in Redis, for hosts that run it already. Redis cannot commit together with the host's
 * database, so that this never gives effects exactly once; where that matters, use posthorn/postgres or
 * posthorn/sqlite. The two uses of it that lose nothing:
 *
 * @example
 * const ids = redisDedup({ client });
 * const ttl = 14 * 24 * 3600;
 *
 * // A: work that may be done twice; mark it after its commit.
 * if (!(await ids.seen(event.id))) {
 *   await upsertInvoice(event);
 *   await ids.mark(event.id, ttl);
 * }
 *
 * // B: two phases. A claim that is still open elsewhere throws `dedup_busy`: answer 503.
 * const claim = await ids.claim(event.id, { ttl });
 * if (claim.duplicate) return new Response(null, { status: 200 });
 * try {
 *   await chargeCard(event);
 * } catch (error) {
 *   await claim.release();
 *   throw error;
 * }
 * await claim.confirm();
 */
export function redisDedup(options: RedisDedupOptions): RedisDedup {
  checkStoreOptions("redisDedup", options, OPTIONS);
  const { client, prefix = "posthorn:dedup:", claimTtlS = 300, timeoutMs = 5000, observer } = options;
  if (typeof prefix !== "string" || prefix === "") {
    throw invalid(`prefix is ${JSON.stringify(prefix)}; expected a text that no other keys begin with`);
  }
  checkAbove0("claimTtlS", claimTtlS, "seconds");
  checkAbove0("timeoutMs", timeoutMs, "milliseconds");
  const commands = commandsOf(client);
  const asker = new Asker(commands, options.clock ?? systemClock, timeoutMs);
  // Escaped, so that no scope and id make the key of another scope and id.
  const scoped = `${prefix}${encodeURIComponent(checkedScope(options.scope))}:`;
  return new RedisIds({ asker, commands, observer, prefix: scoped, claimTtlS });
}

function checkAbove0(name: string, value: number, unit: string): void {
  if (typeof value === "number" && value > 0 && value < 2 ** 31) return;
  throw invalid(`${name} is ${String(value)}; expected ${unit} above 0, below 2^31`);
}

function isDone(value: unknown): boolean {
  return textOf(value)?.startsWith(DONE) === true;
}

function randomMark(): string {
  return crypto.randomUUID();
}

// Rounded up: rounded down, a ttl below a millisecond would be none, which Redis refuses.
function milliseconds(seconds: number): string {
  return String(Math.ceil(seconds * 1000));
}

import { statfsSync } from "node:fs";
import type { Settings } from "../config/settings.js";
import type { ServerParts } from "../parts.js";

export type ReadinessParts = Pick<ServerParts, "registry" | "node" | "clock" | "log">;

/** Whether the database accepts writes, and why not. */
export type Readiness = { readonly ready: true } | { readonly ready: false; readonly why: string };

// Load balancers ask every second; not every answer may be a write.
const CACHE_MS = 1000;
const DEADLINE_MS = 2000;

/** Writes to find out: a database that is full, read-only or hanging can still be read. */
export class ReadinessProbe {
  readonly #parts: ReadinessParts;
  #last: { readonly atMs: number; readonly answer: Promise<Readiness> } | undefined;
  #underWay: Promise<Readiness> | undefined;

  constructor(parts: ReadinessParts) {
    this.#parts = parts;
  }

  ask(): Promise<Readiness> {
    const nowMs = this.#parts.clock.monotonic();
    if (this.#last !== undefined && nowMs - this.#last.atMs < CACHE_MS) return this.#last.answer;
    // A write that hangs stays the only one: more would fill the pool.
    this.#underWay ??= this.#write().finally(() => (this.#underWay = undefined));
    const answer = Promise.race([this.#underWay, this.#late()]);
    this.#last = { atMs: nowMs, answer };
    return answer;
  }

  async #write(): Promise<Readiness> {
    try {
      await this.#parts.registry.probeWrite(this.#parts.node);
      return { ready: true };
    } catch (error) {
      this.#parts.log.warn({ err: error }, "the write probe failed");
      // Of what the database says, only this is told to callers without a token: it names no table and no address.
      const full = saysDiskFull(error);
      return {
        ready: false,
        why: `The database refused a write${full ? ": the disk is full" : "; the log says why"}.`,
      };
    }
  }

  async #late(): Promise<Readiness> {
    await this.#parts.clock.sleep(DEADLINE_MS);
    return { ready: false, why: `The database did not answer a write within ${DEADLINE_MS} ms.` };
  }
}

/** Whether an error of the database, or its cause, is that there is no room. */
export function saysDiskFull(error: unknown): boolean {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  const text = cause instanceof Error ? `${message} ${cause.message}` : message;
  return /disk is full|no space left/i.test(text);
}

/** What is free where the SQLite file is; undefined on Postgres, whose disk cannot be seen from here. */
export function freeBytes({ database, dataDir }: Pick<Settings, "database" | "dataDir">): number | undefined {
  if (database !== undefined) return undefined;
  try {
    const { bavail, bsize } = statfsSync(dataDir);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

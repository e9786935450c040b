import type { StoreErrorCode } from "../../library/src/store-errors.js";
import { PosthornError } from "../../library/src/posthorn-error.js";
import type { Database } from "./database.js";
import type { Life } from "./life.js";
import type { RunLog, Sighting } from "./run-log.js";
import type { Scheduler } from "./scheduler.js";
import type { StoreFault } from "../script/script.js";

/** What the lines of a node have in common. */
export interface LineParts {
  readonly scheduler: Scheduler;
  readonly log: RunLog;
  readonly database: Database;
  readonly life: Life;
  /** The fault that the next call of this name meets, if any. */
  readonly faultOf: (call: string) => StoreFault | undefined;
}

const SHORTEST_HOP_MS = 1;
const LONGEST_HOP_MS = 4;
const LATE_MS = [1500, 4000] as const;
const HANGS_MS = [3000, 6000] as const;

/** One process's connection to its database: every call takes its time there and back, and may go wrong on either way. */
export class Line {
  readonly #parts: LineParts;

  constructor(parts: LineParts) {
    this.#parts = parts;
  }

  get database(): Database {
    return this.#parts.database;
  }

  get life(): Life {
    return this.#parts.life;
  }

  get log(): RunLog {
    return this.#parts.log;
  }

  /**
   * Asks the database; `apply` happens there, in the order in which calls arrive, even when the asker has died
   * meanwhile. `seen` is told the answer where it is given.
   */
  ask<T>(call: string, apply: () => Promise<T>, seen?: (answer: T) => Sighting): Promise<T> {
    const { database, faultOf, life, log, scheduler } = this.#parts;
    return life.ask<T>((resolve, reject) => {
      log.count("calls");
      const fault = faultOf(call);
      if (fault !== undefined) log.fault(`store.${fault}`);
      const fail = (waitMs: number): void => void life.after(waitMs, () => reject(unavailable(call)));
      if (fault === "reject") return fail(this.#hopMs());
      if (fault === "hang") return fail(this.#random(HANGS_MS));
      const backMs = fault === "late" ? this.#random(LATE_MS) : this.#hopMs();
      const thereMs = fault === "slow" ? this.#random(LATE_MS) : this.#hopMs();
      const answer = async (): Promise<void> => {
        let give: () => void;
        try {
          const said = await apply();
          if (seen !== undefined) log.add(seen(said));
          give = () => resolve(said);
        } catch (error) {
          give = () => reject(error instanceof Error ? error : new Error(String(error)));
        }
        if (fault === "lost") give = () => reject(unavailable(call));
        database.answer(call, { deliver: () => life.after(backMs, give), lose: () => fail(backMs) });
      };
      scheduler.after(thereMs, () => {
        if (!database.isUp) return fail(backMs);
        scheduler.woke();
        void answer();
      });
    });
  }

  #hopMs(): number {
    return this.#random([SHORTEST_HOP_MS, LONGEST_HOP_MS]);
  }

  #random([least, most]: readonly [number, number]): number {
    return least + this.#parts.life.random.next() * (most - least);
  }
}

/** What a database does without waiting, as a promise: what it throws is an answer too. */
export function atOnce<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => resolve(work()));
}

function unavailable(call: string): PosthornError<StoreErrorCode> {
  return new PosthornError("store_unavailable", `The answer to ${call} did not come.`);
}

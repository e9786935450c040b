import type { StoreErrorCode } from "../../../store-errors.js";
import type { Observer } from "../../../observer.js";
import { notify } from "../../../observer.js";
import { PosthornError } from "../../../posthorn-error.js";
import type { Pool, Row } from "./database.js";
import { optionInvalid } from "./identifiers.js";

/**
 * What is done about server settings that let an acknowledged event vanish when the server falls.
 * - `as_is`: the observer is told.
 * - `strict`: no event is accepted while the server has such settings.
 */
export type PostgresDurability = "as_is" | "strict";

interface LostPromise {
  readonly setting: string;
  readonly value: string;
  readonly expected: string;
}

const SETTINGS = ["fsync", "full_page_writes", "synchronous_commit"];

/** Says which of the values, in the order of SETTINGS, take back the promise. */
export function lostPromises(values: Row): LostPromise[] {
  return SETTINGS.flatMap((setting, index) => {
    const value = values[index] ?? "unknown";
    // `local`, `remote_write` and `remote_apply` differ in what replicas know; all of them wait for this disk.
    return value === "off" || value === "unknown" ? [{ setting, value, expected: "on" }] : [];
  });
}

/** Looks at the settings once, at the first event: a store is made before its database may be there. */
export class DurabilityCheck {
  readonly #pool: Pool<unknown>;
  readonly #durability: PostgresDurability;
  readonly #observer: Observer | undefined;
  #looked: Promise<void> | undefined;

  constructor(pool: Pool<unknown>, durability: PostgresDurability, observer: Observer | undefined) {
    if (durability !== "as_is" && durability !== "strict") {
      throw optionInvalid(`durability is ${String(durability)}; expected "as_is" or "strict".`);
    }
    this.#pool = pool;
    this.#durability = durability;
    this.#observer = observer;
  }

  /** Where it is strict, to be awaited before an event is accepted; else undefined. */
  before(acquireMs: number): Promise<void> | undefined {
    if (this.#durability === "as_is" && !this.#observer) return undefined;
    this.#looked ??= this.#look(acquireMs).catch((error: unknown) => {
      this.#looked = undefined;
      // Under `as_is`, the event's own statements say that the database cannot be reached.
      if (this.#durability === "strict") throw error;
    });
    return this.#durability === "strict" ? this.#looked : undefined;
  }

  async #look(acquireMs: number): Promise<void> {
    const columns = SETTINGS.map((setting) => `current_setting('${setting}') as ${setting}`);
    const { rows } = await this.#pool.query({ text: `select ${columns.join(", ")}` }, acquireMs);
    const lost = lostPromises(rows[0] ?? []);
    for (const promise of lost) {
      notify(this.#observer, { kind: "store_promise_lost", store: "postgresStore", ...promise });
    }
    if (this.#durability === "strict" && lost.length > 0) throw refused(lost);
  }
}

function refused(lost: readonly LostPromise[]): PosthornError<StoreErrorCode> {
  const found = lost.map(({ setting, value, expected }) => `${setting} is ${value}; expected ${expected}`);
  return new PosthornError(
    "store_option_invalid",
    `postgresStore: durability is "strict", but an acknowledged event could vanish when the server falls: ${found.join(", ")}.`,
  );
}

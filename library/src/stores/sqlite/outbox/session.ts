import type { Clock } from "../../../clock.js";
import type { StoreErrorCode } from "../../../store-errors.js";
import type { Observer } from "../../../observer.js";
import type { EndpointSecrets } from "../../../outbox/endpoint-secrets.js";
import { PosthornError } from "../../../posthorn-error.js";
import type { SqliteClient } from "../client/client.js";
import type { Connection } from "../client/connection.js";
import { EndpointBook } from "./endpoint-book.js";
import { storeError } from "../client/failure.js";
import { OutboxTurn } from "./turn.js";
import { SeenTime } from "../client/seen-time.js";

/** What an outbox's calls have in common. */
export interface SessionParts {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly waitMs: number;
  readonly observer: Observer | undefined;
  readonly secrets: EndpointSecrets;
}

/** How an outbox comes to its database: each call is one turn. */
export class OutboxSession {
  readonly #parts: SessionParts;
  readonly #book: EndpointBook;
  readonly #seenTime: SeenTime;
  #shared: { readonly stretch: number; readonly turn: OutboxTurn } | undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#book = new EndpointBook(parts.secrets);
    this.#seenTime = new SeenTime(parts.clock);
  }

  /** A turn in a transaction of the host. It moves nothing that waits: the host may hold up others for long, and roll back. */
  hostTurn(client: SqliteClient): OutboxTurn {
    const turn = this.#turn(client);
    this.#seenTime.note(turn);
    return turn;
  }

  // Whoever looks from inside of a group would see its neighbours' rows before they are committed; a microtask later they are.
  async look<T>(look: (turn: OutboxTurn) => T): Promise<T> {
    await Promise.resolve();
    try {
      return look(this.#turn(this.#parts.connection.client));
    } catch (error) {
      throw storeError(error);
    }
  }

  /** As `look`, for what depends on when something is due: where the clock was set back, that is put right first. */
  async lookAtDue<T>(look: (turn: OutboxTurn) => T): Promise<T> {
    const found = await this.look((turn) =>
      this.#seenTime.isSetBack(turn) ? undefined : { value: look(turn) },
    );
    return found === undefined ? this.write(look) : found.value;
  }

  write<T>(run: (turn: OutboxTurn) => T): Promise<T> {
    return this.#write(run, false);
  }

  /**
   * For the many small ones that change no endpoint and throw only when the disk does: those of the same moment share a
   * turn, and a throw undoes all of them, which are then run again.
   */
  writeTogether<T>(run: (turn: OutboxTurn) => T): Promise<T> {
    return this.#write(run, true);
  }

  #write<T>(run: (turn: OutboxTurn) => T, together: boolean): Promise<T> {
    const { waitMs, connection } = this.#parts;
    const { client, statements } = connection;
    const expired = (): never => {
      throw new PosthornError<StoreErrorCode>(
        "store_unavailable",
        `Another connection held the write lock, or the host a transaction, for ${waitMs} ms. Retry.`,
      );
    };
    return statements.join({
      run: () => run(together ? this.#sharedTurn(client) : this.#keptTurn(client)),
      undoable: true,
      undoesAll: together,
      waitMs,
      expired,
      told: storeError,
    });
  }

  #keptTurn(client: SqliteClient): OutboxTurn {
    const turn = this.#turn(client);
    this.#seenTime.keep(turn);
    return turn;
  }

  // What it has read, each of them would read again: two of the seven statements of an event that comes in.
  #sharedTurn(client: SqliteClient): OutboxTurn {
    const { stretch } = client;
    if (this.#shared?.stretch !== stretch) this.#shared = { stretch, turn: this.#keptTurn(client) };
    return this.#shared.turn;
  }

  #turn(client: SqliteClient): OutboxTurn {
    const { clock, observer } = this.#parts;
    return new OutboxTurn({ client, nowMs: Math.floor(clock.now()), book: this.#book, observer });
  }
}

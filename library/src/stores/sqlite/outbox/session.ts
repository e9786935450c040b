import type { Clock } from "../../../clock.js";
import type { Observer } from "../../../observer.js";
import type { EndpointSecrets } from "../../../outbox/endpoint-secrets.js";
import type { SqliteClient } from "../client/client.js";
import type { Connection } from "../client/connection.js";
import { look, write } from "../client/connection.js";
import { SeenTime } from "../lanes/seen-time.js";
import { ConsumerBook } from "./consumer-book.js";
import { OutboxTurn } from "./turn.js";

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
  readonly #book: ConsumerBook;
  readonly #seenTime: SeenTime;
  #shared: { readonly stretch: number; readonly turn: OutboxTurn } | undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#book = new ConsumerBook(parts.secrets);
    this.#seenTime = new SeenTime(parts.clock);
  }

  /** A turn in a transaction of the host. It moves nothing that waits: the host may hold up others for long, and roll back. */
  hostTurn(client: SqliteClient): OutboxTurn {
    const turn = this.#turn(client);
    this.#seenTime.note(turn);
    return turn;
  }

  look<T>(read: (turn: OutboxTurn) => T): Promise<T> {
    const { client } = this.#parts.connection;
    return look(client, () => read(this.#turn(client)));
  }

  /** As `look`, for what depends on when something is due: where the clock was set back, that is put right first. */
  async lookAtDue<T>(read: (turn: OutboxTurn) => T): Promise<T> {
    const found = await this.look((turn) =>
      this.#seenTime.isSetBack(turn) ? undefined : { value: read(turn) },
    );
    return found === undefined ? this.write(read) : found.value;
  }

  write<T>(run: (turn: OutboxTurn) => T): Promise<T> {
    const { connection, waitMs } = this.#parts;
    return write(connection, { waitMs }, () => run(this.#keptTurn(connection.client)));
  }

  /**
   * For the many small writes that change no endpoint and throw only when the disk does: those of the same moment share a
   * turn, and a throw undoes all of them; the others are then run again.
   */
  writeTogether<T>(run: (turn: OutboxTurn) => T): Promise<T> {
    const { connection, waitMs } = this.#parts;
    return write(connection, { waitMs, undoesAll: true }, () => run(this.#sharedTurn(connection.client)));
  }

  /** A turn in a group in which handlers run. */
  handlerTurn(): OutboxTurn {
    return this.#keptTurn(this.#parts.connection.client);
  }

  /** The time that a turn would have now. */
  nowMs(): number {
    return Math.floor(this.#parts.clock.now());
  }

  #keptTurn(client: SqliteClient): OutboxTurn {
    const turn = this.#turn(client);
    this.#seenTime.keep(turn);
    return turn;
  }

  // Without it each call would read marks and endpoints again: two of the eight statements of an ingested event.
  #sharedTurn(client: SqliteClient): OutboxTurn {
    const { stretch } = client;
    if (this.#shared?.stretch !== stretch) this.#shared = { stretch, turn: this.#keptTurn(client) };
    return this.#shared.turn;
  }

  #turn(client: SqliteClient): OutboxTurn {
    const { observer } = this.#parts;
    return new OutboxTurn({ client, nowMs: this.nowMs(), book: this.#book, observer });
  }
}

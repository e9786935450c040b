import type {
  Acceptance,
  AcceptLimits,
  Arrival,
  Handled,
  InboxKey,
  InboxRow,
  InboxStore,
  KnownEvent,
  PurgeLimits,
  PurgeReport,
  RefusedBecause,
} from "../../library/src/inbox/inbox-store.js";
import type { StoreErrorCode } from "../../library/src/store-errors.js";
import { PosthornError } from "../../library/src/posthorn-error.js";
import type { StoreCapabilities } from "../../library/src/store-capabilities.js";
import { Fuse } from "./fuse.js";
import { atOnce } from "./line.js";
import type { Line } from "./line.js";
import type { Scheduler } from "./scheduler.js";

// As a server does with a session that says nothing inside of a transaction.
const IDLE_MS = 3000;

// One for all: a stack trace for each costs more than what it is the end of.
const LOST = new Error("The connection was lost.");
const OVER = new Error("The transaction has come to its end.");

/** An accept whose transaction is open at the database, or whose answer needed none. */
type Opened =
  | { readonly kind: "answered"; readonly acceptance: Acceptance }
  | {
      readonly kind: "open";
      readonly tx: unknown;
      readonly finish: (handled: Handled) => void;
      readonly breakOff: (error: unknown) => void;
      readonly ended: Promise<Acceptance>;
    };

/** The inbox of a database, at the other end of a line. */
export class LineInbox implements InboxStore<unknown, "asynchronous"> {
  readonly transactions = "asynchronous";
  readonly #line: Line;
  readonly #scheduler: Scheduler;
  readonly #inbox: InboxStore<unknown, "asynchronous">;

  constructor(line: Line, scheduler: Scheduler) {
    this.#line = line;
    this.#scheduler = scheduler;
    this.#inbox = line.database.store.inbox;
  }

  get capabilities(): StoreCapabilities {
    return this.#inbox.capabilities;
  }

  find(key: InboxKey): Promise<KnownEvent | undefined> {
    return this.#line.ask("find", () => this.#inbox.find(key));
  }

  read(key: InboxKey): Promise<InboxRow | undefined> {
    return this.#line.ask("read", () => this.#inbox.read(key));
  }

  async accept(
    arrival: Arrival,
    work: (tx: unknown) => Promise<Handled> | Handled,
    limits: AcceptLimits,
  ): Promise<Acceptance> {
    const opened = await this.#line.ask("accept", () => this.#open(arrival, limits.acquireMs));
    if (opened.kind === "answered") {
      this.#line.log.count(`accept.${opened.acceptance.kind}`);
      return opened.acceptance;
    }
    const { tx, finish, breakOff, ended } = opened;
    let handled: Handled;
    try {
      handled = await untilAborted(work(tx), limits);
    } catch (error) {
      this.#line.log.count("accept.failed");
      breakOff(error);
      await this.#line.ask("rollback", () => Promise.resolve());
      return { kind: "failed", error };
    }
    const commit = (): Promise<Acceptance> => {
      finish(handled);
      return ended;
    };
    try {
      return await this.#line.ask("commit", commit);
    } catch (error) {
      throw new PosthornError<StoreErrorCode>(
        "store_commit_unknown",
        "The answer to the commit did not come.",
        {
          cause: error,
        },
      );
    }
  }

  fail(arrival: Arrival, error: string): Promise<void> {
    return this.#line.ask("fail", () => this.#inbox.fail(arrival, error));
  }

  refuse(arrival: Arrival, because: RefusedBecause): Promise<void> {
    return this.#line.ask("refuse", () => this.#inbox.refuse(arrival, because));
  }

  touch(arrival: Arrival): void {
    // The receiver does not wait for a touch, and ignores its failure.
    this.#line.ask("touch", () => atOnce(() => this.#inbox.touch(arrival))).catch(() => undefined);
  }

  flush(): Promise<void> {
    return this.#inbox.flush();
  }

  purge(limits: PurgeLimits): Promise<PurgeReport> {
    return this.#line.ask("purge", () => this.#inbox.purge(limits));
  }

  /** At the database: the transaction is open when the store would run the handler. */
  #open(arrival: Arrival, acquireMs: number): Promise<Opened> {
    const connection = this.#connection();
    return new Promise((resolve, reject) => {
      const ended: Promise<Acceptance> = this.#inbox.accept(
        arrival,
        (tx) =>
          new Promise<Handled>((finish, breakOff) => {
            // A turn later, when `ended` is there to be handed on.
            queueMicrotask(() => resolve({ kind: "open", tx, finish, breakOff, ended }));
          }),
        { acquireMs, signal: connection.signal },
      );
      const answered = (acceptance: Acceptance): void => {
        connection.blow(OVER);
        resolve({ kind: "answered", acceptance });
      };
      ended.then(answered, reject);
    });
  }

  /** Blows when the process dies, or says nothing for too long: the server then rolls back. */
  #connection(): Fuse {
    const connection = new Fuse();
    this.#line.life.whenEnded(() => connection.blow(LOST));
    this.#scheduler.after(IDLE_MS, () => {
      if (connection.aborted) return;
      this.#scheduler.woke();
      connection.blow(LOST);
    });
    return connection;
  }
}

/** Gives up on a handler at its deadline. */
export function untilAborted<T>(work: Promise<T> | T, { signal }: Pick<AcceptLimits, "signal">): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error("aborted"));
    // Listened to even after the deadline: a late rejection must not count as unhandled.
    Promise.resolve(work).then(resolve, reject);
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop);
  });
}

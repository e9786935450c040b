import type { MemoryTx } from "posthorn/memory";
import type { HandlerStatement } from "posthorn/testing";
import type { InboxFlaw } from "./naive-inbox.js";

/** A handler's transaction on a session that speaks SQL, as far as the kit's handlers do; with one flaw, or none. */
export class NaiveSession implements MemoryTx {
  readonly id = 1;
  readonly #flaw: InboxFlaw;
  /** Writes the event's row: it was inserted when the transaction was entered, and is committed with it. */
  readonly #enteredRow: () => void;
  #effects: (() => void)[] = [];
  #state: "entered" | "another" | "outside" | "aborted" = "entered";
  #refused = false;

  constructor(flaw: InboxFlaw, enteredRow: () => void) {
    this.#flaw = flaw;
    this.#enteredRow = enteredRow;
  }

  onCommit(effect: () => void): void {
    if (this.#flaw === "writes_outside_the_transaction") effect();
    else if (this.#state === "aborted") throw new Error("25P02");
    else if (this.#state !== "outside") this.#effects.push(effect);
    else if (this.#flaw === "rollback_not_refused") effect();
    else throw new Error("outside of the transaction");
  }

  run(statement: HandlerStatement): void {
    if (statement === "broken") {
      this.#state = "aborted";
      throw new Error("22012");
    }
    if (!this.#allows(statement)) {
      this.#refused = true;
      throw new Error(`${statement} is refused`);
    }
    // Postgres warns of a second `begin`, and goes on.
    if (statement === "begin") this.#state = this.#state === "outside" ? "another" : this.#state;
    if (statement === "begin") return;
    if (statement === "commit") this.#writeAll();
    this.#effects = [];
    this.#state = "outside";
  }

  #allows(statement: HandlerStatement): boolean {
    if (this.#flaw === "commit_not_refused") return statement !== "rollback";
    if (this.#flaw === "rollback_not_refused") return statement === "rollback";
    return this.#flaw === "transaction_not_proved" && statement !== "commit";
  }

  /** Commits what the handler has written, with its event's row; throws where that is not to be had. */
  commit(row: () => void): void {
    const aborted = this.#state === "aborted";
    if (aborted && this.#flaw === "aborted_called_applied") return;
    const left = this.#state === "another" && this.#flaw !== "transaction_not_proved";
    if (this.#refused || aborted || left || this.#state === "outside") throw new Error("not its transaction");
    if (this.#state === "entered") row();
    if (this.#flaw !== "writes_dropped") for (const effect of this.#effects) effect();
  }

  #writeAll(): void {
    this.#enteredRow();
    for (const effect of this.#effects) effect();
  }
}

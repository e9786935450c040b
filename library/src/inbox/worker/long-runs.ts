import type { Clock } from "../../clock.js";
import type { Claim } from "../../lanes/lane-store.js";
import { PosthornError } from "../../posthorn-error.js";
import type { HandlerContext } from "../handler/handlers.js";
import type { Heartbeat } from "./heartbeat.js";
import type { InboxErrorCode } from "../inbox-errors.js";
import { mayTakeOver } from "../inbox-store.js";
import type { InboxKey } from "../inbox-store.js";
import { LONG_DEADLINE_MS } from "../handler/long.js";
import type { Long } from "../handler/long.js";
import { runLong } from "../handler/prepare-long.js";
import { HandlerFailure } from "../handler/prepare-work.js";
import type { Work, WorkParts } from "../handler/prepare-work.js";
import { occasionOf, ofRound } from "./run-work.js";
import type { InboxRound, StepStore } from "../handler/step-store.js";
import { Steps } from "../handler/steps.js";
import type { Stepping } from "../handler/steps.js";
import { arrivalsOf, inboxConsumer } from "./stored-arrival.js";
import type { ApplyWork } from "./worker-store.js";

/** Why a long handler was cut off, where that is no failure of its own: nothing of it is marked. */
export type CutOff =
  /** Another may have its lease. */
  | { readonly kind: "lost" }
  /** Its worker stops, and gives the lease back. */
  | { readonly kind: "stopped" };

interface LongRunsParts<Tx> {
  readonly work: WorkParts<Tx>;
  readonly store: StepStore;
  readonly heartbeat: Heartbeat;
  readonly clock: Clock;
}

/** Runs long handlers, each under a lease that is kept until its event is marked. */
export class LongRuns<Tx> {
  readonly #parts: LongRunsParts<Tx>;
  readonly #underWay = new Set<(why: CutOff) => void>();

  constructor(parts: LongRunsParts<Tx>) {
    this.#parts = parts;
  }

  /** Cuts off what is under way, but not what is being marked. */
  stop(): void {
    for (const cutOff of this.#underWay) cutOff({ kind: "stopped" });
  }

  /**
   * Runs the handler of a claim's head, and hands its end to `mark`; undefined where the event was applied before, and nothing is
   * run. Its lease is kept until `mark` has answered, or has let it go.
   */
  async run<T>(
    claim: Claim,
    handler: Long<unknown>,
    mark: (work: ApplyWork<Tx> | undefined, letGo: () => void) => Promise<T>,
  ): Promise<T | CutOff | { readonly kind: "failed"; readonly error: unknown }> {
    const signals = new AbortController();
    let why: CutOff | undefined;
    const cutOff = (because: CutOff): void => {
      why ??= because;
      signals.abort(cutOffError(because));
    };
    let letGo = keptNothing;
    this.#underWay.add(cutOff);
    let work: ApplyWork<Tx> | undefined;
    try {
      // Before the lease is kept: a store that never answers would keep it for ever, and no other worker could begin.
      const known = await this.#known(claim);
      // Hours of work, and all of its calls to others, that the mark would then find to be a duplicate.
      if (known.outcome === undefined || mayTakeOver(known.outcome)) {
        letGo = this.#parts.heartbeat.keep(claim, () => cutOff({ kind: "lost" }));
        work = ofRound(await this.#inTime(claim, handler, { known, signals }), known.round);
      }
    } catch (error) {
      letGo();
      if (why !== undefined) return why;
      if (error instanceof HandlerFailure) return { kind: "failed", error: error.cause };
      throw error;
    } finally {
      this.#underWay.delete(cutOff);
    }
    try {
      return await mark(work, letGo);
    } finally {
      letGo();
    }
  }

  async #inTime(
    claim: Claim,
    { long, deadlineMs = LONG_DEADLINE_MS }: Long<unknown>,
    { known, signals }: { readonly known: InboxRound; readonly signals: AbortController },
  ): Promise<Work<Tx>> {
    const over = new AbortController();
    const late = (): void => {
      if (!over.signal.aborted) signals.abort(deadlineError(deadlineMs));
    };
    void this.#parts.clock.sleep(deadlineMs, over.signal).then(late);
    try {
      return await this.#begun(claim, long, { round: known.round, signal: signals.signal });
    } finally {
      over.abort("done");
    }
  }

  #known(claim: Claim): Promise<InboxRound> {
    return this.#parts.store.roundOf(keyOf(claim), inboxConsumer(claim));
  }

  #begun(
    claim: Claim,
    handler: unknown,
    { round, signal }: { readonly round: number; readonly signal: AbortSignal },
  ): Promise<Work<Tx>> {
    const { work, store, clock } = this.#parts;
    const [head] = claim.run;
    const key = { ...keyOf(claim), consumer: inboxConsumer(claim), round };
    const occasion = occasionOf(claim, { ...head, inboxRound: round }, signal);
    const steps = ({ idempotencyKey }: HandlerContext): Stepping => {
      const taken = new Steps({ store, clock, key, storedAs: head.event.id, signal, idempotencyKey });
      return { once: (step, doing) => taken.once(step, doing) };
    };
    return runLong(work, handler, { occasion, steps });
  }
}

function keptNothing(): void {}

/** How the inbox names the head of a claim. */
function keyOf(claim: Claim): InboxKey {
  const [only] = arrivalsOf(claim);
  const { tenant = "", source = "", id = "" } = only?.arrival ?? {};
  return { tenant, source, id };
}

function cutOffError({ kind }: CutOff): PosthornError<InboxErrorCode> {
  const because = kind === "lost" ? "its lease was lost, and another worker may run it" : "its worker stops";
  return new PosthornError("handler_cut_off", `The long handler was cut off: ${because}. It will run again.`);
}

function deadlineError(ms: number): PosthornError<InboxErrorCode> {
  return new PosthornError(
    "handler_deadline",
    `The long handler did not finish within ${ms} ms. Give it a longer \`deadlineMs\`, or let it do less at once.`,
  );
}

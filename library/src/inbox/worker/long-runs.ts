import type { Clock } from "../../clock.js";
import type { Claim } from "../../lanes/lane-store.js";
import { PosthornError } from "../../posthorn-error.js";
import type { HandlerContext } from "../handler/handlers.js";
import type { Heartbeat } from "./heartbeat.js";
import type { InboxErrorCode } from "../inbox-errors.js";
import { mayTakeOver } from "../inbox-store.js";
import { LONG_DEADLINE_MS } from "../handler/long.js";
import type { Long } from "../handler/long.js";
import { runLong } from "../handler/prepare-long.js";
import { HandlerFailure } from "../handler/prepare-work.js";
import type { WorkParts } from "../handler/prepare-work.js";
import { occasionOf, ofRound } from "./run-work.js";
import type { StepStore } from "../handler/step-store.js";
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

  /** Runs the handler of a claim's head, and hands its end to `mark`; undefined where the event was applied before, and nothing is run. */
  async run<T>(
    claim: Claim,
    handler: Long<unknown>,
    mark: (work: ApplyWork<Tx> | undefined) => Promise<T>,
  ): Promise<T | CutOff | { readonly kind: "failed"; readonly error: unknown }> {
    const signals = new AbortController();
    let why: CutOff | undefined;
    const cutOff = (because: CutOff): void => {
      why ??= because;
      signals.abort(cutOffError(because));
    };
    const letGo = this.#parts.heartbeat.keep(claim, () => cutOff({ kind: "lost" }));
    this.#underWay.add(cutOff);
    let work: ApplyWork<Tx> | undefined;
    try {
      work = await this.#inTime(claim, handler, signals);
    } catch (error) {
      letGo();
      if (why !== undefined) return why;
      if (error instanceof HandlerFailure) return { kind: "failed", error: error.cause };
      throw error;
    } finally {
      this.#underWay.delete(cutOff);
    }
    try {
      return await mark(work);
    } finally {
      letGo();
    }
  }

  async #inTime(
    claim: Claim,
    { long, deadlineMs = LONG_DEADLINE_MS }: Long<unknown>,
    signals: AbortController,
  ): Promise<ApplyWork<Tx> | undefined> {
    const over = new AbortController();
    const late = (): void => {
      if (!over.signal.aborted) signals.abort(deadlineError(deadlineMs));
    };
    void this.#parts.clock.sleep(deadlineMs, over.signal).then(late);
    try {
      return await this.#begun(claim, long, signals.signal);
    } finally {
      over.abort("done");
    }
  }

  async #begun(claim: Claim, handler: unknown, signal: AbortSignal): Promise<ApplyWork<Tx> | undefined> {
    const { work, store, clock } = this.#parts;
    const consumer = inboxConsumer(claim);
    const [head] = claim.run;
    const [only] = arrivalsOf(claim);
    const { tenant = "", source = "", id = "" } = only?.arrival ?? {};
    const { round, outcome } = await store.roundOf({ tenant, source, id }, consumer);
    // Hours of work, and all of its calls to others, that the mark would then find to be a duplicate.
    if (outcome !== undefined && !mayTakeOver(outcome)) return undefined;
    const key = { tenant, source, id, consumer, round };
    const occasion = occasionOf(claim, { ...head, inboxRound: round }, signal);
    const steps = ({ idempotencyKey }: HandlerContext): Stepping => {
      const taken = new Steps({ store, clock, key, storedAs: head.event.id, signal, idempotencyKey });
      return { once: (step, doing) => taken.once(step, doing) };
    };
    return ofRound(await runLong(work, handler, { occasion, steps }), round);
  }
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

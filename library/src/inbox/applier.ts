import type { Clock } from "../clock.js";
import type { Event } from "../event.js";
import { notify } from "../observer.js";
import { isPosthornError, PosthornError } from "../posthorn-error.js";
import { storeFailed } from "../store-failed.js";
import { describeThrown, framesOf } from "../thrown.js";
import { FELL_BACK, identify, isStale, withoutBytes } from "./arrival/arrival.js";
import type { Identified, Shown } from "./arrival/arrival.js";
import type { HeaderBag } from "../signature/headers/headers.js";
import { keyed } from "./arrival/hold-rule.js";
import { InProgress, Timeouts } from "./handler/deadlines.js";
import type { TypeTable } from "./handler/handlers.js";
import type { InboxErrorCode } from "./inbox-errors.js";
import { mayTakeOver } from "./inbox-store.js";
import type { Acceptance, Arrival, Handled, InboxStore } from "./inbox-store.js";
import { isSameBody } from "./arrival/same-body.js";
import { HandlerFailure, isPromise, prepareWork } from "./handler/prepare-work.js";
import type { Work, WorkParts } from "./handler/prepare-work.js";
import type { DropStale, NewestStore } from "./handler/newest.js";
import type { Source } from "./source.js";
import { storedId } from "./arrival/stored-id.js";
import type { Verdict } from "./verdict.js";

/** All that applying an event needs, checked and defaulted. */
export interface ApplierParts<Tx> extends WorkParts<Tx> {
  readonly store: InboxStore<Tx> & Partial<NewestStore<Tx>>;
  readonly handlers: TypeTable<unknown>;
  readonly dropStale: DropStale | undefined;
  readonly clock: Clock;
  readonly handlerDeadlineMs: number;
  readonly acquireMs: number;
}

interface Judgement {
  readonly verdict: Verdict;
  readonly why?: string;
  readonly stack?: string | undefined;
}

// For a rollback and the record of a failure, after the handler's time is up.
const STORE_GRACE_MS = 10_000;

/** Takes one verified event to its verdict: applied once, in one transaction with its row, or not at all. */
export class Applier<Tx> {
  readonly #parts: ApplierParts<Tx>;
  // A second delivery of an event that is being applied here is answered without taking a connection:
  // 200 duplicates of a slow handler would otherwise hold the whole pool.
  readonly #inProgress: InProgress;
  readonly #deadlines: Timeouts;

  constructor(parts: ApplierParts<Tx>) {
    const { clock, acquireMs, handlerDeadlineMs } = parts;
    this.#parts = parts;
    this.#deadlines = new Timeouts(clock, handlerDeadlineMs);
    this.#inProgress = new InProgress(clock, acquireMs + handlerDeadlineMs + STORE_GRACE_MS);
  }

  /** What is known of an event that its provider's log names, without its bytes. */
  async isOver(source: Source, id: string): Promise<boolean> {
    const { id: stored } = await storedId(id);
    const known = await this.#parts.store.find({ tenant: source.tenant, source: source.name, id: stored });
    return known !== undefined && known.outcome !== "failed";
  }

  /** One after the other, in the order of the array: each in a transaction of its own, so that one failure costs only its event. */
  async applyAll(source: Source, events: readonly Event[], shown: Shown): Promise<readonly Verdict[]> {
    const verdicts: Verdict[] = [];
    for (const event of events) verdicts.push(await this.#apply(source, event, shown));
    return verdicts;
  }

  async #apply(source: Source, event: Event, shown: Shown): Promise<Verdict> {
    const { clock, observer } = this.#parts;
    const startedAt = clock.monotonic();
    const told = await identify(source, event, shown.kept);
    const identified = shown.proof.exact || source.naming.bodyVaries ? told : withoutBytes(told);
    const judged = await this.#judge(source, event, { identified, shown });
    const { verdict, stack, why = told.fellBack ? FELL_BACK : undefined } = judged;
    const { tenant, type } = identified.arrival;
    const durationMs = clock.monotonic() - startedAt;
    notify(observer, {
      kind: "event_received",
      tenant,
      source: source.name,
      type,
      id: identified.id,
      verdict,
      why,
      stack,
      durationMs,
    });
    return verdict;
  }

  async #judge(source: Source, event: Event, came: Incoming): Promise<Judgement> {
    const { arrival } = came.identified;
    const key = [arrival.tenant, arrival.source, arrival.id].join("\n");
    if (this.#inProgress.has(key)) return { verdict: "busy", why: "this process is applying it" };
    try {
      return await this.#inProgress.watch(key, this.#once(source, event, came));
    } catch (error) {
      // Broken infrastructure: nothing is acknowledged, so the sender comes again.
      return { verdict: "unavailable", why: this.#report("accept", error) };
    }
  }

  async #once(source: Source, event: Event, { identified, shown }: Incoming): Promise<Judgement> {
    const { store, clock } = this.#parts;
    const { arrival } = identified;
    const { headers, proof } = shown;
    const occasion = { source, event, arrival, headers };
    const known = await store.find(arrival);
    // Only an event that is unknown can be stale: one that failed is still waiting to be applied, however old it is.
    if (
      known === undefined &&
      isStale(source, { eventAt: arrival.eventAt, sentAt: proof.sentAt }, clock.now())
    ) {
      await store.refuse(keyed(source, event, arrival, headers), "stale");
      return { verdict: "stale", why: "it happened before the window began" };
    }
    // Another body beside the same signature, which anybody can put there: not even a failed event may run with it.
    if (known !== undefined && source.firstBodyOnly && !isSameBody(known.bodyHash, arrival.bodyHash)) {
      return this.#settle(occasion, { kind: "conflict", known });
    }
    const handler = this.#parts.handlers.find(arrival.source, arrival.type);
    // A skipped event is taken over once there is a handler for it: after a typo is mended, its redelivery is applied.
    const isOver =
      known?.outcome === "skipped" ? handler === undefined : known && !mayTakeOver(known.outcome);
    if (known !== undefined && isOver === true) {
      const same = isSameBody(known.bodyHash, arrival.bodyHash);
      return this.#settle(occasion, { kind: same ? "duplicate" : "conflict", known });
    }
    const came: Came = { to: undefined };
    const judgement = await this.#settle(occasion, await this.#run(handler, { event, identified, came }));
    if (judgement.verdict !== "applied") return judgement;
    if (handler === undefined) return { verdict: "skipped", why: `no handler for ${arrival.type}` };
    const { outcome, because } = came.to ?? {};
    return outcome === "dropped" ? { verdict: "dropped", ...(because && { why: because }) } : judgement;
  }

  async #settle(occasion: Arriving, acceptance: Acceptance): Promise<Judgement> {
    const { store } = this.#parts;
    const { source, event, arrival, headers } = occasion;
    switch (acceptance.kind) {
      case "applied":
        return { verdict: "applied" };
      case "duplicate":
        // Its window counts from the first receipt: bodies that come to and fro would start it again for ever.
        if (source.naming.bodiesRecur !== true) store.touch(arrival);
        return {
          verdict: "duplicate",
          why: `${acceptance.known.outcome} since ${acceptance.known.receivedAt.toISOString()}`,
        };
      case "conflict":
        // The store compares bytes; one of the two deliveries came from a log, which has others.
        if (isSameBody(acceptance.known.bodyHash, arrival.bodyHash))
          return this.#settle(occasion, { kind: "duplicate", known: acceptance.known });
        await store.refuse(keyed(source, event, arrival, headers), "conflict");
        // The sender still uses the id: forgotten in the middle of it, the other body would be applied.
        store.touch(arrival);
        return { verdict: "conflict", why: "the id is known with another body" };
      case "busy":
        return { verdict: "busy", why: "another process is applying it" };
      case "saturated":
        return { verdict: "saturated", why: `no connection within ${this.#parts.acquireMs} ms` };
      case "failed":
        return this.#recordFailure(keyed(source, event, arrival, headers), acceptance.error);
    }
  }

  async #recordFailure(arrival: Arrival, error: unknown): Promise<Judgement> {
    const why = describeThrown(error);
    try {
      await this.#parts.store.fail(arrival, why);
    } catch (storeError) {
      // The event is not acknowledged either way; only its history has a gap.
      this.#report("fail", storeError);
    }
    const late = isPosthornError(error) && error.code === "handler_deadline";
    return late ? { verdict: "unavailable", why } : { verdict: "failed", why, stack: framesOf(error) };
  }

  async #run(handler: unknown, { event, identified, came }: Running): Promise<Acceptance> {
    const { store, acquireMs, dropStale } = this.#parts;
    const { arrival } = identified;
    const deadline = new AbortController();
    const timeout = this.#deadlines.start(() => deadline.abort(deadlineError(this.#parts.handlerDeadlineMs)));
    const limits = { acquireMs, signal: deadline.signal };
    try {
      if (handler === undefined) return await store.accept(arrival, () => ({ outcome: "skipped" }), limits);
      const { signal } = deadline;
      const occasion = { event, identified, signal, dropStale };
      const work = await prepareWork(this.#parts, handler, occasion);
      return await store.accept(arrival, noting(work, came), limits);
    } catch (error) {
      if (error instanceof HandlerFailure) return { kind: "failed", error: error.cause };
      throw error;
    } finally {
      this.#deadlines.stop(timeout);
    }
  }

  #report(operation: string, error: unknown): string {
    notify(this.#parts.observer, storeFailed(operation, error));
    return describeThrown(error);
  }
}

/** What a handler came to. Of work that was rolled back and ran again, the last word counts. */
interface Came {
  to: Handled | undefined;
}

interface Incoming {
  readonly identified: Identified;
  readonly shown: Shown;
}

interface Arriving {
  readonly source: Source;
  readonly event: Event;
  readonly arrival: Arrival;
  readonly headers: HeaderBag;
}

interface Running {
  readonly event: Event;
  readonly identified: Identified;
  readonly came: Came;
}

function noting<Tx>(work: Work<Tx>, came: Came): Work<Tx> {
  return (tx) => {
    const handled = work(tx);
    // A promise is handed on as one: the store refuses it where it cannot wait.
    return isPromise(handled) ? handled.then((each) => (came.to = each)) : (came.to = handled);
  };
}

function deadlineError(ms: number): PosthornError<InboxErrorCode> {
  return new PosthornError(
    "handler_deadline",
    `The handler did not finish within ${ms} ms; its transaction was rolled back.`,
  );
}

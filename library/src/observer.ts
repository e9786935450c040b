import type { ErrorDetail } from "./posthorn-error.js";

/**
 * Everything that Posthorn reports about itself. Logs, metrics and traces are all fed from this one
 * union, so that they cannot disagree. No signal carries a secret or a payload.
 */
export type Signal =
  | {
      /** A request proved that it comes from its source. `key` names the secret that matched. */
      readonly kind: "signature_accepted";
      readonly scheme: string;
      readonly key: string;
      readonly keyIndex: number;
    }
  | {
      /** A request was refused. `diagnosis` says how to mend it, when forensics was asked. */
      readonly kind: "signature_refused";
      readonly scheme: string;
      readonly code: string;
      readonly message: string;
      readonly detail: ErrorDetail;
      readonly diagnosis: readonly string[];
    }
  | {
      /** A secret is accepted because its provider made it, though it is shorter than it should be. */
      readonly kind: "secret_weak";
      readonly scheme: string;
      readonly key: string;
      readonly bytes: number;
    }
  | {
      /** `dedup()` gave a verdict. */
      readonly kind: "dedup_verdict";
      readonly type: string;
      readonly duplicate: boolean;
    }
  | {
      /** One event of a verified request got its verdict; `why` says more where the verdict alone does not. */
      readonly kind: "event_received";
      readonly tenant: string;
      readonly source: string;
      readonly type: string;
      readonly id: string;
      readonly verdict: string;
      readonly why: string | undefined;
      /** Where the handler of a `failed` event threw. */
      readonly stack?: string | undefined;
      readonly durationMs: number;
    }
  | {
      /** A worker is done with an attempt at an event that was stored first: `applied`, `skipped`, `dropped`, `duplicate`, `postponed` or `failed`. */
      readonly kind: "event_handled";
      readonly tenant: string;
      readonly source: string;
      readonly type: string;
      readonly id: string;
      /** `default` where the worker has `handlers` and no `consumers`. */
      readonly consumer: string;
      readonly outcome: string;
      /** What a handler threw, and where it failed. */
      readonly why?: string | undefined;
      readonly stack?: string | undefined;
      /** 1 for the first. */
      readonly attempt: number;
      /** Of the transaction, which other events of a run may share. */
      readonly durationMs: number;
    }
  | {
      /** A request was refused before its signature was looked at. */
      readonly kind: "request_refused";
      readonly source: string;
      readonly status: number;
      /** One of docs/errors.md, by its cause: `body_parsed`, `body_too_large`, `source_unknown` and others. */
      readonly code: string;
      readonly why: string;
    }
  | {
      /** A store did not do what it was asked; nothing was acknowledged. */
      readonly kind: "store_failed";
      readonly operation: string;
      readonly code: string;
      readonly message: string;
    }
  | {
      /** A handler said something. */
      readonly kind: "handler_log";
      readonly level: "info" | "warn";
      readonly source: string;
      readonly type: string;
      readonly id: string;
      readonly message: string;
    }
  | {
      /** The source's events carry no time, so that one older than the window cannot be told and is accepted. */
      readonly kind: "stale_untold";
      readonly source: string;
    }
  | {
      /** An event was stored without a key, because neither a text nor a number stands in the `key` of its source: it is handled in no order. */
      readonly kind: "key_missing";
      readonly tenant: string;
      readonly source: string;
      readonly type: string;
      readonly id: string;
      /** As the source names it: `{ json: "/data/object/customer" }`. */
      readonly place: string;
    }
  | {
      /**
       * An event was stored, and two seconds later no worker had registered handlers for its source, or a consumer that gets the event had had no
       * worker for three minutes; told of a source once an hour at most.
       */
      readonly kind: "worker_missing";
      readonly source: string;
      readonly type: string;
      readonly id: string;
      /** The ids of the consumers that no worker has had for three minutes; empty where none has ever registered. */
      readonly consumers: readonly string[];
    }
  | {
      /** An event was sent to an endpoint, or could not be. */
      readonly kind: "delivery_attempted";
      readonly tenant: string;
      readonly endpoint: string;
      /** `dlv_…` */
      readonly delivery: string;
      readonly type: string;
      readonly id: string;
      readonly attempt: number;
      readonly outcome: string;
      readonly status: number | undefined;
      readonly error: string | undefined;
      readonly durationMs: number;
    }
  | {
      /** A delivery was given up; `policy` says what that does to its lane. */
      readonly kind: "delivery_dead";
      readonly endpoint: string;
      readonly type: string;
      readonly id: string;
      /** Of a handler: `dlv_…`, which an operator redrives, and the source and the provider's id of its event. */
      readonly delivery?: string | undefined;
      readonly source?: string | undefined;
      readonly providerId?: string | undefined;
      readonly because: string;
      readonly policy: string;
    }
  | {
      /** A rule for errors has paused a handler; what waits for it is kept, in order, and goes on when the pause has ended. */
      readonly kind: "handler_paused";
      readonly handler: string;
      readonly forMs: number;
      readonly because: string;
    }
  | {
      /** An endpoint gets nothing more until an operator resumes it; what waits for it is kept. */
      readonly kind: "endpoint_disabled";
      readonly endpoint: string;
      readonly because: string;
    }
  | {
      /** Events of a key were waited for in vain: those behind them go on, the first of which is named. */
      readonly kind: "gap_given_up";
      readonly tenant: string;
      readonly source: string;
      readonly key: string;
      /** The first sequence that did not come. */
      readonly from: string;
      /** The last one. */
      readonly to: string;
      /** `time`, `number`, `restart` or `operator`. */
      readonly because: string;
      readonly id: string;
    }
  | {
      /** An event came after its place in the sequence of its key had been passed; it is handled, and told that it is late. */
      readonly kind: "event_late";
      readonly tenant: string;
      readonly source: string;
      readonly key: string;
      readonly sequence: string;
      readonly id: string;
    }
  | {
      /** An event could not be given its places, and was set aside. */
      readonly kind: "sequence_failed";
      readonly id: string;
      readonly message: string;
    }
  | {
      /** A provider's log was read: what of it was new, and up to when everything was looked at. */
      readonly kind: "repair_done";
      readonly source: string;
      /** The log's own name: a source may have several. */
      readonly log: string;
      readonly from: Date | undefined;
      readonly until: Date;
      readonly read: number;
      readonly applied: number;
      readonly duplicate: number;
      readonly skipped: number;
      readonly stale: number;
      readonly unsettled: number;
      readonly more: boolean;
    }
  | {
      /** A provider's log, or a delivery in it, could not be read; the next run tries it again, unless it has left the log. */
      readonly kind: "repair_failed";
      readonly source: string;
      /** The log's own name: a source may have several. */
      readonly log: string;
      readonly message: string;
    }
  | {
      /** A person did something by an operator, or `reconcile` mended something; told for each thing that it was done to. */
      readonly kind: "operator_acted";
      /** As the operator has it: `redrive`. */
      readonly verb: string;
      /** A delivery, a lane, an event, a handler, or a row of the inbox: `default/stripe/evt_1 at billing`. */
      readonly on: string;
      /** What the verb returned, in short; `threw` and a code where it threw, and may have been done all the same. */
      readonly answer: string;
      readonly by: string;
      readonly because: string | undefined;
    }
  | {
      /** A full store forgot an id before its time: if its event comes again, it will be called new. */
      readonly kind: "dedup_evicted";
      readonly store: string;
      readonly maxEntries: number;
      /** How much longer it should have been remembered. */
      readonly remainingMs: number;
    }
  | {
      /** A store that forgets everything when its process ends is used in production. */
      readonly kind: "store_not_durable";
      readonly store: string;
    }
  | {
      /** A setting of the database takes back what the store would promise. `unknown`: it could not be read. */
      readonly kind: "store_promise_lost";
      readonly store: string;
      readonly setting: string;
      readonly value: string;
      readonly expected: string;
    }
  | {
      /** SQLite's write-ahead log cannot be emptied, because somebody keeps an old read open: the disk will fill. */
      readonly kind: "wal_growing";
      readonly store: string;
      readonly bytes: number;
    };

/** Receives signals, synchronously and in order. */
export type Observer = (signal: Signal) => void;

/**
 * Tells the observer. An observer that throws must never cost an event, and one that rejects must not end the process, so
 * its error ends here, on the console.
 */
export function notify(observer: Observer | undefined, signal: Signal): void {
  const failed = (error: unknown): void => {
    // oxlint-disable-next-line no-console -- the observer was the way to report, and it is what failed
    console.error(`posthorn: the observer threw on "${signal.kind}"`, error);
  };
  try {
    // An `async` function fits the type: its promise is nobody's, and a rejection of it would end the process.
    const answer: unknown = observer?.(signal);
    if (answer instanceof Promise) answer.catch(failed);
  } catch (error) {
    failed(error);
  }
}

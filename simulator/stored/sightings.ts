import type { Applied } from "../../library/src/inbox/worker/worker-store.js";
import type { EventOrder } from "../../library/src/inbox/arrival/hold-rule.js";
import type { StagedAgain } from "../../library/src/operator/replay-store.js";
import type { NextState } from "../../library/src/lanes/lane-store.js";
import type { Redriven, Skipped } from "../../library/src/operator/operator-store.js";
import type { Who } from "../world/who.js";

/** An event at a consumer. */
export interface AtConsumer {
  readonly consumer: string;
  readonly number: number;
}

/** A lane under a lease, as its store has told it. */
export interface LeasedLane {
  readonly consumer: string;
  readonly lane: string;
  readonly epoch: bigint;
  /** How often its head has failed. */
  readonly failures: number;
  readonly numbers: readonly number[];
}

/** A step of a long handler, in one of its runs. */
export interface OfStep extends AtConsumer {
  readonly step: string;
  /** By which the other side knows it. */
  readonly idem: string;
  /** Which run of the handler this is, from 1. */
  readonly run: number;
}

/** What the observers of a stream that is stored first write down; each sees only what is before its own eyes. */
export type StoredSighting =
  // The provider.
  | { readonly kind: "acknowledged"; readonly number: number; readonly verdict: string | undefined }
  // The handlers, which are the host's own.
  | ({ readonly kind: "begun"; readonly isLong: boolean } & AtConsumer & Who)
  | ({ readonly kind: "over" } & AtConsumer & Who)
  | ({ readonly kind: "threw"; readonly what: string } & AtConsumer)
  /** Of what a handler's transaction has committed. `occasion` differs with each round of a replay. */
  | ({
      readonly kind: "effect";
      readonly database: number;
      readonly occasion: string | undefined;
      readonly order: EventOrder | undefined;
      /** What the comparison of versions said; undefined where the handler did not ask. */
      readonly isNewest: boolean | undefined;
      /** What a step came to; undefined where the handler takes none. */
      readonly charge: string | undefined;
    } & AtConsumer)
  /** The handler begins to do a step; `isChecked` where it can look for it. */
  | ({ readonly kind: "acting"; readonly isChecked: boolean } & OfStep)
  /** The handler knows that a step is done, and that its result is kept. */
  | ({ readonly kind: "stepped" } & OfStep)
  // The other side of the steps.
  | ({ readonly kind: "acted"; readonly effect: string } & OfStep)
  // The database's own order of what it was asked and answered.
  | {
      readonly kind: "kept";
      readonly database: number;
      readonly number: number;
      /** Which event has caused it; undefined where it says nothing of that. */
      readonly cause: number | undefined;
    }
  | ({
      readonly kind: "leased";
      readonly database: number;
      /** To whom. */
      readonly to: "endpoint" | "handler";
      readonly lanes: readonly LeasedLane[];
    } & Who)
  | ({
      readonly kind: "applied";
      readonly database: number;
      readonly claim: LeasedLane;
      /** Of which the handlers have said what they came to. */
      readonly handled: readonly number[];
      readonly said: Applied["kind"];
      readonly count: number;
    } & Who)
  /** What a worker decided about an event whose handler threw this. */
  | ({
      readonly kind: "ruled";
      readonly database: number;
      readonly error: string;
      readonly lane: string;
      readonly rest: NextState | { readonly state: "skipped" };
    } & AtConsumer)
  | {
      readonly kind: "paused";
      readonly database: number;
      readonly consumer: string;
      readonly forMs: number;
    }
  | { readonly kind: "resumed"; readonly database: number; readonly consumer: string }
  | ({
      readonly kind: "staged";
      readonly database: number;
      readonly verb: "redrive" | "replay";
      readonly said: StagedAgain;
    } & AtConsumer)
  | ({ readonly kind: "redriven"; readonly database: number; readonly said: Redriven } & AtConsumer)
  | ({ readonly kind: "passed_over"; readonly database: number; readonly said: Skipped } & AtConsumer)
  | { readonly kind: "forgotten"; readonly database: number; readonly number: number }
  | {
      readonly kind: "released";
      readonly database: number;
      readonly number: number;
      /** Events of its key that are held before it. */
      readonly before: readonly number[];
    }
  | ({ readonly kind: "marked"; readonly database: number } & AtConsumer)
  | { readonly kind: "removed"; readonly database: number; readonly consumer: string }
  | ({ readonly kind: "cancelled"; readonly because: string } & AtConsumer)
  // The host's table: what has gone from it, and what somebody has put there; and that all of it was compared.
  | ({ readonly kind: "vanished"; readonly database: number } & AtConsumer)
  | ({ readonly kind: "made_by_hand"; readonly database: number } & AtConsumer)
  | { readonly kind: "reconciled"; readonly consumer: string }
  // The server behind the endpoint.
  | { readonly kind: "posted"; readonly number: number };

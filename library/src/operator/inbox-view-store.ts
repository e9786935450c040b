import type { InboxOutcome, RefusedBecause } from "../inbox/inbox-store.js";
import type { HandlerConsumer, RegisteredHandler } from "../lanes/handler-consumer.js";
import type { Page, Paged } from "./operator-store.js";
import { waitingOf } from "./view-store.js";
import type { EndpointStanding } from "./view-store.js";

/** Which row of the inbox is meant: one event at one consumer. */
export interface InboxAddress {
  readonly tenant: string;
  readonly source: string;
  /** In its stored form. */
  readonly id: string;
  /**
   * The name of the worker's consumer. The handlers of a receiver and of a worker without names are "" to a store, and
   * `default` to a person: an operator shows that, and takes either of them, and `hnd_…`.
   */
  readonly consumer: string;
}

/** A row of the inbox, without its body. */
export interface InboxRecord extends InboxAddress {
  /** The beginning of a foreign id that is kept as a hash. */
  readonly idPreview: string | undefined;
  readonly type: string;
  /** When it happened, by the provider's word. */
  readonly eventAt: Date | undefined;
  readonly outcome: InboxOutcome;
  /** 1, and one more with each replay. */
  readonly round: number;
  /** How often its handler has ended: in the inbox, that of a worker counts when it succeeds. */
  readonly attempts: number;
  readonly receipts: number;
  /**
   * When the row was written, and a replay changes nothing of it: at the first receipt where the handler ran within its request; where a worker
   * has handled the stored event, when it did. So a dead letter that is redriven on the second day is found on the second day.
   */
  readonly receivedAt: Date;
  /** When the event last came, or was last handled. */
  readonly lastReceivedAt: Date;
  readonly keepUntil: Date | undefined;
  /** The id of the stored event that was handled; undefined where it was handled within its request. */
  readonly storedAs: string | undefined;
  /** JSON text of what the handler returned. */
  readonly result: string | undefined;
  /** The last failure of a handler that ran within its request. */
  readonly error: string | undefined;
  /** Of the body, which lies with the stored event where there is one; 0 when retention has removed that. */
  readonly bodyBytes: number;
}

/** Which rows are wanted; what is left out does not matter. */
export interface InboxFilter {
  readonly tenant?: string | undefined;
  readonly source?: string | undefined;
  readonly consumer?: string | undefined;
  readonly outcome?: InboxOutcome | undefined;
  readonly type?: string | undefined;
  /** Of `receivedAt`: at this time or later. */
  readonly since?: Date | undefined;
  /** Of `receivedAt`: before this time. */
  readonly until?: Date | undefined;
  /** @default "newest" */
  readonly order?: "newest" | "oldest" | undefined;
}

/** Rows by the beginning of their ids, which the key of the inbox has within one tenant and source. */
export interface InboxPrefix {
  readonly tenant: string;
  readonly source: string;
  readonly prefix: string;
}

/** One failure of a handler that ran within its request. */
export interface InboxFailure {
  readonly round: number;
  readonly attempt: number;
  readonly failedAt: Date;
  readonly error: string;
  /** Failures of one cause have the same; undefined where nobody has classified it. */
  readonly fingerprint: string | undefined;
}

/** Which refused events are wanted; what is left out does not matter. */
export interface RefusedFilter {
  readonly tenant?: string | undefined;
  readonly source?: string | undefined;
  /** Only together with `tenant` and `source`. */
  readonly id?: string | undefined;
  readonly because?: RefusedBecause | undefined;
}

/** An event that was refused for good, with its bytes: another body under a known id, or older than what is remembered. */
export interface RefusedRecord {
  readonly tenant: string;
  readonly source: string;
  readonly id: string;
  readonly idPreview: string | undefined;
  readonly because: RefusedBecause;
  readonly type: string;
  readonly eventAt: Date | undefined;
  /** What orders the events of its source; undefined where nothing does. */
  readonly key: string | undefined;
  readonly receipts: number;
  readonly refusedAt: Date;
  readonly lastRefusedAt: Date;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyHash: Uint8Array;
  readonly body: Uint8Array;
}

/** A handler as a consumer of lanes, and how much waits for it. */
export interface ConsumerStanding extends Pick<HandlerConsumer, "id" | "sources" | "order"> {
  /** What versions of the host have said in the last hour that they handle, the newest first. */
  readonly versions: readonly {
    readonly sources: readonly string[];
    readonly types: readonly string[];
    readonly at: Date;
  }[];
  readonly state: "active" | "paused" | "disabled";
  readonly because: string | undefined;
  /** When its pause ends by itself. */
  readonly pausedUntil: Date | undefined;
  /** The person who paused it; undefined where a rule for errors has. */
  readonly pausedBy: string | undefined;
  /** When a worker that has it last said so, which it does every minute; undefined where none ever has. */
  readonly seenAt: Date | undefined;
  /** Deliveries, those behind a dead head included. */
  readonly waiting: number;
  readonly haltedLanes: number;
  readonly parkedLanes: number;
  /** Lanes whose head has failed and is tried again. */
  readonly retryingLanes: number;
  /** What stands in halted and parked lanes, the dead heads included. */
  readonly blocked: number;
  /** How long the longest due or blocked delivery has been so; undefined where none is. */
  readonly oldestMs: number | undefined;
  /** False where more waits than was counted. */
  readonly exact: boolean;
  /** Dead letters that nobody has resolved. */
  readonly dead: number;
}

/** A handler as it is shown, of what a store knows of it. */
export function consumerStanding(
  { id, sources, order, versions, state, because, pausedUntil, pausedBy }: RegisteredHandler,
  found: {
    readonly standing: EndpointStanding | undefined;
    readonly seenAt: Date | undefined;
    readonly dead: number;
  },
): ConsumerStanding {
  return {
    id,
    sources: [...sources],
    order,
    versions: versions.map((each) => ({
      sources: [...each.sources],
      types: [...each.types],
      at: new Date(each.at),
    })),
    state,
    because,
    pausedUntil,
    pausedBy,
    seenAt: found.seenAt,
    ...waitingOf(found.standing),
    dead: found.dead,
  };
}

/** What a person sees of an inbox. Each sentence is a case of the conformance kit, in the same words. */
export interface InboxViewStore {
  /**
   * Rows of the inbox by the time of their first receipt, newest first unless the filter says otherwise. Rows of one run are
   * in the order in which they were handled, so that a replay keeps the order of a key. Of rows that a filter leaves out only so many are looked at: a page of something rare may hold fewer than it could, or none.
   */
  inboxRows(filter: InboxFilter, page: Page): Promise<Paged<InboxRecord>>;
  /** Rows whose ids begin with a text, in the order of their ids. */
  inboxByPrefix(prefix: InboxPrefix, page: Page): Promise<Paged<InboxRecord>>;
  /** The rows of one event, in the order of its consumers' names. */
  inboxRowsOf(tenant: string, source: string, id: string): Promise<readonly InboxRecord[]>;
  /** The failures of one row whose handler ran within its request, in their order. */
  inboxFailures(address: InboxAddress): Promise<readonly InboxFailure[]>;
  /** What was refused for good, one for each body, in the order of tenants, sources and ids. */
  refusedEvents(filter: RefusedFilter, page: Page): Promise<Paged<RefusedRecord>>;
  /** Every registered handler, in the order of their ids, and how much waits for it. */
  consumers(): Promise<readonly ConsumerStanding[]>;
}

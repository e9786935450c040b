import type { Consumer, HeldEvent } from "./inbox-resources.js";
import type { Attempt, Delivery, EventDetail, Lane } from "./resources.js";

// What people look at first: how everything stands, what happened, and why. Instants are ISO 8601, sequences decimal texts.

/** How everything stands: one sentence, and the same as data. */
export interface Status {
  readonly sentence: string;
  /** True where nothing needs a person. */
  readonly ok: boolean;
  /** When it was counted; a count is used again for two seconds. */
  readonly at: string;
  /** Of the server that answers. */
  readonly version: string;
  /** Nodes that were seen within the last minute. */
  readonly nodes: readonly NodeStanding[];
  readonly counts: StatusCounts;
  /** What needs a person, worst first. */
  readonly needs: readonly Need[];
  readonly endpoints: readonly EndpointStanding[];
  readonly sources: readonly SourceStanding[];
  /** Handlers in the processes of hosts. */
  readonly consumers: readonly Consumer[];
}

/** A node that was seen lately. */
export interface NodeStanding {
  readonly name: string;
  readonly roles: readonly string[];
  readonly version: string;
  readonly startedAt: string;
  readonly seenAt: string;
  /** Since it was seen. */
  readonly seenMs: number;
}

/** How much waits, is dead or is blocked. */
export interface StatusCounts {
  /** Deliveries that wait or are under way. */
  readonly waiting: number;
  /** Events that were stored and have no places in lanes yet. */
  readonly staged: number;
  /** Of these, those that wait for others of their key. */
  readonly held: number;
  /** Deliveries that were given up, and that nobody has resolved. */
  readonly dead: number;
  readonly haltedLanes: number;
  readonly parkedLanes: number;
  readonly retryingLanes: number;
  /** What stands in halted and parked lanes, the dead heads included. */
  readonly blockedDeliveries: number;
  /** How long the longest due delivery has been due. */
  readonly oldestDueMs: number;
  /** The longest of what is due and what is blocked; 0 when nothing waits. */
  readonly oldestUndeliveredMs: number;
  /** False where there is more than is counted: the figures are then the least that there is. */
  readonly exact: boolean;
}

/** One thing that needs a person. */
export interface Need {
  readonly kind:
    | "store_refusing"
    | "no_dispatcher"
    | "no_worker"
    | "lane_halted"
    | "lane_parked"
    | "endpoint_disabled"
    | "endpoint_failing"
    | "source_rejecting"
    | "source_silent"
    | "dead_letters"
    | "lane_retrying"
    /** Events of a key wait for others that have not come. */
    | "key_held"
    | "consumer_paused"
    | "endpoint_paused";
  /** `bad`: somebody gets nothing. `warn`: somebody will not, if it goes on. `note`: an operator asked for it. */
  readonly level: "bad" | "warn" | "note";
  readonly text: string;
  readonly endpointId: string | null;
  readonly laneId: string | null;
  readonly key: string | null;
  readonly source: string | null;
  /** Of what the text counts. */
  readonly count: number;
  readonly sinceMs: number | null;
  readonly because: string | null;
}

/** How an endpoint stands. */
export interface EndpointStanding {
  readonly id: string;
  readonly tenant: string;
  readonly url: string;
  /** The worst that is true of it. */
  readonly state: "active" | "failing" | "parked" | "halted" | "paused" | "disabled";
  readonly configured: "active" | "paused" | "disabled";
  readonly because: string | null;
  /** Deliveries that wait, those behind a dead head included. */
  readonly waiting: number;
  readonly haltedLanes: number;
  readonly parkedLanes: number;
  readonly retryingLanes: number;
  /** How long its longest due or blocked delivery has been so. */
  readonly oldestMs: number | null;
  /** False where more waits than is counted. */
  readonly exact: boolean;
  /** Of the last ten minutes. */
  readonly recent: {
    readonly attempts: number;
    readonly delivered: number;
    readonly failed: number;
    readonly dead: number;
    readonly p50Ms: number | null;
    readonly p99Ms: number | null;
    readonly lagP99Ms: number | null;
  };
}

/** How a source stands. */
export interface SourceStanding {
  readonly name: string;
  readonly tenant: string;
  readonly scheme: string;
  /** `new`: nothing ever came. `silent`: something used to come. */
  readonly state: "active" | "silent" | "rejecting" | "new";
  /** The start of the last minute or hour in which something came. */
  readonly lastAt: string | null;
  /** Of the last ten minutes. */
  readonly recent: {
    readonly in: number;
    readonly stored: number;
    readonly duplicate: number;
    readonly conflict: number;
    readonly rejected: number;
  };
}

/** Which counts are wanted, and in which steps. */
export interface SeriesQuery {
  /** ISO 8601, or an age as `90m`, `24h`, `7d`. @default "1h" */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** Seconds: 60, 300, 900, 3600, 21600 or 86400. @default the smallest that gives at most 120 points */
  readonly step?: number | undefined;
  /** @default "all" */
  readonly by?: "total" | "source" | "endpoint" | "all" | undefined;
  readonly source?: string | undefined;
  readonly endpoint?: string | undefined;
}

/** Counts over time. Every array has one entry for each of `times`. */
export interface Series {
  readonly since: string;
  readonly until: string;
  readonly stepS: number;
  /** The start of each step, oldest first. */
  readonly times: readonly string[];
  readonly total: SourceCounts & EndpointCounts;
  /** Those of which something was counted. */
  readonly sources: readonly (SourceCounts & { readonly name: string })[];
  readonly endpoints: readonly (EndpointCounts & { readonly id: string })[];
  /** True where there are more sources or endpoints than are listed; the busiest are. */
  readonly cut: boolean;
}

/** What was counted at a source, or at all of them. */
export interface SourceCounts {
  /** Everything that providers sent: the five below together. */
  readonly in: readonly number[];
  readonly stored: readonly number[];
  readonly duplicate: readonly number[];
  readonly conflict: readonly number[];
  readonly rejected: readonly number[];
  /** Answered with 503, because the database failed. */
  readonly failedIn: readonly number[];
  /** Through the API. */
  readonly published: readonly number[];
}

/** What was counted at an endpoint, or at all of them. */
export interface EndpointCounts {
  readonly attempts: readonly number[];
  readonly delivered: readonly number[];
  readonly failed: readonly number[];
  readonly dead: readonly number[];
  /** Of an attempt. */
  readonly duration: Quantiles;
  /** From the event's id to its acknowledgement. */
  readonly lag: Quantiles;
}

/** Milliseconds, within 10 %. */
export interface Quantiles {
  readonly count: readonly number[];
  readonly p50: readonly (number | null)[];
  readonly p90: readonly (number | null)[];
  readonly p99: readonly (number | null)[];
}

/** Everything that is known of one event. */
export interface Story {
  readonly foundBy: "event_id" | "provider_id" | "delivery_id";
  readonly event: EventDetail;
  /** SHA-256 of the body, in hex. */
  readonly bodySha256: string;
  /** Duplicates and conflicts, oldest first. */
  readonly repeats: readonly Repeat[];
  readonly deliveries: readonly StoryDelivery[];
  /** Where it stands in the sequence of its key; null where its source holds nothing back. */
  readonly held: HeldEvent | null;
  /** All of it in the order of time; what is still to come stands last. */
  readonly steps: readonly Step[];
}

/** A request that carried an event which had come before. */
export interface Repeat {
  /** `conflict`: under the same name, with another body. */
  readonly kind: "duplicate" | "conflict";
  /** How often these bytes came. */
  readonly receipts: number;
  readonly firstAt: string;
  readonly lastAt: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyBytes: number;
  readonly bodySha256: string;
  /** As base64; null where the bytes are the event's own. */
  readonly body: string | null;
}

/** A delivery in the story of its event. */
export interface StoryDelivery extends Delivery {
  /** Every attempt, in order. */
  readonly tried: readonly Attempt[];
  /** How its rounds ended, other than by being delivered. */
  readonly ends: readonly End[];
  /** Why it stands as it stands. */
  readonly sentence: string;
}

/** How a round of a delivery ended without being delivered. */
export interface End {
  readonly round: number;
  readonly how: "dead" | "cancelled";
  readonly because: string;
  readonly at: string;
  readonly resolvedAt: string | null;
  readonly resolvedHow: "redriven" | "skipped" | "cancelled" | "forgotten" | null;
}

/** One point of an event's story. */
export interface Step {
  /** Null where nobody knows when. */
  readonly at: string | null;
  /** Since the step before. */
  readonly afterMs: number | null;
  readonly kind:
    | "received"
    | "verified"
    | "published"
    | "stored"
    | "duplicate"
    | "conflict"
    /** It waits for others of its key that have not come. */
    | "held"
    /** What was decided of it in the sequence of its key: others were given up before it, or it came late. */
    | "decided"
    | "placed"
    | "attempt"
    | "delivered"
    | "dead"
    | "cancelled"
    | "redriven"
    | "skipped"
    /** What an operator asked for. */
    | "deed"
    | "waiting"
    | "next_attempt";
  /** True for what is still to come. */
  readonly future: boolean;
  readonly text: string;
  readonly endpointId: string | null;
  readonly deliveryId: string | null;
  readonly round: number | null;
  readonly attempt: number | null;
  readonly outcome: string | null;
  readonly status: number | null;
  readonly durationMs: number | null;
  /** Of a deed: who did it, the reason that was given, and the operation that it was a part of. */
  readonly by: string | null;
  readonly note: string | null;
  readonly operationId: string | null;
}

/** What waits in a lane, from both ends. */
export interface LaneWaiting {
  readonly lane: Lane;
  /** Why the lane stands as it stands. */
  readonly sentence: string;
  /** The last that are finished, oldest first. */
  readonly before: readonly WaitingDelivery[];
  /** From the head on. */
  readonly first: readonly WaitingDelivery[];
  /** The newest, oldest of them first; none that is in `first`. */
  readonly last: readonly WaitingDelivery[];
  /** How many stand between the two, as decimal text. */
  readonly between: string;
}

/** A delivery in its place in a lane. */
export interface WaitingDelivery {
  readonly id: string;
  readonly sequence: string;
  readonly eventId: string;
  readonly type: string;
  readonly state: Delivery["state"];
  /** When the event happened. */
  readonly time: string;
  /** When it was stored. */
  readonly writtenAt: string;
  /** Since it was stored. */
  readonly ageMs: number;
}

/** What an id leads to. */
export interface Found {
  readonly kind: "event" | "delivery" | "lane" | "endpoint" | "source" | "rejected";
  readonly id: string;
  readonly tenant: string | null;
  readonly text: string;
  readonly foundBy: "id" | "provider_id" | "id_prefix";
}

/** The kinds of messages of a tail. */
export type TailKind =
  | "stored"
  | "duplicate"
  | "conflict"
  | "rejected"
  | "published"
  | "attempted"
  | "dead"
  | "endpoint_disabled";

/** Which messages of a tail are wanted. */
export interface TailQuery {
  readonly kind?: readonly TailKind[] | undefined;
  readonly source?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly type?: string | undefined;
  /** The id of the last message that was read. */
  readonly after?: string | undefined;
}

/** Something that happened on the node that answers. */
export interface TailMessage {
  readonly id: string;
  readonly at: string;
  readonly kind: TailKind;
  readonly source: string | null;
  readonly endpointId: string | null;
  readonly type: string | null;
  readonly eventId: string | null;
  readonly attempt: number | null;
  readonly outcome: string | null;
  readonly status: number | null;
  readonly error: string | null;
  readonly durationMs: number | null;
  /** Why a delivery is dead or an endpoint disabled. */
  readonly because: string | null;
  /** Why a request was rejected. */
  readonly code: string | null;
}

/** What the node that answers runs with. */
export interface SettingsInForce {
  readonly node: string;
  readonly items: readonly SettingInForce[];
}

/** One setting of a node, and where it is from. */
export interface SettingInForce {
  /** As in the configuration file. */
  readonly key: string;
  readonly section: string;
  /** As it is written in the file, secrets left out; null where there is none. */
  readonly value: string | null;
  /** A flag, a variable, a line of the file, or `default`. */
  readonly origin: string;
  readonly says: string;
}

/** Messages that a tail could not have: how many, where that is known. */
export interface TailGap {
  readonly kind: "gap";
  readonly lost: number | null;
}

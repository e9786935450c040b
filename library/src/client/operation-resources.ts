import type { InboxQuery } from "./inbox-resources.js";
import type { DeadLetter } from "./resources.js";

/** Which dead letters are meant; each is served by an index. */
export interface DeadQuery {
  readonly endpoint?: string | undefined;
  readonly because?: string | undefined;
  /** The status by which it died, or `none`. */
  readonly status?: string | undefined;
  /** The class of the error by which it died, or `none`. */
  readonly error?: string | undefined;
  /** Only together with `endpoint`. */
  readonly key?: string | undefined;
  readonly tenant?: string | undefined;
  /** It died at this time or later: ISO 8601, or an age such as `24h`. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** Dead letters of one endpoint that died alike. */
export interface DeadGroup {
  readonly id: string;
  readonly tenant: string;
  readonly endpointId: string;
  readonly because: string;
  readonly status: number | null;
  readonly error: string | null;
  readonly count: number;
  readonly firstAt: string;
  readonly lastAt: string;
  readonly note: DeadNote | null;
}

/** What somebody wrote about a group of dead letters. */
export interface DeadNote {
  readonly text: string;
  readonly by: string;
  readonly at: string;
}

/** What is meant: exactly one of these. */
export interface OperationFilter {
  readonly dead?: DeadQuery | undefined;
  /** Up to 1,000 dead deliveries. */
  readonly deliveries?: readonly string[] | undefined;
  /** Up to 100 lanes, each with the head that is meant. */
  readonly lanes?: readonly { readonly id: string; readonly head: string }[] | undefined;
  /** Rows of the inbox that were applied, for a replay. */
  readonly inbox?: InboxQuery | undefined;
}

/** What an operation does to each of its items. */
export type OperationVerb = "redrive" | "skip" | "cancel" | "replay";

/** An operation that is to be planned, and run unless `dryRun` says otherwise. */
export interface OperationInput {
  readonly verb: OperationVerb;
  readonly filter: OperationFilter;
  /** Only plan it. @default false */
  readonly dryRun?: boolean | undefined;
  readonly rate?: number | undefined;
  readonly note?: string | undefined;
}

/** How a planned operation is to be run. */
export interface OperationRun {
  /** Items per second. @default 100 */
  readonly rate?: number | undefined;
  readonly note?: string | undefined;
}

/** Who asked for it. */
export interface OperationActor {
  readonly token: string;
  readonly name: string;
  readonly via: "token" | "session";
}

/** What to know before an operation is run. */
export interface OperationWarning {
  readonly code:
    | "forgotten_ids"
    | "endpoint_stopped"
    | "lanes_go_on"
    | "cannot_be_undone"
    | "more_match"
    | "nothing_matches"
    | "under_way";
  readonly text: string;
  readonly count: number | null;
}

/** What is sent next, and where in its lane. */
export interface OperationNext {
  readonly laneId: string | null;
  readonly endpointId: string;
  readonly key: string | null;
  readonly deliveryId: string;
  readonly place: "head" | "end" | "behind_gap";
  /** How many wait behind it. */
  readonly waiting: number;
}

/** What an operation would do, counted before it does anything. */
export interface OperationPlan {
  readonly words: string;
  readonly count: number;
  /** More match than one operation takes: it takes the oldest. */
  readonly more: boolean;
  readonly lanes: number;
  readonly waitingBehind: number;
  readonly endpoints: readonly {
    readonly id: string;
    readonly count: number;
    readonly state: "active" | "paused" | "disabled";
  }[];
  readonly oldest: DeadLetter | null;
  readonly newest: DeadLetter | null;
  readonly sample: readonly DeadLetter[];
  readonly next: readonly OperationNext[];
  readonly warnings: readonly OperationWarning[];
}

/** One verb for many deliveries or lanes, with its plan and how far it is. */
export interface Operation {
  /** `op_…`: of a plan, what it is run by. */
  readonly id: string;
  readonly verb: OperationVerb;
  readonly filter: OperationFilter;
  readonly state: "planned" | "running" | "stopping" | "stopped" | "finished" | "failed";
  readonly plan: OperationPlan;
  readonly rate: number;
  readonly done: number;
  /** How many items came to each result. */
  readonly results: Readonly<Record<string, number>>;
  readonly message: string | null;
  readonly by: OperationActor;
  readonly stoppedBy: OperationActor | null;
  readonly note: string | null;
  /** Which node works on it. */
  readonly node: string | null;
  readonly plannedAt: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
}

/** What became of one delivery or lane of an operation. */
export interface OperationItem {
  readonly number: number;
  readonly deliveryId: string | null;
  readonly laneId: string | null;
  readonly round: number | null;
  readonly eventId: string | null;
  readonly endpointId: string | null;
  readonly result:
    | "pending"
    | "in_place"
    | "at_end"
    /** It was redriven in this round before: by this operation's step that was cut off, or by somebody else. */
    | "before"
    | "skipped"
    | "intended"
    | "cancelled"
    /** A replay: it waits for its handler. */
    | "staged"
    | "not_applied"
    | "not_stored"
    | "no_worker"
    | "unknown";
  readonly count: number;
  readonly at: string | null;
}

/** One change by the API. */
export interface AuditEntry {
  readonly id: string;
  readonly at: string;
  readonly by: OperationActor;
  /** As `endpoint.update`. */
  readonly action: string;
  readonly subject: { readonly kind: string; readonly id: string | null };
  /** As the API shows it, without secrets. */
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
  readonly note: string | null;
  /** Null: the process ended before it knew. */
  readonly status: number | null;
  readonly requestId: string;
}

/** Which entries are wanted: one of actor, action, kind and subject. */
export interface AuditQuery {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly kind?: string | undefined;
  readonly subject?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

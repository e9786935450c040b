import type { Operation, OperationActor, OperationItem, OperationPlan } from "posthorn/client";

/** An operation as it is stored. */
export interface OperationRecord {
  /** `op_…`: the plan's token, too. */
  readonly id: string;
  readonly verb: Operation["verb"];
  readonly filter: Operation["filter"];
  readonly plan: StoredPlan;
  readonly state: Operation["state"];
  readonly rate: number;
  /** Where the next step begins. */
  readonly after: string | undefined;
  readonly done: number;
  readonly results: Readonly<Record<string, number>>;
  readonly message: string | undefined;
  readonly plannedBy: OperationActor;
  readonly runBy: OperationActor | undefined;
  readonly stoppedBy: OperationActor | undefined;
  readonly note: string | undefined;
  readonly node: string | undefined;
  readonly plannedAt: Date;
  readonly startedAt: Date | undefined;
  readonly endedAt: Date | undefined;
}

/** What was shown, and what the run needs of it. */
export interface StoredPlan extends OperationPlan {
  /** The highest number of a dead letter that was counted, as decimal text: what dies later is not meant. */
  readonly upTo: string | null;
  /** The lanes that were named, with the last sequence that waited in each then. */
  readonly targets: readonly LaneTarget[];
}

export interface LaneTarget {
  readonly id: string;
  readonly head: string;
  readonly through: string;
}

/** An operation that this node has leased; the epoch is the fence of the lease. */
export interface LeasedOperation extends OperationRecord {
  readonly epoch: number;
}

/** What one step does something with. */
export interface ItemRecord extends Pick<
  OperationItem,
  "number" | "deliveryId" | "laneId" | "round" | "eventId" | "endpointId"
> {
  readonly through: string | null;
}

export interface ItemResult {
  readonly number: number;
  readonly result: OperationItem["result"];
  readonly count: number;
}

export interface StepEnd {
  readonly results: readonly ItemResult[];
  /** Totals after this step. */
  readonly done: number;
  readonly counts: Readonly<Record<string, number>>;
}

/** The lease of a node on an operation. */
export interface OperationLease {
  readonly id: string;
  readonly epoch: number;
  readonly leaseMs: number;
}

/** An event, and the lanes in which it waited. */
export interface Touched {
  readonly eventId: string;
  readonly lanes: readonly string[];
}

/** What an operation did to an event, or to all that waited in a lane. */
export interface ItemDeed extends Pick<OperationRecord, "verb" | "runBy" | "note"> {
  readonly operationId: string;
  readonly item: OperationItem;
}

export interface OperationPage {
  readonly state?: string | undefined;
  readonly verb?: string | undefined;
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Where operations are kept. */
export interface OperationRegistry {
  addOperation(operation: OperationRecord): Promise<void>;
  readOperation(id: string): Promise<OperationRecord | undefined>;
  /** Newest first; without plans that were never run, unless that state is asked for. */
  listOperations(page: OperationPage): Promise<readonly OperationRecord[]>;
  /** Runs what is planned; false where it is not planned any more. */
  startOperation(
    id: string,
    run: {
      readonly rate: number;
      readonly note: string | undefined;
      readonly by: OperationActor;
      readonly at: Date;
    },
  ): Promise<boolean>;
  /** False where it has ended. */
  changeRate(id: string, rate: number): Promise<boolean>;
  /** A planned one is stopped at once, a running one before its next step; false where it has ended, or is stopping. */
  stopOperation(id: string, by: OperationActor, at: Date): Promise<boolean>;
  /** Leases the oldest that runs or is to stop and that nobody holds, under a new epoch. */
  leaseOperation(node: string, leaseMs: number): Promise<LeasedOperation | undefined>;
  /** Gives a lease back, so that another node need not wait for its end. */
  releaseOperation(lease: Pick<OperationLease, "id" | "epoch">): Promise<void>;
  /**
   * Writes the items of the next step as pending, and where the step after it begins, in one transaction. False where
   * the lease has passed to another, or the operation is to stop: then no step may be made.
   */
  beginStep(lease: OperationLease, items: readonly ItemRecord[], after: string): Promise<boolean>;
  /** Items that were begun and not ended, in order. */
  pendingItems(id: string): Promise<readonly ItemRecord[]>;
  /** Writes what came of a step, and keeps the lease; undefined where it has passed to another. */
  endStep(lease: OperationLease, end: StepEnd): Promise<Pick<OperationRecord, "state" | "rate"> | undefined>;
  endOperation(
    lease: Pick<OperationLease, "id" | "epoch">,
    end: {
      readonly state: "stopped" | "finished" | "failed";
      readonly message: string | undefined;
      readonly at: Date;
    },
  ): Promise<void>;
  /** In the order in which they are done. */
  listItems(
    id: string,
    page: { readonly result?: string | undefined; readonly after: number; readonly limit: number },
  ): Promise<readonly OperationItem[]>;
  /** What operations did to an event, or to all that waited in one of its lanes; newest first. */
  itemsAbout(touched: Touched, limit: number): Promise<readonly ItemDeed[]>;
  /** Removes plans that were made before this time and never run. */
  forgetPlans(before: Date): Promise<void>;
}

import type { Operation, OperationActor, OperationItem } from "posthorn/client";
import type { ItemDeed, OperationRecord, StoredPlan } from "./operation.js";

/** An operation as both databases keep it: texts of JSON, and instants in milliseconds. */
export interface StoredOperation {
  readonly id: string;
  readonly verb: Operation["verb"];
  readonly state: Operation["state"];
  readonly filter: string;
  readonly plan: string;
  readonly planned_by: string;
  readonly run_by: string | null;
  readonly stopped_by: string | null;
  readonly note: string | null;
  readonly rate: string | number;
  readonly after: string | null;
  readonly done: string | number;
  readonly results: string;
  readonly message: string | null;
  readonly planned: string | number;
  readonly started: string | number | null;
  readonly ended: string | number | null;
  readonly node: string | null;
  readonly epoch: string | number;
}

export function operationOf(row: StoredOperation): OperationRecord & { readonly epoch: number } {
  return {
    id: row.id,
    verb: row.verb,
    state: row.state,
    filter: JSON.parse(row.filter) as Operation["filter"],
    plan: JSON.parse(row.plan) as StoredPlan,
    plannedBy: JSON.parse(row.planned_by) as OperationActor,
    runBy: actorOf(row.run_by),
    stoppedBy: actorOf(row.stopped_by),
    note: row.note ?? undefined,
    rate: Number(row.rate),
    after: row.after ?? undefined,
    done: Number(row.done),
    results: JSON.parse(row.results) as Record<string, number>,
    message: row.message ?? undefined,
    plannedAt: new Date(Number(row.planned)),
    startedAt: dateOf(row.started),
    endedAt: dateOf(row.ended),
    node: row.node ?? undefined,
    epoch: Number(row.epoch),
  };
}

function actorOf(text: string | null): OperationActor | undefined {
  return text === null ? undefined : (JSON.parse(text) as OperationActor);
}

function dateOf(ms: string | number | null): Date | undefined {
  return ms === null ? undefined : new Date(Number(ms));
}

/** An item with its operation, as both databases keep them. */
export interface StoredDeed extends StoredItem, Pick<StoredOperation, "verb" | "run_by" | "note"> {
  readonly operation_id: string;
}

export function deedOf(row: StoredDeed): ItemDeed {
  const { verb, operation_id: operationId, note } = row;
  return { verb, operationId, runBy: actorOf(row.run_by), note: note ?? undefined, item: itemOf(row) };
}

/** An item as both databases keep it. */
export interface StoredItem {
  readonly number: string | number;
  readonly delivery_id: string | null;
  readonly lane_id: string | null;
  readonly round: string | number | null;
  readonly through: string | null;
  readonly event_id: string | null;
  readonly endpoint_id: string | null;
  readonly result: OperationItem["result"];
  readonly count: string | number;
  readonly done: string | number | null;
}

export function itemOf(row: StoredItem): OperationItem & { readonly through: string | null } {
  return {
    number: Number(row.number),
    deliveryId: row.delivery_id,
    laneId: row.lane_id,
    round: row.round === null ? null : Number(row.round),
    through: row.through,
    eventId: row.event_id,
    endpointId: row.endpoint_id,
    result: row.result,
    count: Number(row.count),
    at: row.done === null ? null : new Date(Number(row.done)).toISOString(),
  };
}

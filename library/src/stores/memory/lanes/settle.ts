import type { Settled, Settlement, SettleRequest } from "../../../lanes/lane-store.js";
import type { MemoryParts } from "../parts.js";
import { laneOf } from "./lane-row.js";
import { writeChange } from "./record-ended.js";
import { leaseRun } from "./run.js";

/** Writes what a worker did with one claim. Nothing awaits here: attempts and next state are there together. */
export function settle(parts: MemoryParts, settlement: Settlement, request: SettleRequest): Settled {
  const { lanes, endpoints, rule } = parts;
  const { kind, id } = settlement.claim;
  const row = lanes.find(kind, id);
  if (row === undefined || !rule.isCurrent(laneOf(row), settlement.claim)) return { kind: "stale" };
  const active = endpoints.isActive(row.endpointId);
  const change = rule.settled(laneOf(row), settlement, { active });
  writeChange(parts, row, change);
  return { kind: "settled", next: leaseRun(parts, row, change, request) };
}

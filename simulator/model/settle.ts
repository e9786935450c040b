import type { Settled, Settlement, SettleRequest } from "../../library/src/lanes/lane-store.js";
import { laneOf, lease, write } from "./lanes.js";
import type { Model } from "./model.js";
import { laneKeyOf } from "./rows.js";

/** Writes what a worker did with one claim, attempts and next state together. */
export function settle(model: Model, settlement: Settlement, request: SettleRequest): Settled {
  const { rows, rules } = model;
  const row = rows.lanes.get(laneKeyOf(settlement.claim));
  if (row === undefined || !rules.lane.isCurrent(laneOf(row), settlement.claim)) return { kind: "stale" };
  const active = rules.isActive(rows.endpoints.get(row.endpointId));
  const change = rules.lane.settled(laneOf(row), settlement, { active });
  write(model, row, change);
  return { kind: "settled", next: lease(model, row, change, request) };
}

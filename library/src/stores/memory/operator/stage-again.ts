import { handlerId } from "../../../consumer-name.js";
import { handledAgain, MARKED_S } from "../../../operator/replay-store.js";
import type { ReplayStore, StagedAgain, WantedAgain } from "../../../operator/replay-store.js";
import { placeIn } from "../../../outbox/fan-out.js";
import type { AcceptParts } from "../inbox/accept.js";
import { textOf } from "../inbox/inbox-row.js";
import { placeEvent } from "../lanes/places.js";
import type { MemoryParts } from "../parts.js";

/** Lets events be handled again: their rows are pending, and they have their places at the ends of their lanes. */
export function stageAgain(
  parts: MemoryParts,
  inbox: AcceptParts,
  wanted: readonly WantedAgain[],
): readonly StagedAgain[] {
  return wanted.map((each) => stageOne(parts, inbox, each));
}

function stageOne(parts: MemoryParts, { rows, applying }: AcceptParts, wanted: WantedAgain): StagedAgain {
  const { tenant, consumer: name } = wanted;
  const key = textOf(wanted, name);
  const row = rows.get(key);
  if (applying.has(key)) return row === undefined ? "unknown" : "busy";
  if (row === undefined) return "unknown";
  const event = row.storedAs === undefined ? undefined : parts.events.find(tenant, row.storedAs).at(-1);
  const handler = parts.endpoints.consumer(handlerId(name));
  const { outcome, round } = row;
  const known = { outcome, round, hasEvent: event !== undefined, hasConsumer: handler !== undefined };
  const again = handledAgain(wanted, known);
  if (typeof again === "string" || event === undefined || handler === undefined) return again as StagedAgain;
  rows.set(key, { ...row, outcome: "pending", round: again, keepUntilMs: undefined });
  placeEvent(parts, event, { ...placeIn(handler, event), round: 1 });
  return "staged";
}

/** Calls a row applied. */
export function markApplied(
  { rows, applying, clock }: AcceptParts,
  address: Parameters<ReplayStore["markApplied"]>[0],
): boolean {
  const key = textOf(address, address.consumer);
  const row = rows.get(key);
  if (row === undefined || row.outcome === "success" || row.round !== address.round || applying.has(key))
    return false;
  rows.set(key, { ...row, outcome: "success", keepUntilMs: clock.now() + MARKED_S * 1000 });
  return true;
}

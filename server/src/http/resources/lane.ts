import type { DeadLetter, Lane } from "posthorn/client";
import type { DeadLetter as DeadRecord, LaneSummary, Plain } from "posthorn/operator";
import { BIG, INSTANT, MAYBE_BIG, MAYBE_NUMBER, MAYBE_TEXT, whole } from "./text.js";

export const LANE: object = {
  $id: "Lane",
  ...whole<Lane>({
    id: BIG,
    tenant: { type: "string" },
    endpointId: { type: "string" },
    key: { type: "string" },
    state: { type: "string", enum: ["flowing", "halted", "parked", "retrying", "paused", "disabled"] },
    depth: { ...BIG, description: "How many deliveries wait in it, the head included." },
    head: { ...BIG, description: "The sequence of its first delivery." },
    headId: { type: "string", description: "The delivery at its head." },
    failures: { type: "integer" },
    blockedMs: { ...MAYBE_NUMBER, description: "Null where nothing blocks it." },
    dueInMs: MAYBE_NUMBER,
  }),
};

export const DEAD_LETTER: object = {
  $id: "DeadLetter",
  ...whole<DeadLetter>({
    id: { type: "string", description: "By which it is redriven." },
    laneId: MAYBE_TEXT,
    tenant: { type: "string" },
    endpointId: { type: "string" },
    key: MAYBE_TEXT,
    sequence: MAYBE_BIG,
    eventId: { type: "string" },
    type: { type: "string" },
    round: { type: "integer" },
    because: { type: "string" },
    diedAt: INSTANT,
    attempts: { type: "integer" },
    lastStatus: MAYBE_NUMBER,
    lastError: MAYBE_TEXT,
    blocks: { type: "boolean", description: "Whether its lane waits for it." },
  }),
};

export function showLane(lane: LaneSummary | Plain<LaneSummary>): Lane {
  return {
    id: lane.id.toString(),
    tenant: lane.tenant,
    endpointId: lane.endpointId,
    key: lane.key,
    state: lane.state,
    depth: lane.depth.toString(),
    head: lane.head.toString(),
    headId: `dlv_${lane.id}_${lane.head}`,
    failures: lane.failures,
    blockedMs: lane.blockedMs ?? null,
    dueInMs: lane.dueInMs ?? null,
  };
}

export function showDeadLetter(letter: DeadRecord | Plain<DeadRecord>): DeadLetter {
  return {
    id: letter.id,
    laneId: letter.laneId?.toString() ?? null,
    tenant: letter.tenant,
    endpointId: letter.endpointId,
    key: letter.key ?? null,
    sequence: letter.sequence?.toString() ?? null,
    eventId: letter.eventId,
    type: letter.type,
    round: letter.round,
    because: letter.because,
    diedAt: letter.diedAt.toISOString(),
    attempts: letter.attempts,
    lastStatus: letter.lastStatus ?? null,
    lastError: letter.lastError ?? null,
    blocks: letter.blocks,
  };
}

import type { OperationFilter, OperationNext, OperationPlan, OperationVerb } from "posthorn/client";
import { parseLaneId } from "posthorn/gateway";
import type { DeadFilter, DeadLetter, DeliverySummary, LaneSummary } from "posthorn/operator";
import { notFound, problem } from "../http/problem.js";
import { showDeadLetter } from "../http/resources/lane.js";
import type { ServerParts } from "../parts.js";
import type { LaneTarget, StoredPlan } from "../store/operation.js";
import { deadFilterOf } from "./dead-query.js";
import { planReplay } from "./replay-plan.js";
import { planOf, REMEMBERED_MS } from "./plan.js";
import type { PlanFacts } from "./plan.js";

type PlannerParts = Pick<ServerParts, "outbox" | "clock">;

const SAMPLE = 10;

/** Looks at what an operation would touch, and says what it will do. Nothing is changed. */
export function makePlan(
  parts: PlannerParts,
  verb: OperationVerb,
  filter: OperationFilter,
): Promise<StoredPlan> {
  if (filter.inbox !== undefined && verb === "replay" && Object.keys(filter).length === 1)
    return planReplay(parts, filter.inbox);
  const kinds = [filter.dead, filter.deliveries, filter.lanes, filter.inbox].filter(
    (kind) => kind !== undefined,
  );
  if (kinds.length !== 1) {
    throw problem("request_invalid", "`filter` takes exactly one of dead, deliveries, lanes and inbox.", {
      field: "filter",
    });
  }
  if (filter.dead !== undefined && (verb === "redrive" || verb === "skip")) {
    return planDead(parts, verb, deadFilterOf(filter.dead, parts.clock.now()));
  }
  if (filter.deliveries !== undefined && verb === "redrive") return planDeliveries(parts, filter.deliveries);
  if (filter.lanes !== undefined && (verb === "skip" || verb === "cancel"))
    return planLanes(parts, verb, filter.lanes);
  throw problem(
    "request_invalid",
    "Dead letters are redriven or skipped, deliveries are redriven, lanes are skipped or cancelled, and rows of the inbox are replayed.",
    { field: "filter" },
  );
}

async function planDead(
  parts: PlannerParts,
  verb: "redrive" | "skip",
  filter: DeadFilter,
): Promise<StoredPlan> {
  const { outbox, clock } = parts;
  const summary = await outbox.deadSummary(filter);
  const { upTo } = summary;
  const bounded = { ...filter, upTo };
  const { items } = await outbox.deadLetters({ limit: SAMPLE }, { ...bounded, order: "oldest" });
  const newest = await outbox.deadLetters({ limit: 1 }, bounded);
  const meant = verb === "skip" ? items.filter(({ blocks }) => blocks) : items;
  const remembered = new Date(clock.now() - REMEMBERED_MS);
  const hasOld = (items[0]?.diedAt ?? remembered) < remembered;
  const until = filter.until !== undefined && filter.until < remembered ? filter.until : remembered;
  const forgotten = hasOld ? (await outbox.deadSummary({ ...bounded, until })).count : 0;
  const facts: PlanFacts = {
    ...summary,
    verb,
    count: verb === "skip" ? summary.blocking : summary.count,
    lanes: verb === "skip" ? summary.blocking : summary.lanes,
    endpoints: await standing(parts, summary.endpoints),
    oldest: items[0] && showDeadLetter(items[0]),
    newest: newest.items[0] && showDeadLetter(newest.items[0]),
    sample: meant.map(showDeadLetter),
    next: await nextOf(parts, verb, meant),
    forgotten,
    underWay: 0,
  };
  return { ...planOf(facts), upTo: upTo === undefined ? null : String(upTo), targets: [] };
}

async function standing(
  { outbox }: PlannerParts,
  counts: readonly { readonly endpointId: string; readonly count: number }[],
): Promise<OperationPlan["endpoints"]> {
  const found = await outbox.readEndpoints(counts.map(({ endpointId }) => endpointId));
  const states = new Map(found.map(({ id, state }) => [id, state]));
  return counts.map(({ endpointId: id, count }) => ({ id, count, state: states.get(id) ?? "active" }));
}

/** What is sent next of each lane, and where in it. */
async function nextOf(
  { outbox }: PlannerParts,
  verb: "redrive" | "skip",
  letters: readonly DeadLetter[],
): Promise<readonly OperationNext[]> {
  const next: OperationNext[] = [];
  for (const { id, laneId, endpointId, key = null, sequence = 0n, blocks } of letters) {
    const lane = laneId === undefined ? undefined : await outbox.lane(laneId);
    const depth = Number(lane?.depth ?? 0n);
    if (verb === "skip" && depth < 2) continue;
    const place = verb === "skip" ? "behind_gap" : blocks ? "head" : "end";
    next.push({
      laneId: laneId?.toString() ?? null,
      endpointId,
      key,
      deliveryId: verb === "skip" ? `dlv_${laneId}_${sequence + 1n}` : id,
      place,
      waiting: place === "end" ? 0 : Math.max(0, depth - (verb === "skip" ? 2 : 1)),
    });
  }
  return next;
}

async function planDeliveries(parts: PlannerParts, ids: readonly string[]): Promise<StoredPlan> {
  const found: DeadLetter[] = [];
  for (const id of new Set(ids)) {
    const delivery = await parts.outbox.delivery(id);
    if (delivery === undefined) throw notFound("delivery", id);
    if (delivery.state === "dead" && (await isOpen(parts, id))) found.push(await letterOf(parts, delivery));
  }
  const letters = found.toSorted((a, b) => a.diedAt.getTime() - b.diedAt.getTime());
  const lanes = new Set(letters.flatMap(({ laneId }) => laneId ?? []));
  const remembered = parts.clock.now() - REMEMBERED_MS;
  const next = await nextOf(parts, "redrive", letters.slice(0, SAMPLE));
  const counts = new Map<string, number>();
  for (const { endpointId } of letters) counts.set(endpointId, (counts.get(endpointId) ?? 0) + 1);
  const facts: PlanFacts = {
    verb: "redrive",
    count: letters.length,
    more: false,
    lanes: lanes.size,
    blocking: letters.filter(({ blocks }) => blocks).length,
    waitingBehind: next.reduce((sum, { waiting }) => sum + waiting, 0),
    endpoints: await standing(
      parts,
      [...counts].map(([endpointId, count]) => ({ endpointId, count })),
    ),
    oldest: letters[0] && showDeadLetter(letters[0]),
    newest: letters.at(-1) && showDeadLetter(letters.at(-1) as DeadLetter),
    sample: letters.slice(0, SAMPLE).map(showDeadLetter),
    next,
    forgotten: letters.filter(({ diedAt }) => diedAt.getTime() < remembered).length,
    underWay: 0,
  };
  return { ...planOf(facts), upTo: null, targets: [] };
}

/** A lane that went on keeps the place in which it died: redriven from there, it is dead there still, and resolved. */
async function isOpen({ outbox }: PlannerParts, id: string): Promise<boolean> {
  return (await outbox.ends(id)).some(({ how, resolvedAt }) => how === "dead" && resolvedAt === undefined);
}

async function letterOf({ outbox }: PlannerParts, delivery: DeliverySummary): Promise<DeadLetter> {
  const lane = delivery.laneId === undefined ? undefined : await outbox.lane(delivery.laneId);
  const blocks = lane !== undefined && lane.head === delivery.sequence && isStopped(lane);
  const { because, lastAttemptAt, dueInMs: _due, state: _state, ...rest } = delivery;
  return {
    ...rest,
    number: 0n,
    because: because as DeadLetter["because"],
    diedAt: lastAttemptAt ?? new Date(0),
    blocks,
  };
}

function isStopped({ state }: LaneSummary): boolean {
  return state === "halted" || state === "parked";
}

async function planLanes(
  parts: PlannerParts,
  verb: "skip" | "cancel",
  named: NonNullable<OperationFilter["lanes"]>,
): Promise<StoredPlan> {
  const { outbox } = parts;
  const lanes: LaneSummary[] = [];
  let underWay = 0;
  for (const { id, head } of named) {
    const laneId = parseLaneId(id);
    const lane = laneId === undefined ? undefined : await outbox.lane(laneId);
    if (lane === undefined) throw notFound("lane in which something waits, with the id", id);
    if (lane.head.toString() !== head) {
      throw problem("lane_moved", `The head of lane ${id} is ${lane.head} by now. Nothing was changed.`, {
        head: lane.head.toString(),
      });
    }
    lanes.push(lane);
    if ((await outbox.delivery(`dlv_${id}_${head}`))?.state === "under_way") underWay += 1;
  }
  const targets = lanes.map(targetOf);
  const counts = new Map<string, number>();
  for (const { endpointId } of lanes) counts.set(endpointId, (counts.get(endpointId) ?? 0) + 1);
  const facts: PlanFacts = {
    verb,
    count: verb === "skip" ? lanes.length : lanes.reduce((sum, { depth }) => sum + Number(depth), 0),
    more: false,
    lanes: lanes.length,
    blocking: lanes.filter(isStopped).length,
    waitingBehind: verb === "cancel" ? 0 : lanes.reduce((sum, { depth }) => sum + Number(depth) - 1, 0),
    endpoints: await standing(
      parts,
      [...counts].map(([endpointId, count]) => ({ endpointId, count })),
    ),
    oldest: undefined,
    newest: undefined,
    sample: [],
    next: verb === "cancel" ? [] : lanes.slice(0, SAMPLE).flatMap(behind),
    forgotten: 0,
    underWay,
  };
  return { ...planOf(facts), upTo: null, targets };
}

function targetOf({ id, head, depth }: LaneSummary): LaneTarget {
  return { id: String(id), head: String(head), through: String(head + depth - 1n) };
}

/** What a skip lets past: the delivery behind the head. */
function behind({ id, endpointId, key, head, depth }: LaneSummary): readonly OperationNext[] {
  if (depth < 2n) return [];
  const deliveryId = `dlv_${id}_${head + 1n}`;
  return [
    { laneId: String(id), endpointId, key, deliveryId, place: "behind_gap", waiting: Number(depth) - 2 },
  ];
}

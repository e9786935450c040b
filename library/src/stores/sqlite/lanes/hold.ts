import type { Gap, HoldMark } from "../../../hold-mark.js";
import { withRoom } from "../../../lanes/deal.js";
import type { Dealt } from "../../../lanes/deal.js";
import { goingOn, planHold } from "../../../lanes/hold.js";
import type { Filled, Freed, HeldEvent, HoldPlan, KeyStanding, Progress } from "../../../lanes/hold.js";
import { gapSignal, lateSignal } from "../../../lanes/hold-signals.js";
import { decidedReceipt, holdMarkIn } from "../../../receipt.js";
import { withoutNul } from "../inbox/inbox-row.js";
import type { OutboxTurn } from "../outbox/turn.js";
import { forgetPassed, readFilled, newlyFilled } from "./filled.js";
import type { Staged } from "./stage.js";

/** What of the staged events goes on to its places, and what does not. */
export interface HeldBack {
  /** As given, without those that do not go on in this step; those of one key in the order of their sequences. */
  readonly queues: Queues;
  /** How many are held from now on. */
  readonly held: number;
  /** How many are in the stage and held no longer: put back, or not taken out of it. */
  readonly freed: number;
}

type Queues = readonly (readonly Staged[])[];

interface KeyName {
  readonly tenant: string;
  readonly source: string;
  readonly key: string;
}

interface HeldRow extends HeldEvent, KeyName {
  readonly event: bigint;
  readonly stage: bigint;
  readonly publicId: string;
  readonly receipt: string | undefined;
}

interface Arrived extends KeyName {
  readonly staged: Staged;
  readonly mark: HoldMark;
}

interface KnownKey extends KeyName {
  readonly arrivals: Arrived[];
}

type Plan = HoldPlan<Arrived, HeldRow>;

/**
 * Holds events whose turn in the sequence of their key has not come, and puts those back into the stage whose turn has:
 * a gap has closed, or was given up.
 */
export function holdBack(
  turn: OutboxTurn,
  taken: Queues,
  deal: (queues: Queues) => readonly Dealt<Staged, unknown>[],
): HeldBack {
  const mayHold = taken.flat().some((staged) => arrivedOf(staged).length > 0);
  // The progress of a key counts all that go on. One without room would get its place in a later step, and be called late.
  const queues = mayHold ? withRoom(taken, deal) : taken;
  const keys = new Map<string, KnownKey>();
  const known = (name: KeyName): KnownKey => {
    const text = JSON.stringify([name.tenant, name.source, name.key]);
    const found = keys.get(text) ?? { ...name, arrivals: [] };
    keys.set(text, found);
    return found;
  };
  for (const arrived of queues.flat().flatMap(arrivedOf)) known(arrived).arrivals.push(arrived);
  for (const name of [...dueKeys(turn), ...newlyFilled(turn, KEYS_PER_TURN)]) known(name);
  if (keys.size === 0) return { queues, held: 0, freed: 0 };
  const plans = [...keys.values()].map((name) => {
    const plan = planHold(readKey(turn, name), name.arrivals);
    write(turn, name, plan);
    return plan;
  });
  return {
    queues: queues.map((queue) => goingOn(queue, plans)),
    held: plans.reduce((sum, { holding }) => sum + holding.length, 0),
    freed: plans.reduce((sum, { freed, again }) => sum + freed.length + again.length, 0),
  };
}

/** What was given up so that a held event goes on. */
export interface ReleasedHold {
  /** How many events are held no longer. */
  readonly events: number;
  readonly gaps: readonly Gap[];
}

/** Gives up what a held event waits for, and puts back into the stage what is held no longer. */
export function releaseHold(turn: OutboxTurn, name: KeyName, event: bigint): ReleasedHold {
  const known = readKey(turn, name);
  const held = known.held.map((each) => Object.assign({}, each, { isReleased: each.event === event }));
  const plan: Plan = planHold({ ...known, held }, []);
  write(turn, name, plan);
  return { events: plan.freed.length, gaps: plan.freed.flatMap(({ gap }) => gap ?? []) };
}

/** An event that has a part of its places had its turn before. */
function arrivedOf(staged: Staged): readonly Arrived[] {
  const { event, receipt, after } = staged;
  const mark = receipt === undefined ? undefined : holdMarkIn(receipt);
  if (mark === undefined || event?.key === undefined || after !== undefined) return [];
  const { tenant, source, key } = event;
  return [{ staged, mark, tenant, source, key }];
}

// Few enough for one turn to leave the event loop free soon.
const KEYS_PER_TURN = 100;

function dueKeys({ client, nowMs }: OutboxTurn): readonly KeyName[] {
  return client.all(
    "select tenant, source, key from posthorn_held where until <= ? order by until limit +?",
    nowMs,
    KEYS_PER_TURN,
  ) as KeyName[];
}

function readKey(turn: OutboxTurn, name: KeyName): KeyStanding<HeldRow, Filled> {
  return { progress: readProgress(turn, name), held: readHeld(turn, name), filled: readFilled(turn, name) };
}

function readProgress({ client }: OutboxTurn, { tenant, source, key }: KeyName): Progress | undefined {
  const [row] = client.allWide(
    "select generation, last_seq from posthorn_hold where tenant = ? and source = ? and key = ?",
    withoutNul(tenant),
    withoutNul(source),
    withoutNul(key),
  ) as { generation: bigint; last_seq: bigint }[];
  return row && { generation: row.generation, last: row.last_seq };
}

interface HeldColumns {
  readonly event: bigint;
  readonly stage: bigint;
  readonly until: bigint;
  readonly public_id: string | null;
  readonly receipt: string | null;
}

function readHeld({ client, nowMs }: OutboxTurn, name: KeyName): readonly HeldRow[] {
  const { tenant, source, key } = name;
  const rows = client.allWide(
    `select h.event, h.stage, h.until, e.public_id, e.receipt
     from posthorn_held h left join posthorn_event e on e.id = h.event
     where h.tenant = ? and h.source = ? and h.key = ? order by h.generation, h.seq`,
    withoutNul(tenant),
    withoutNul(source),
    withoutNul(key),
  ) as HeldColumns[];
  return rows.map(({ event, stage, until, public_id, receipt }) => ({
    tenant,
    source,
    key,
    event,
    stage,
    isDue: Number(until) <= nowMs,
    publicId: public_id ?? String(event),
    receipt: receipt ?? undefined,
    mark: receipt === null ? undefined : holdMarkIn(receipt),
  }));
}

function write(turn: OutboxTurn, name: KeyName, plan: Plan): void {
  const { going, holding, freed, again, progress, passed } = plan;
  if (progress !== undefined && going.length > 0) keepProgress(turn, name, progress);
  for (const arrived of holding) hold(turn, arrived);
  forgetPassed(turn, name, passed);
  for (const { held, gap } of freed) {
    if (gap) decide(turn, held, { gap });
    stageAgain(turn, held);
    tellGap(turn, held, { id: held.publicId, gap });
  }
  for (const { held, gap } of again) {
    const { eventId, publicId = "", receipt } = held.staged;
    if (gap) decide(turn, { event: eventId, receipt }, { gap });
    tellGap(turn, held, { id: publicId, gap });
  }
  for (const { arrived, isLate } of going) {
    if (!isLate) continue;
    const { eventId, publicId = "", receipt } = arrived.staged;
    decide(turn, { event: eventId, receipt }, { late: true });
    turn.notify(lateSignal(arrived, publicId, arrived.mark));
  }
}

function tellGap(
  turn: OutboxTurn,
  name: KeyName,
  { id, gap }: { readonly id: string; readonly gap: Freed<unknown>["gap"] },
): void {
  const signal = gapSignal(name, id, gap);
  if (signal !== undefined) turn.notify(signal);
}

function keepProgress(
  { client, nowMs }: OutboxTurn,
  { tenant, source, key }: KeyName,
  { generation, last }: Progress,
): void {
  client.run(
    "insert or replace into posthorn_hold (tenant, source, key, generation, last_seq, seen_at) values (?, ?, ?, ?, ?, ?)",
    withoutNul(tenant),
    withoutNul(source),
    withoutNul(key),
    generation,
    last,
    nowMs,
  );
}

function hold({ client, nowMs }: OutboxTurn, { tenant, source, key, staged, mark }: Arrived): void {
  client.run(
    `insert into posthorn_held (tenant, source, key, generation, seq, event, stage, until)
     values (?, ?, ?, ?, ?, ?, ?, ?)`,
    withoutNul(tenant),
    withoutNul(source),
    withoutNul(key),
    mark.generation,
    mark.sequence,
    staged.eventId,
    staged.id,
    Math.ceil(nowMs + mark.maxMs),
  );
  client.run("delete from posthorn_stage where id = ?", staged.id);
}

/** Under its old number: what was stored later stands behind it. */
function stageAgain(turn: OutboxTurn, { tenant, event, stage }: HeldRow): void {
  const { client } = turn;
  client.run("delete from posthorn_held where event = ?", event);
  client.run(
    "insert into posthorn_stage (id, tenant, event) values (?, ?, ?)",
    stage,
    withoutNul(tenant),
    event,
  );
  turn.mayWait = true;
}

/** Keeps with an event what was decided of it: its handler is told, and what was given up is not waited for again. */
function decide(
  { client }: OutboxTurn,
  { event, receipt }: { readonly event: bigint; readonly receipt: string | undefined },
  what: Parameters<typeof decidedReceipt>[1],
): void {
  if (receipt === undefined) return;
  client.run("update posthorn_event set receipt = ? where id = ?", decidedReceipt(receipt, what), event);
}

import { withRoom } from "../../../lanes/deal.js";
import type { Dealt } from "../../../lanes/deal.js";
import { goingOn, planHold } from "../../../lanes/hold.js";
import type { Freed, HeldEvent, HoldPlan, Progress } from "../../../lanes/hold.js";
import { gapSignal, lateSignal } from "../../../lanes/hold-signals.js";
import type { Gap, HoldMark } from "../../../hold-mark.js";
import type { Signal } from "../../../observer.js";
import { decidedReceipt, holdMarkIn } from "../../../receipt.js";
import { bigint, boolean, columns, optional, text } from "../client/columns.js";
import type { Session } from "../client/database.js";
import { givenRows, numbers, texts } from "../client/given-rows.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";
import { forgetPassed } from "./filled.js";
import type { PlaceOfKey } from "./filled.js";
import type { Staged } from "./stage.js";

/** What of the staged events goes on to its places, and what does not. */
export interface HeldBack {
  /** As given, without those that do not go on in this step; those of one key in the order of their sequences. */
  readonly queues: Queues;
  /** How many are held from now on. */
  readonly held: number;
  /** How many are in the stage and held no longer: put back, or not taken out of it. */
  readonly freed: number;
  /** Told when the step is committed. */
  readonly told: readonly Signal[];
}

type Queues = readonly (readonly Staged[])[];

/** What a step has taken from the stage. */
export interface Taken {
  readonly queues: Queues;
  /** Whether the time of something that is held may be up. */
  readonly due: boolean;
  /** Deals the places of the step out. */
  readonly deal: (queues: Queues) => readonly Dealt<Staged, unknown>[];
}

interface KeyName {
  readonly tenant: string;
  readonly source: string;
  readonly key: string;
}

interface HeldRow extends HeldEvent, KeyName {
  readonly eventId: bigint;
  readonly publicId: string;
  readonly receipt: string | undefined;
}

interface Arrived extends KeyName {
  readonly staged: Staged;
  readonly mark: HoldMark;
}

interface KnownKey extends KeyName {
  progress: Progress | undefined;
  readonly held: HeldRow[];
  readonly filled: PlaceOfKey[];
  readonly arrivals: Arrived[];
}

type Plan = HoldPlan<Arrived, HeldRow, PlaceOfKey>;

/**
 * Holds events whose turn in the sequence of their key has not come, and puts those back into the stage whose turn has:
 * a gap has closed, or was given up. Under the lock of the sequencer, in its transaction.
 */
export async function holdBack(
  session: Session,
  { queues: taken, due, deal }: Taken,
  tables: Tables,
): Promise<HeldBack> {
  const mayHold = taken.flat().some((staged) => arrivedOf(staged).length > 0);
  if (!mayHold && !due) return { queues: taken, held: 0, freed: 0, told: [] };
  // The progress of a key counts all that go on. One without room would get its place in a later step, and be called late.
  const queues = mayHold ? withRoom(taken, deal) : taken;
  const arrivals = queues.flat().flatMap(arrivedOf);
  const known = await readKeys(session, arrivals, { due, tables });
  const byName = new Map(known.map((each) => [nameOf(each), each]));
  for (const arrived of arrivals) byName.get(nameOf(arrived))?.arrivals.push(arrived);
  const plans = known.map((each) => ({ name: each, plan: planHold(each, each.arrivals) }));
  await writeProgress(session, plans, tables);
  await forgetPassed(
    session,
    plans.map(({ name, plan: { passed } }) => Object.assign({}, name, { passed })),
    tables,
  );
  await writeDecided(session, plans, tables);
  await hold(
    session,
    plans.flatMap(({ plan }) => plan.holding),
    tables,
  );
  const freed = plans.flatMap(({ plan }) => plan.freed);
  await stageFreed(session, freed, tables);
  return {
    queues: queues.map((queue) =>
      goingOn(
        queue,
        plans.map(({ plan }) => plan),
      ),
    ),
    held: plans.reduce((sum, { plan }) => sum + plan.holding.length, 0),
    freed: plans.reduce((sum, { plan }) => sum + plan.freed.length + plan.again.length, 0),
    told: plans.flatMap(({ plan }) => signalsOf(plan)),
  };
}

/** What was given up so that a held event goes on. */
export interface ReleasedHold {
  /** How many events are held no longer. */
  readonly events: number;
  readonly gaps: readonly Gap[];
  /** Told when the step is committed. */
  readonly told: readonly Signal[];
}

/** Gives up what a held event waits for, and puts back into the stage what is held no longer. Under the lock of the sequencer. */
export async function releaseHold(
  session: Session,
  { eventId, ...name }: KeyName & { readonly eventId: bigint },
  tables: Tables,
): Promise<ReleasedHold> {
  const [known] = await readKeys(session, [name], { due: false, tables });
  const held = (known?.held ?? []).map((each) =>
    Object.assign({}, each, { isReleased: each.eventId === eventId }),
  );
  const plan: Plan = planHold({ progress: known?.progress, held, filled: known?.filled ?? [] }, []);
  await writeDecided(session, [{ name, plan }], tables);
  await stageFreed(session, plan.freed, tables);
  const gaps = plan.freed.flatMap(({ gap }) => gap ?? []);
  return { events: plan.freed.length, gaps, told: signalsOf(plan) };
}

/** A redrive, and an event that has a part of its places, had their turn before. */
function arrivedOf(staged: Staged): readonly Arrived[] {
  const { event, receipt, target, after } = staged;
  const mark = receipt === undefined ? undefined : holdMarkIn(receipt);
  if (mark === undefined || event?.key === undefined) return [];
  if (target !== undefined || after !== undefined) return [];
  const { tenant, source, key } = event;
  return [{ staged, mark, tenant, source, key }];
}

function signalsOf({ going, freed, again }: Plan): readonly Signal[] {
  const gaps = [
    ...freed.map(({ held, gap }) => gapSignal(held, held.publicId, gap)),
    ...again.map(({ held, gap }) => gapSignal(held, held.staged.publicId ?? "", gap)),
  ];
  const late = going.map(({ arrived, isLate }) =>
    isLate ? lateSignal(arrived, arrived.staged.publicId ?? "", arrived.mark) : undefined,
  );
  return [...gaps, ...late].filter((signal) => signal !== undefined);
}

const KEYS = givenRows<KeyName>({
  tenant: texts(({ tenant }) => tenant),
  source: texts(({ source }) => source),
  key: texts(({ key }) => key),
});

interface FoundValues extends KeyName {
  readonly generation: bigint | undefined;
  readonly last: bigint | undefined;
  readonly eventId: bigint | undefined;
  readonly isDue: boolean;
  readonly publicId: string | undefined;
  readonly receipt: string | undefined;
  readonly filledGeneration: bigint | undefined;
  readonly filledSeq: bigint | undefined;
  readonly filledAfter: bigint | undefined;
  readonly isJudged: boolean;
}

const FOUND = columns<FoundValues>({
  tenant: text("wanted.tenant"),
  source: text("wanted.source"),
  key: text("wanted.key"),
  generation: optional(bigint("hold.generation")),
  last: optional(bigint("hold.last_seq")),
  eventId: optional(bigint("waiting.event_id")),
  isDue: boolean("coalesce(waiting.until <= (select at from clock), false)"),
  publicId: optional(text("published.public_id")),
  receipt: optional(text("published.receipt")),
  filledGeneration: optional(bigint("waiting.generation")),
  filledSeq: optional(bigint("waiting.seq")),
  filledAfter: optional(bigint("waiting.after_seq")),
  isJudged: boolean("coalesce(waiting.judged, false)"),
});

async function readKeys(
  session: Session,
  names: readonly KeyName[],
  { due, tables }: { readonly due: boolean; readonly tables: Tables },
): Promise<readonly KnownKey[]> {
  const { rows } = await session.query({
    text: READ(tables),
    params: [due ? "t" : "f", ...KEYS.params(names)],
    prepared: true,
  });
  const known = new Map<string, KnownKey>();
  for (const { tenant, source, key, generation, last, ...found } of rows.map((row) => FOUND.read(row))) {
    const name = { tenant, source, key };
    const progress = generation === undefined || last === undefined ? undefined : { generation, last };
    const each = known.get(nameOf(name)) ?? { ...name, progress, held: [], filled: [], arrivals: [] };
    known.set(nameOf(name), each);
    const { eventId, isDue, publicId, receipt, filledGeneration, filledSeq, filledAfter, isJudged } = found;
    if (filledGeneration !== undefined && filledSeq !== undefined)
      each.filled.push({ generation: filledGeneration, sequence: filledSeq, after: filledAfter, isJudged });
    if (eventId === undefined) continue;
    const mark = receipt === undefined ? undefined : holdMarkIn(receipt);
    each.held.push({ ...name, eventId, isDue, mark, receipt, publicId: publicId ?? String(eventId) });
  }
  return [...known.values()];
}

function nameOf({ tenant, source, key }: KeyName): string {
  return JSON.stringify([tenant, source, key]);
}

// A bounded number of keys whose time is up; the step is made again while there are more.
const READ = sqlFor(
  ({ hold: holdTable, held, filled, event }) => `
    with clock as materialized (
      select clock_timestamp() as at
    ), due as materialized (
      select tenant, source, key from ${held} as held
      where $1::text::bool and until <= (select at from clock) order by until limit 1000
    ), newly as materialized (
      select tenant, source, key from ${filled} where $1::text::bool and not judged limit 1000
    ), wanted as materialized (
      select tenant, source, key from ${KEYS.table("given", 2)}
      union select tenant, source, key from due union select tenant, source, key from newly
    )
    select ${FOUND.list} from wanted
    left join ${holdTable} as hold
      on hold.tenant = wanted.tenant and hold.source = wanted.source and hold.key = wanted.key
    left join lateral (
      select event_id, until, null::int8 as generation, null::int8 as seq, null::int8 as after_seq, null::bool as judged
      from ${held} as held
      where held.tenant = wanted.tenant and held.source = wanted.source and held.key = wanted.key
      union all
      select null, null, generation, seq, after_seq, judged from ${filled} as filled
      where filled.tenant = wanted.tenant and filled.source = wanted.source and filled.key = wanted.key
    ) as waiting on true
    left join lateral (
      select public_id, receipt from ${event} as event where event.id = waiting.event_id limit 1
    ) as published on true`,
);

interface PlannedKey {
  readonly name: KeyName;
  readonly plan: Plan;
}

const PROGRESS = givenRows<PlannedKey>({
  tenant: texts(({ name }) => name.tenant),
  source: texts(({ name }) => name.source),
  key: texts(({ name }) => name.key),
  generation: numbers("int8", ({ plan }) => plan.progress?.generation),
  last_seq: numbers("int8", ({ plan }) => plan.progress?.last),
});

async function writeProgress(session: Session, plans: readonly PlannedKey[], tables: Tables): Promise<void> {
  const moved = plans.filter(({ plan }) => plan.progress !== undefined && plan.going.length > 0);
  if (moved.length === 0) return;
  await session.query({ text: WRITE_PROGRESS(tables), params: PROGRESS.params(moved), prepared: true });
}

const WRITE_PROGRESS = sqlFor(
  ({ hold: holdTable }) => `
    insert into ${holdTable} (tenant, source, key, generation, last_seq, seen_at)
    select tenant, source, key, generation, last_seq, clock_timestamp() from ${PROGRESS.table("given")}
    on conflict (tenant, source, key) do update
    set generation = excluded.generation, last_seq = excluded.last_seq, seen_at = excluded.seen_at`,
);

interface Decided {
  readonly eventId: bigint;
  readonly receipt: string;
}

const DECIDED = givenRows<Decided>({
  event_id: numbers("int8", ({ eventId }) => eventId),
  receipt: texts(({ receipt }) => receipt),
});

/** Keeps with each event what was decided of it: its handler is told, and it is not waited for again what was given up. */
async function writeDecided(session: Session, plans: readonly PlannedKey[], tables: Tables): Promise<void> {
  const decided = plans.flatMap(({ plan }) => decidedIn(plan));
  if (decided.length === 0) return;
  await session.query({ text: WRITE_DECIDED(tables), params: DECIDED.params(decided), prepared: true });
}

function decidedIn({ going, freed, again }: Plan): readonly Decided[] {
  return [
    ...freed.flatMap(({ held, gap }) => (gap ? decidedOf(held, { gap }) : [])),
    ...again.flatMap(({ held, gap }) => (gap ? decidedOf(held.staged, { gap }) : [])),
    ...going.flatMap(({ arrived, isLate }) => (isLate ? decidedOf(arrived.staged, { late: true }) : [])),
  ];
}

function decidedOf(
  { eventId, receipt }: { readonly eventId: bigint; readonly receipt: string | undefined },
  what: Parameters<typeof decidedReceipt>[1],
): readonly Decided[] {
  return receipt === undefined ? [] : [{ eventId, receipt: decidedReceipt(receipt, what) }];
}

const WRITE_DECIDED = sqlFor(
  ({ event }) => `
    update ${event} as event set receipt = given.receipt from ${DECIDED.table("given")} where event.id = given.event_id`,
);

const HOLDING = givenRows<Arrived>({
  row: texts(({ staged }) => staged.row),
  source: texts(({ source }) => source),
  key: texts(({ key }) => key),
  generation: numbers("int8", ({ mark }) => mark.generation),
  seq: numbers("int8", ({ mark }) => mark.sequence),
  max_ms: numbers("float8", ({ mark }) => mark.maxMs),
});

async function hold(session: Session, holding: readonly Arrived[], tables: Tables): Promise<void> {
  if (holding.length === 0) return;
  await session.query({ text: HOLD(tables), params: HOLDING.params(holding), prepared: true });
}

// The rows of the stage are locked, and are where they were read.
const HOLD = sqlFor(
  ({ stage, held }) => `
    with moved as (
      delete from ${stage} as stage using ${HOLDING.table("given")} where stage.ctid = given.row::tid
      returning stage.tenant, stage.id, stage.event_id, given.source, given.key, given.generation, given.seq, given.max_ms
    )
    insert into ${held} (tenant, source, key, generation, seq, event_id, stage_id, until)
    select tenant, source, key, generation, seq, event_id, id,
      clock_timestamp() + make_interval(secs => max_ms / 1000) from moved`,
);

const FREED = givenRows<Freed<HeldRow>>({
  tenant: texts(({ held }) => held.tenant),
  source: texts(({ held }) => held.source),
  key: texts(({ held }) => held.key),
  event_id: numbers("int8", ({ held }) => held.eventId),
});

async function stageFreed(session: Session, freed: readonly Freed<HeldRow>[], tables: Tables): Promise<void> {
  if (freed.length === 0) return;
  await session.query({ text: STAGE_FREED(tables), params: FREED.params(freed), prepared: true });
}

// Under its old number: what was stored later stands behind it.
const STAGE_FREED = sqlFor(
  ({ stage, held }) => `
    with freed as (
      delete from ${held} as held using ${FREED.table("given")}
      where held.tenant = given.tenant and held.source = given.source and held.key = given.key
        and held.event_id = given.event_id
      returning held.tenant, held.stage_id, held.event_id
    )
    insert into ${stage} (tenant, id, event_id) overriding system value select tenant, stage_id, event_id from freed`,
);

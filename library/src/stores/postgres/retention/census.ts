import type { RetentionCensus, RetentionKind, RetentionState } from "../../../retention/retention-store.js";
import { RETENTION_KINDS } from "../../../retention/retention-store.js";
import { columns, number, optional, text } from "../client/columns.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";

const SIZE = columns<{ readonly name: string; readonly bytes: number }>({
  name: text("name"),
  bytes: number("bytes"),
});

interface StateValues {
  readonly kind: string;
  readonly removed: number | undefined;
  readonly passedMs: number | undefined;
  readonly oldestMs: number | undefined;
}

const STATE = columns<StateValues>({
  kind: text("kind"),
  removed: optional(number("removed")),
  passedMs: optional(number("extract(epoch from clock_timestamp() - passed_at) * 1000")),
  oldestMs: optional(number("extract(epoch from clock_timestamp() - oldest_at) * 1000")),
});

/** Sizes are those that Postgres keeps of its files; the oldest of each kind stands at the left end of an index. */
export async function readRetention({ transactions, tables }: StoreDatabase): Promise<RetentionCensus> {
  const sizes = (await transactions.readKept({ text: SIZES(tables), params: [] })).map((row) =>
    SIZE.read(row),
  );
  const states = await transactions.readKept({ text: STATES(tables), params: [] });
  const known = new Map(states.map((row) => STATE.read(row)).map((state) => [state.kind, state]));
  return {
    bytes: sizes.reduce((sum, { bytes }) => sum + bytes, 0),
    freeBytes: undefined,
    tables: sizes.toSorted((one, other) => other.bytes - one.bytes),
    kinds: RETENTION_KINDS.map((kind) => stateOf(kind, known.get(kind))),
  };
}

function stateOf(kind: RetentionKind, known: StateValues | undefined): RetentionState {
  return {
    kind,
    removed: known?.removed ?? 0,
    passedMs: known?.passedMs,
    oldestMs: known?.oldestMs === undefined ? undefined : Math.max(0, known.oldestMs),
  };
}

const SIZES = sqlFor((tables) => {
  const all = Object.values(tables as unknown as Record<string, string>);
  // A function has no size.
  const names = all.filter((name) => name !== tables.settle);
  const listed = names.map((name) => `('${name}'::regclass)`).join(", ");
  return `
    select ${SIZE.list} from (
      select relname::text as name, pg_total_relation_size(class.oid) as bytes
      from (values ${listed}) as wanted (oid) join pg_class as class on class.oid = wanted.oid
    ) as sized`;
});

const STATES = sqlFor(
  ({ retention, event, dead, cancelled, stageDead }: Tables) => `
    select ${STATE.list} from (
      select wanted.kind, removed, passed_at, oldest_at from (values
        ('answers', null::timestamptz), ('attempts', null), ('ids', null),
        ('events', (select written_at from ${event} order by id limit 1)),
        ('dead', (select resolved_at from ${dead} where resolved_at is not null order by resolved_at limit 1)),
        ('cancelled', (select cancelled_at from ${cancelled} order by cancelled_at limit 1)),
        ('set_aside', (select resolved_at from ${stageDead} where resolved_at is not null order by resolved_at limit 1))
      ) as wanted (kind, oldest_at) left join ${retention} as known on known.kind = wanted.kind
    ) as state`,
);

import type { FilledPlace } from "../../../hold-mark.js";
import type { Filled } from "../../../lanes/hold.js";
import { withoutNul } from "../inbox/inbox-row.js";
import type { OutboxTurn } from "../outbox/turn.js";

type KeyName = Pick<FilledPlace, "tenant" | "source" | "key">;

/** Writes down that nobody has to wait for a place, unless the events of its key have passed it: most repeated ones come again under their old place. */
export function fillPlace({ client, nowMs }: OutboxTurn, place: FilledPlace): void {
  const { generation, sequence, after } = place;
  const name = parametersOf(place);
  const passed = client.get(
    `select 1 as found from posthorn_hold
     where tenant = ? and source = ? and key = ? and (generation, last_seq) >= (?, ?)`,
    ...name,
    generation,
    sequence,
  );
  if (passed !== undefined) return;
  client.run(
    `insert or ignore into posthorn_filled (tenant, source, key, generation, seq, after_seq, filled_at)
     values (?, ?, ?, ?, ?, ?, ?)`,
    ...name,
    generation,
    sequence,
    after ?? null,
    nowMs,
  );
}

/** The filled places of a key, in their order. */
export function readFilled({ client }: OutboxTurn, name: KeyName): readonly Filled[] {
  const rows = client.allWide(
    `select generation, seq, after_seq from posthorn_filled
     where tenant = ? and source = ? and key = ? order by generation, seq`,
    ...parametersOf(name),
  ) as { generation: bigint; seq: bigint; after_seq: bigint | null }[];
  return rows.map(({ generation, seq, after_seq }) => ({
    generation,
    sequence: seq,
    after: after_seq ?? undefined,
  }));
}

/** Keys with filled places of which the sequencer does not know: what is held behind one may go. */
export function newlyFilled({ client }: OutboxTurn, limit: number): readonly KeyName[] {
  return client.all(
    "select distinct tenant, source, key from posthorn_filled where judged = 0 limit +?",
    limit,
  ) as KeyName[];
}

/** Forgets places that nobody asks for any more, and remembers that those that are left were judged. */
export function forgetPassed(
  { client }: OutboxTurn,
  name: KeyName,
  passed: readonly Pick<Filled, "generation" | "sequence">[],
): void {
  for (const { generation, sequence } of passed) {
    client.run(
      "delete from posthorn_filled where tenant = ? and source = ? and key = ? and generation = ? and seq = ?",
      ...parametersOf(name),
      generation,
      sequence,
    );
  }
  client.run(
    "update posthorn_filled set judged = 1 where tenant = ? and source = ? and key = ? and judged = 0",
    ...parametersOf(name),
  );
}

function parametersOf({ tenant, source, key }: KeyName): [string, string, string] {
  return [withoutNul(tenant), withoutNul(source), withoutNul(key)];
}

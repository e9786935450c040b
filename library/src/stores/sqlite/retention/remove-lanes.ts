import type { OutboxTurn } from "../outbox/turn.js";

/** Removes those of these lanes in which nothing waits and of which nothing is told any more. */
export function removeEmptyLanes({ client }: OutboxTurn, lanes: ReadonlySet<bigint>): number {
  let removed = 0;
  for (const lane of lanes) {
    removed += client.run(
      `delete from posthorn_lane where id = ? and head_seq = next_seq and state = 'flowing'
         and not exists (select 1 from posthorn_attempt where lane = posthorn_lane.id)
         and not exists (select 1 from posthorn_dead where lane = posthorn_lane.id)
         and not exists (select 1 from posthorn_cancelled where lane = posthorn_lane.id)`,
      lane,
    );
  }
  // Lanes that are made from now on have a higher generation than those that are gone: a receiver that remembers the
  // sequences of one must not compare them with those of its successor.
  if (removed > 0) client.run("update posthorn_outbox_config set generation = generation + 1 where one = 1");
  return removed;
}

import type { RemovalStep } from "../../../retention/retention-store.js";
import type { OutboxTurn } from "../outbox/turn.js";

/**
 * Forgets how far keys have come of which nothing has come for as long as events are kept, and nothing is held; and places
 * that were filled before.
 */
export function removeHolds(
  { client, nowMs }: OutboxTurn,
  { windowMs, limit }: Pick<RemovalStep, "windowMs" | "limit">,
): number {
  const old = client.all(
    `select tenant, source, key from posthorn_hold as hold where seen_at <= ? and not exists (
       select 1 from posthorn_held as held
       where held.tenant = hold.tenant and held.source = hold.source and held.key = hold.key
     ) order by seen_at limit +?`,
    nowMs - windowMs,
    limit,
  ) as { tenant: string; source: string; key: string }[];
  for (const { tenant, source, key } of old) {
    client.run("delete from posthorn_hold where tenant = ? and source = ? and key = ?", tenant, source, key);
  }
  const filled = client.run(
    `delete from posthorn_filled where (tenant, source, key, generation, seq) in (
       select tenant, source, key, generation, seq from posthorn_filled where filled_at <= ? order by filled_at limit +?
     )`,
    nowMs - windowMs,
    limit,
  );
  return old.length + filled;
}

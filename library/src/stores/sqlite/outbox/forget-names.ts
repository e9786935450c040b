import type { ForgetLimits } from "../../../outbox/ingest-store.js";
import type { OutboxSession } from "./session.js";
import type { OutboxTurn } from "./turn.js";

// How many one turn takes, so that it leaves the event loop free after a few milliseconds.
const NAMES_PER_TURN = 500;

/** Forgets names whose window has passed, oldest first; says how many. */
export async function forgetNames(session: OutboxSession, { maxNames }: ForgetLimits): Promise<number> {
  let forgotten = 0;
  while (forgotten < maxNames && (await session.look(isAnyForgettable))) {
    const limit = Math.min(NAMES_PER_TURN, maxNames - forgotten);
    forgotten += await session.write((turn) => forgetSome(turn, limit));
  }
  return forgotten;
}

function forgetSome({ client, nowMs }: OutboxTurn, limit: number): number {
  return client.run(
    `delete from posthorn_ingest_name where (tenant, name) in
       (select tenant, name from posthorn_ingest_name where keep_until <= ? order by keep_until limit +?)`,
    nowMs,
    limit,
  );
}

/** Whether there is anything to forget; read without the write lock. */
function isAnyForgettable({ client, nowMs }: OutboxTurn): boolean {
  const found = client.get(
    "select 1 as found from posthorn_ingest_name where keep_until <= ? limit 1",
    nowMs,
  );
  return found !== undefined;
}

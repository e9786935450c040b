import { reach } from "#faults";
import type { HeldReleased } from "../../../operator/held-store.js";
import { withoutNul } from "../inbox/inbox-row.js";
import { releaseHold } from "../lanes/hold.js";
import type { OutboxTurn } from "../outbox/turn.js";

interface FoundColumns {
  readonly event: bigint;
  readonly source: string;
  readonly key: string;
}

/** Gives up what a held event waits for. */
export function releaseHeld(turn: OutboxTurn, tenant: string, eventId: string): HeldReleased {
  const found = turn.client.getWide(
    `select h.event, h.source, h.key from posthorn_event e indexed by posthorn_event_public_id
     join posthorn_held h on h.event = e.id
     where e.public_id = ? and e.tenant = ? order by e.id desc limit 1`,
    withoutNul(eventId),
    withoutNul(tenant),
  ) as FoundColumns | undefined;
  if (found === undefined) return { kind: "unknown" };
  const { event, source, key } = found;
  reach("release.before_record");
  const released = releaseHold(turn, { tenant, source, key }, event);
  reach("release.after_record");
  return { kind: "released", ...released };
}

import { handlerId } from "../../../consumer-name.js";
import { nameOfId } from "../../../incoming-name.js";
import type { Forgotten } from "../../../operator/replay-store.js";
import { isHandler } from "../../../outbox/fan-out.js";
import type { AcceptParts } from "../inbox/accept.js";
import { textOf } from "../inbox/inbox-row.js";
import type { StoredRow } from "../inbox/inbox-row.js";
import type { MemoryParts } from "../parts.js";

/** Which event is meant. */
interface ForgottenEvent {
  readonly tenant: string;
  readonly source: string;
  readonly id: string;
}

/** Forgets an event at all of its consumers, with the names under which it came and the steps of its handlers. */
export function forgetEvent(
  parts: MemoryParts,
  { rows, applying, failures }: AcceptParts,
  event: ForgottenEvent,
): Forgotten {
  const { tenant, source, id } = event;
  const known = [...rows].filter(
    ([, row]) => row.tenant === tenant && row.source === source && row.id === id,
  );
  const stored = new Set([
    ...known.flatMap(([, { storedAs }]) => storedAs ?? []),
    ...parts.names.idsOf(tenant, [nameOfId(source, id)]),
  ]);
  // Of a first run there is no row yet.
  const runs = [...applying].some((key) => isOfEvent(key, event));
  if (runs || isLeased(parts, tenant, stored)) return { kind: "busy" };
  if (known.some(([, row]) => waits(parts, row))) return { kind: "pending" };
  for (const [key] of known) {
    rows.delete(key);
    failures.delete(key);
  }
  const names = parts.names.remove(tenant, { source, id, stored: [...stored] });
  const steps = parts.steps.forget(event);
  if (known.length + names + steps === 0) return { kind: "unknown" };
  return { kind: "forgotten", rows: known.length, names };
}

/** Whether a key of the inbox is of this event, at whichever consumer: a name of one may follow what all of them have. */
function isOfEvent(key: string, event: ForgottenEvent): boolean {
  const ofAll = textOf(event).slice(0, -1);
  return key.startsWith(`${ofAll}]`) || key.startsWith(`${ofAll},`);
}

/** Whether it is to be handled again; where its handler was removed, nobody does. */
function waits({ endpoints }: MemoryParts, { outcome, consumer }: StoredRow): boolean {
  return outcome === "pending" && endpoints.consumer(handlerId(consumer)) !== undefined;
}

/** Whether a worker has one of these events under way: a long handler runs without a transaction, and would mark it at its end. */
function isLeased(
  { lanes, endpoints, clock }: MemoryParts,
  tenant: string,
  stored: ReadonlySet<string>,
): boolean {
  return lanes.waiting().some(({ endpointId, lease, deliveries }) => {
    const consumer = endpoints.consumer(endpointId);
    if (lease === undefined || lease.endsAt <= clock.monotonic() || !(consumer && isHandler(consumer)))
      return false;
    const run = [...deliveries.values()].slice(0, lease.run);
    return run.some(({ event }) => event.tenant === tenant && stored.has(event.id));
  });
}

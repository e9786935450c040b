import type { HistoryWriter } from "posthorn/testing";
import type { TransactionMode } from "posthorn";
import type { Store } from "../../../library/src/operator/store.js";
import { hashOf } from "../wire.js";
import type { Ground } from "./form.js";

const ALL = { limit: 1000, after: undefined };

/** How many deliveries wait for nothing but a worker, or are under way. */
export async function pendingIn(store: Pick<Store<never>, "census" | "consumers">): Promise<number> {
  const { staged, setAside } = await store.census();
  const consumers = await store.consumers();
  return consumers.reduce((sum, { waiting, blocked }) => sum + waiting - blocked, staged + setAside);
}

/** How many lanes wait for a person. */
export async function haltedIn(store: Pick<Store<never>, "consumers">): Promise<number> {
  return (await store.consumers()).reduce((sum, { haltedLanes }) => sum + haltedLanes, 0);
}

/** Writes what is left in the tables to the history. */
export async function readEnd<Tx, Mode extends TransactionMode>(
  ground: Ground<Tx, Mode>,
  reader: HistoryWriter,
): Promise<void> {
  const effects = ground.effects();
  for (const { body, ...row } of effects)
    reader.see("effect", { tenant: "default", ...row, bodyHash: hashOf(body) });
  reader.see("effects_read", { rows: effects.length, counted: effects.length });
  const rows = await ground.rows();
  for (const { tenant, source, id, consumer, round, outcome, bodyHash, hashColumn } of rows) {
    const handling = { tenant, source, id, consumer, round };
    reader.see("stored", { ...handling, outcome, bodyHash, hashColumn });
    if (outcome === "skipped" || outcome === "dropped")
      reader.see("handling_row", { ...handling, state: outcome });
  }
  reader.see("inbox_read", { rows: rows.length, sources: ["shop"] });
  await readUnhandled(ground.store(), reader);
}

/** Deliveries that still wait, or were given up. */
async function readUnhandled(
  store: Pick<Store<never>, "events" | "deliveriesOf">,
  reader: HistoryWriter,
): Promise<void> {
  const { items } = await store.events({}, ALL);
  const names = new Map(
    items.map(({ id, tenant, source, providerId }) => [id, { tenant, source, id: providerId ?? "" }]),
  );
  for (const { eventId, endpointId, state, because } of await store.deliveriesOf("default", [
    ...names.keys(),
  ])) {
    const name = names.get(eventId);
    if (name === undefined || state === "delivered") continue;
    const consumer = endpointId.replace(/^hnd_/, "");
    const ended = state === "dead" || state === "cancelled" ? state : "due";
    reader.see("handling_row", { ...name, consumer, state: ended, because });
  }
}

import { systemClock } from "../clock.js";
import type { InboxStore } from "../inbox/inbox-store.js";
import type { WorkerStore } from "../inbox/worker/worker-store.js";
import type { IngestStore } from "../outbox/ingest-store.js";
import { matcherOf } from "../pattern.js";
import { asked } from "../consumer-name.js";
import { checkRows } from "./check-asked.js";
import { conflictId, eventAgain } from "./event-again.js";
import type { KeptArrival } from "./event-again.js";
import type { InboxAddress, InboxViewStore, RefusedRecord } from "./inbox-view-store.js";
import { nameOfId } from "../incoming-name.js";
import type { Reason } from "./reason.js";
import type { Forgotten, ReplayStore, StagedAgain } from "./replay-store.js";
import type { ViewStore } from "./view-store.js";

/** What a store needs so that its events can be handled again. */
export type ReplayingStore = ReplayStore &
  Pick<InboxViewStore, "refusedEvents"> &
  Pick<ViewStore, "namedEvents"> &
  Pick<IngestStore, "ingest"> &
  Pick<InboxStore<never>, "read"> &
  Pick<WorkerStore<never>, "readHandlers">;

/** Where something refused is now. */
export type RefusedRedriven =
  /** It was stored under an id of its own, and goes to every handler of its source. */
  | { readonly kind: "staged"; readonly eventId: string }
  /** It was redriven before. */
  | { readonly kind: "before"; readonly eventId: string }
  /** No worker has registered a handler for its source. */
  | { readonly kind: "no_worker" }
  | { readonly kind: "unknown" };

/** How a person lets handlers handle events again, where the store can. */
export interface Replays {
  /**
   * Lets handlers handle what failed, was skipped or dropped, or is pending, from the stored event. What failed within its
   * request is stored now, from its row, and goes to every handler of its source.
   */
  redriveInbox(rows: readonly InboxAddress[], reason?: Reason): Promise<readonly StagedAgain[]>;
  /**
   * Lets handlers handle again what they have applied, in a new round: effects happen once more. A row of another round than
   * the one that is given stays as it is, so that a call whose answer was lost can be repeated.
   */
  replay(
    rows: readonly (InboxAddress & { readonly round?: number | undefined })[],
    reason?: Reason,
  ): Promise<readonly StagedAgain[]>;
  /** Forgets an event: when its provider sends it again, it is applied as a new one. */
  forget(tenant: string, source: string, id: string, reason?: Reason): Promise<Forgotten>;
  /**
   * Lets handlers handle what was refused. A stale event is handled under its own id; a conflict is a new event, under its id
   * and the beginning of its body's hash, whose `causedBy` is the event that came first.
   */
  redriveRefused(
    refused: Pick<RefusedRecord, "tenant" | "source" | "id" | "bodyHash">,
    reason?: Reason,
  ): Promise<RefusedRedriven>;
}

export function replaysOf(store: ReplayingStore): Replays {
  return {
    async redriveInbox(rows) {
      checkRows("redriveInbox", rows);
      const wanted = rows.map(asked);
      const results = [
        ...(await store.stageAgain(wanted.map((row) => ({ ...row, verb: "redrive" as const })))),
      ];
      for (const [n, row] of wanted.entries()) {
        if (results[n] === "not_stored" && row.consumer === "") results[n] = await storeRow(store, row);
      }
      return results;
    },
    replay: async (rows) => {
      checkRows("replay", rows);
      return store.stageAgain(rows.map((row) => ({ ...asked(row), verb: "replay" })));
    },
    forget: (tenant, source, id) => store.forgetEvent(tenant, source, id),
    redriveRefused: (refused) => redriveRefused(store, refused),
  };
}

/** Stores what failed within its request: its row has its bytes. That of an event which a worker handled has none of its own. */
async function storeRow(store: ReplayingStore, address: InboxAddress): Promise<StagedAgain> {
  const row = await store.read(address);
  if (row === undefined) return "unknown";
  if (!(await hasHandler(store, row.source))) return "no_worker";
  const { body } = row;
  if (body === undefined || row.headers === undefined) return "not_stored";
  const headers = JSON.parse(row.headers) as Record<string, string>;
  // Its handlers have names of their own, and rows of their own: this row stays as it is, and the second call is a duplicate.
  const { kind } = await storeArrival(store, { ...row, body, headers }, undefined);
  return kind === "stored" ? "staged" : "before";
}

async function redriveRefused(
  store: ReplayingStore,
  { tenant, source, id, bodyHash }: Pick<RefusedRecord, "tenant" | "source" | "id" | "bodyHash">,
): Promise<RefusedRedriven> {
  const { items } = await store.refusedEvents({ tenant, source, id }, { limit: 1000 });
  const refused = items.find((each) => each.bodyHash.every((byte, n) => byte === bodyHash[n]));
  if (refused === undefined) return { kind: "unknown" };
  if (!(await hasHandler(store, source))) return { kind: "no_worker" };
  const isConflict = refused.because === "conflict";
  const first = isConflict ? (await store.namedEvents(tenant, [nameOfId(source, id)]))[0] : undefined;
  const arrival = isConflict ? { ...refused, id: conflictId(id, bodyHash) } : refused;
  const { kind, id: eventId } = await storeArrival(store, arrival, first ?? (isConflict ? id : undefined));
  return { kind: kind === "stored" ? "staged" : "before", eventId };
}

function storeArrival(store: ReplayingStore, arrival: KeptArrival, causedBy: string | undefined) {
  const event = eventAgain(arrival, { nowMs: systemClock.now(), causedBy });
  const name = nameOfId(arrival.source, arrival.id);
  const { windowS } = event.receipt ?? {};
  return store.ingest({ event, names: [{ name, bodyHash: arrival.bodyHash }], windowS });
}

async function hasHandler(store: ReplayingStore, source: string): Promise<boolean> {
  return (await store.readHandlers()).some(({ sources }) => matcherOf(sources)(source));
}

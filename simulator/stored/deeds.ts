import type { HeldRecord } from "../../library/src/operator/held-store.js";
import type { ReconcilingStore } from "../../library/src/operator/reconcile.js";
import { reconcile } from "../../library/src/operator/reconcile.js";
import { replaysOf } from "../../library/src/operator/replays.js";
import type { ReplayingStore } from "../../library/src/operator/replays.js";
import { BEGINNING } from "../world/life.js";
import type { LineKeeper } from "./line-keeper.js";
import type { LineWorker } from "./line-worker.js";
import { conflictNumber, conflictOf, numberOfId } from "./names.js";
import type { OperatorParts } from "./operator.js";
import type { Provider } from "./provider.js";
import type { StoredStep, StreamedEvent } from "./script.js";

export interface DeedParts extends OperatorParts {
  readonly keeper: LineKeeper;
  readonly lineWorker: LineWorker;
  readonly provider: Provider;
  readonly events: ReadonlyMap<number, StreamedEvent>;
}

type Harm = Pick<Extract<StoredStep, { kind: "reconcile" }>, "consumer" | "vanish" | "byHand">;

const MOST = 100;
// Few enough that some comparisons take more than a page.
const PAGE = 20;

/** What a person does about single events, by the shipped verbs. What the database did is seen where it did it. */
export class StoredDeeds {
  readonly #parts: DeedParts;

  constructor(parts: DeedParts) {
    this.#parts = parts;
  }

  /** Forgets an event that was applied, and lets its provider send it again. */
  async forget(nth: number): Promise<void> {
    const { store, ask, log, database, provider, events } = this.#parts;
    const { items } = await ask("inbox_rows", () => store.working.inboxRows({}, { limit: MOST }));
    // A conflict would be stored in the place of what was forgotten.
    const rows = items.filter(({ id, outcome }) => {
      const number = numberOfId(id);
      const hasConflict = conflictOf(number) !== undefined || events.has(conflictNumber(number));
      return outcome === "success" && events.has(number) && !hasConflict;
    });
    const row = rows[nth % Math.max(1, rows.length)];
    const event = events.get(numberOfId(row?.id ?? ""));
    if (row === undefined || event === undefined) return;
    await ask("forget", async () => {
      const { kind } = await store.working.forgetEvent(row.tenant, row.source, row.id);
      log.count(`forget.${kind}`);
      if (kind !== "forgotten") return;
      log.add({ kind: "forgotten", database, number: event.number });
      provider.sendAgain(event);
    });
  }

  /** Releases the event before which most others are held. */
  async release(clicks: number): Promise<void> {
    const { store, ask } = this.#parts;
    const { items } = await ask("held_events", () => store.working.heldEvents({}, { limit: MOST }));
    const [wanted] = items.toSorted((one, other) => before(items, other).length - before(items, one).length);
    if (wanted === undefined) return;
    for (let n = 0; n < clicks; n++) await ask("release_held", () => this.#release(wanted));
  }

  async #release(wanted: { readonly tenant: string; readonly eventId: string }): Promise<void> {
    const { store, log, database, numbers } = this.#parts;
    const numberOf = (id: string): number => numbers.get(id) ?? -1;
    const { items } = await store.working.heldEvents({}, { limit: MOST });
    const held = items.find(({ eventId }) => eventId === wanted.eventId);
    const said = await store.working.releaseHeld(wanted.tenant, wanted.eventId);
    log.count(`release.${said.kind}`);
    if (held === undefined || said.kind !== "released") return;
    const others = before(items, held);
    if (others.length > 0) log.count("release.with_others");
    const number = numberOf(held.eventId);
    log.add({ kind: "released", database, number, before: others.map((each) => numberOf(each.eventId)) });
  }

  /** Lets handlers handle the conflict that was refused last. */
  async redriveRefused(clicks: number): Promise<void> {
    const { ask, log, store } = this.#parts;
    const { items } = await ask("refused_events", () => store.working.refusedEvents({}, { limit: MOST }));
    const refused = items.findLast(({ because }) => because === "conflict");
    if (refused === undefined) return;
    const replays = replaysOf(this.#overTheLine());
    const click = async (): Promise<void> => {
      const { kind } = await replays.redriveRefused(refused);
      log.count(`redrive_refused.${kind}`);
    };
    await Promise.all(Array.from({ length: clicks }, click));
  }

  /** Lets effects vanish from the host's table, makes others by hand, and compares the inbox with it. */
  async reconcile(harm: Harm): Promise<void> {
    const { ask, log } = this.#parts;
    const { consumer } = harm;
    await ask("harm", () => this.#harm(harm));
    const wasApplied = ({ id }: { readonly id: string }): boolean =>
      this.#table(consumer).has(numberOfId(id));
    const common = { store: this.#comparing(), since: new Date(BEGINNING - 1), consumer, wasApplied };
    const mend = { missing: "replay", extra: "mark", limit: PAGE } as const;
    let after: string | undefined;
    do {
      const { differences, next } = await reconcile({ ...common, ...mend, after });
      for (const { kind, done } of differences) log.count(`reconcile.${kind}.${done}`);
      after = next;
    } while (after !== undefined);
    log.add({ kind: "reconciled", consumer });
  }

  async #harm({ consumer, vanish, byHand }: Harm): Promise<void> {
    const { store, log, database, numbers } = this.#parts;
    const { working } = store;
    const { items: rows } = await working.inboxRows({ consumer, outcome: "success" }, { limit: MOST });
    const there = rows.map(({ id }) => numberOfId(id)).filter((number) => this.#table(consumer).has(number));
    for (const number of there.slice(0, vanish)) log.add({ kind: "vanished", database, consumer, number });
    const { items: stored } = await working.events({}, { limit: MOST });
    const [tenant = ""] = stored.map((event) => event.tenant);
    const ids = stored.filter(({ direction }) => direction === "in").map(({ id }) => id);
    const waiting = await working.unhandled(tenant, ids, consumer);
    for (const { eventId } of waiting.slice(0, byHand))
      log.add({ kind: "made_by_hand", database, consumer, number: numbers.get(eventId) ?? -1 });
  }

  /** The events whose effects the host's table has. */
  #table(consumer: string): ReadonlySet<number> {
    const there = new Set<number>();
    for (const record of this.#parts.log.records) {
      if (record.lost || !("consumer" in record) || record.consumer !== consumer) continue;
      if (record.kind === "effect" && record.isNewest !== false) there.add(record.number);
      if (record.kind === "made_by_hand") there.add(record.number);
      if (record.kind === "vanished") there.delete(record.number);
    }
    return there;
  }

  #overTheLine(): ReplayingStore {
    const { ask, keeper, lineWorker, store } = this.#parts;
    const { working } = store;
    return {
      stageAgain: (wanted) => ask("stage_again", () => this.#staged(wanted)),
      markApplied: (row) =>
        ask("mark", () => this.#marked(row.consumer, numberOfId(row.id), working.markApplied(row))),
      unhandled: (...given) => ask("unhandled", () => working.unhandled(...given)),
      markStored: (tenant, eventId, consumer) =>
        ask("mark", () => {
          const number = this.#parts.numbers.get(eventId) ?? -1;
          return this.#marked(consumer, number, working.markStored(tenant, eventId, consumer));
        }),
      forgetEvent: (...given) => ask("forget", () => working.forgetEvent(...given)),
      refusedEvents: (...given) => ask("refused_events", () => working.refusedEvents(...given)),
      namedEvents: (...given) => keeper.namedEvents(...given),
      ingest: (incoming) => keeper.ingest(incoming),
      read: (key) => working.read(key),
      readHandlers: (ids) => lineWorker.readHandlers(ids),
    };
  }

  /** The database looks at the host's table in a transaction of its own; what reads events meets nothing that a run is about. */
  #comparing(): ReconcilingStore<unknown, "asynchronous"> {
    const { ask, store } = this.#parts;
    const { working } = store;
    return {
      ...this.#overTheLine(),
      transactions: "asynchronous",
      accept: (_arrival, work) =>
        ask("look", async () => {
          const tx = store.begin();
          try {
            await work(tx);
          } catch (error) {
            return { kind: "failed", error };
          } finally {
            store.rollback(tx);
          }
          throw new Error("A look has to be undone.");
        }),
      inboxRows: (...given) => ask("inbox_rows", () => working.inboxRows(...given)),
      inboxRowsOf: (...given) => ask("inbox_rows", () => working.inboxRowsOf(...given)),
      event: (...given) => working.event(...given),
      events: (...given) => ask("events", () => working.events(...given)),
      deliveriesOf: (...given) => ask("deliveries", () => working.deliveriesOf(...given)),
    };
  }

  async #staged(
    wanted: Parameters<ReplayingStore["stageAgain"]>[0],
  ): ReturnType<ReplayingStore["stageAgain"]> {
    const { store, log, database } = this.#parts;
    const staged = await store.working.stageAgain(wanted);
    wanted.forEach(({ id, consumer, verb }, n) => {
      const said = staged[n] ?? "unknown";
      log.count(`staged.${verb}.${said}`);
      log.add({ kind: "staged", database, consumer, number: numberOfId(id), verb, said });
    });
    return staged;
  }

  async #marked(consumer: string, number: number, marking: Promise<boolean>): Promise<boolean> {
    const { log, database } = this.#parts;
    const isMarked = await marking;
    if (isMarked) log.add({ kind: "marked", database, consumer, number });
    return isMarked;
  }
}

type Held = Pick<HeldRecord, "key" | "sequence">;

/** Those of the same key that are held before it; the provider counts in one generation. */
function before<Each extends Held>(items: readonly Each[], held: Held): readonly Each[] {
  return items.filter(({ key, sequence }) => key === held.key && sequence < held.sequence);
}

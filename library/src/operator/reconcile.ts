import { checkStore } from "../given-store.js";
import { newId } from "../id.js";
import type { OptionNames } from "../known-options.js";
import type { Arrival, InboxStore } from "../inbox/inbox-store.js";
import type { TransactionMode } from "../store-capabilities.js";
import type { Observer } from "../observer.js";
import { checkFound, checkNames, checkReason, checkReconcile } from "./check-asked.js";
import { rowText, tellDeed } from "./deeds.js";
import type { InboxViewStore } from "./inbox-view-store.js";
import type { LookupStore } from "./lookup-store.js";
import { readPage } from "./reconcile-page.js";
import type { Compared, ReconciledEvent } from "./reconcile-page.js";
import type { Reason } from "./reason.js";
import type { ReplayStore, StagedAgain } from "./replay-store.js";

/** Where inbox and business table disagree. */
export interface Difference {
  readonly event: Omit<ReconciledEvent, "body" | "data">;
  /** `missing`: applied by the inbox, and not in the table. `extra`: in the table, and not applied by the inbox. */
  readonly kind: "missing" | "extra";
  /** What was done about it; undefined where it was only to be reported. */
  readonly done: StagedAgain | "marked" | "not_marked" | undefined;
}

/** What is compared, and what is done about differences. */
export interface ReconcileOptions<Tx, Mode extends TransactionMode = TransactionMode> extends Reason {
  readonly store: ReconcilingStore<Tx, Mode>;
  /** First received at this time or later. */
  readonly since: Date;
  readonly until?: Date | undefined;
  readonly tenant?: string | undefined;
  readonly source?: string | undefined;
  /** The name of the worker's consumer. @default "default", the handlers of a receiver and of a worker without names */
  readonly consumer?: string | undefined;
  /**
   * Whether the host's own tables have the event's effect. It only looks: its transaction is rolled back. On SQLite it may
   * not await.
   */
  readonly wasApplied: (
    event: ReconciledEvent,
    tx: Tx,
  ) => Mode extends "synchronous" ? boolean : boolean | Promise<boolean>;
  /** `replay`: handlers handle it again, in a new round. @default "report" */
  readonly missing?: "report" | "replay" | undefined;
  /** `mark`: the inbox calls it applied from now on, so that no handler applies it again. @default "report" */
  readonly extra?: "report" | "mark" | undefined;
  /** How many rows, or stored events, are looked through in one call. @default 100 */
  readonly limit?: number | undefined;
  /** `next` of the report before. */
  readonly after?: string | undefined;
  /** Hears `operator_acted` of each difference that was mended. */
  readonly observer?: Observer | undefined;
  /** Who compares. @default "operator" */
  readonly by?: string | undefined;
}

/** What came of a comparison. */
export interface Reconciliation {
  readonly compared: number;
  readonly differences: readonly Difference[];
  /** Where to go on; undefined at the end. */
  readonly next: string | undefined;
}

/** What a store needs so that its inbox can be compared with the host's tables. */
export type ReconcilingStore<Tx, Mode extends TransactionMode = TransactionMode> = Pick<
  InboxStore<Tx, Mode>,
  "accept" | "read" | "transactions"
> &
  Pick<InboxViewStore, "inboxRows" | "inboxRowsOf"> &
  Pick<LookupStore, "event" | "events" | "deliveriesOf"> &
  Pick<ReplayStore, "stageAgain" | "markApplied" | "unhandled" | "markStored">;

const RECONCILE: OptionNames<ReconcileOptions<never>> = {
  store: true,
  since: true,
  until: true,
  tenant: true,
  source: true,
  consumer: true,
  wasApplied: true,
  missing: true,
  extra: true,
  limit: true,
  after: true,
  observer: true,
  because: true,
  by: true,
};

/** Ends the transaction in which the host's tables were looked at. */
class Looked extends Error {}

const LOOK_MS = 30_000;

/**
 * Compares the rows of an inbox, and then stored events that have none because they wait or died, with the host's own tables: after a restored backup, a bug that committed half, or an
 * effect that was made by hand. It says where they disagree, page by page, and changes nothing unless it is told to.
 *
 * @example
 * for (let after: string | undefined; ; ) {
 *   const report = await reconcile({ store, since, after, wasApplied });
 *   for (const { event, kind } of report.differences) console.log(kind, event.source, event.id);
 *   if ((after = report.next) === undefined) break;
 * }
 */
export async function reconcile<Tx, Mode extends TransactionMode>(
  options: ReconcileOptions<Tx, Mode>,
): Promise<Reconciliation> {
  checkNames("reconcile", options, RECONCILE);
  checkReconcile(options);
  checkReason("reconcile", options);
  checkStore("comparison", options.store, "stageAgain");
  const { items, next } = await readPage(options);
  const events = items.map(({ event }) => event);
  const found = events.length === 0 ? [] : await look(options, events);
  const differences: Difference[] = [];
  for (const [n, compared] of items.entries()) {
    if (differenceOf(compared.event, found[n]) === undefined) continue;
    const outcome = await outcomeNow(options.store, compared);
    const event = outcome && { ...compared.event, outcome };
    const kind = event && differenceOf(event, found[n]);
    if (event === undefined || kind === undefined) continue;
    const { body: _, data: _data, ...shown } = event;
    differences.push({ event: shown, kind, done: await mend(options, compared, kind) });
  }
  return { compared: items.length, differences, next };
}

/**
 * What the inbox says of it by now; undefined where the look may have seen another state of it. Handled between the page
 * and the look, it has its row by now, or that row another outcome: effect and row commit together.
 */
async function outcomeNow(
  store: Pick<ReplayStore, "unhandled"> & Pick<InboxViewStore, "inboxRowsOf">,
  { event: { tenant, source, id, round, outcome }, consumer, unhandledId }: Compared,
): Promise<ReconciledEvent["outcome"] | undefined> {
  if (unhandledId !== undefined)
    return (await store.unhandled(tenant, [unhandledId], consumer)).length === 0 ? undefined : outcome;
  const row = (await store.inboxRowsOf(tenant, source, id)).find((each) => each.consumer === consumer);
  // Of another round, or gone: what is missing or too much of this one is nobody's any more.
  return row?.round === round ? row.outcome : undefined;
}

/** What was applied must be in the table, and nothing else may be. */
function differenceOf(
  { outcome }: ReconciledEvent,
  found: boolean | undefined,
): Difference["kind"] | undefined {
  if (found === undefined || found === (outcome === "success")) return undefined;
  return found ? "extra" : "missing";
}

/**
 * Looks in one transaction of the host, which is rolled back: an `accept` whose work throws leaves nothing behind, and it is
 * the one way to a transaction that every store has.
 */
async function look<Tx, Mode extends TransactionMode>(
  { store, wasApplied }: ReconcileOptions<Tx, Mode>,
  events: readonly ReconciledEvent[],
): Promise<readonly boolean[]> {
  const found: boolean[] = [];
  const work = (tx: Tx): never | Promise<never> => {
    found.length = 0;
    if (store.transactions === "synchronous") {
      for (const event of events) found.push(checkFound(wasApplied(event, tx), event));
      throw new Looked();
    }
    return lookAsync(events, found, (event) => wasApplied(event, tx));
  };
  const limits = { acquireMs: 5000, signal: AbortSignal.timeout(LOOK_MS) };
  const looked = await store.accept(probe(), work, limits);
  if (looked.kind === "failed" && looked.error instanceof Looked) return found;
  if (looked.kind === "failed") throw looked.error;
  throw new Error(`The host's tables could not be looked at: ${looked.kind}.`);
}

async function lookAsync(
  events: readonly ReconciledEvent[],
  found: boolean[],
  ask: (event: ReconciledEvent) => boolean | Promise<boolean>,
): Promise<never> {
  for (const event of events) found.push(checkFound(await ask(event), event));
  throw new Looked();
}

/** An arrival that is never kept. */
function probe(): Arrival {
  const id = newId("rec", Date.now());
  return {
    tenant: "posthorn",
    source: "reconcile",
    id,
    idPreview: undefined,
    type: "reconcile",
    eventAt: undefined,
    body: new Uint8Array(),
    bodyHash: new Uint8Array(32),
    headers: "{}",
    windowS: 60,
  };
}

async function mend<Tx, Mode extends TransactionMode>(
  options: ReconcileOptions<Tx, Mode>,
  compared: Compared,
  kind: Difference["kind"],
): Promise<Difference["done"]> {
  const { missing = "report", extra = "report", observer, because, by = "operator" } = options;
  if ((kind === "missing" ? missing : extra) === "report") return undefined;
  const on = () => [rowText({ ...compared.event, consumer: compared.consumer })];
  const deed = { verb: "reconcile", reason: { because, by }, on };
  return tellDeed({ observer, by }, deed, () =>
    kind === "missing" ? replayAgain(options.store, compared) : mark(options.store, compared),
  );
}

async function replayAgain(
  store: Pick<ReplayStore, "stageAgain">,
  { event: { tenant, source, id, round }, consumer }: Compared,
): Promise<StagedAgain> {
  const [staged = "unknown"] = await store.stageAgain([
    { tenant, source, id, consumer, verb: "replay", round },
  ]);
  return staged;
}

async function mark(
  store: Pick<ReplayStore, "markApplied" | "markStored">,
  { event: { tenant, source, id, round }, consumer, unhandledId }: Compared,
): Promise<"marked" | "not_marked"> {
  const marked =
    unhandledId === undefined
      ? await store.markApplied({ tenant, source, id, consumer, round })
      : await store.markStored(tenant, unhandledId, consumer);
  return marked ? "marked" : "not_marked";
}

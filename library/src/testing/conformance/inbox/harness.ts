import { sha256 } from "#crypto";
import { utf8 } from "../../../bytes.js";
import type {
  Acceptance,
  Arrival,
  Handled,
  InboxRow,
  InboxStore,
  RefusedBecause,
} from "../../../inbox/inbox-store.js";
import type { StoreCapabilities, TransactionMode } from "../../../store-capabilities.js";
import { storedId } from "../../../inbox/arrival/stored-id.js";
import type { BenchTime, Facts, Pledge } from "../case.js";
import { needsOf } from "../case.js";
import { holds, print, same, soon } from "../expectation.js";

/** A refused event, as far as the kit looks at it. */
export interface RefusedRecord {
  readonly id: string;
  readonly because: RefusedBecause;
  readonly body: Uint8Array;
}

/** What a handler may run on its transaction though it should not; `broken` is a statement that the database refuses. */
export type HandlerStatement = "begin" | "commit" | "rollback" | "broken";

/** A fresh, empty inbox for one case. */
export interface InboxBench<Tx = unknown> {
  /** At least two on the same inbox, each as if in a process of its own; the same one twice where there can be only one. */
  readonly stores: readonly InboxStore<Tx>[];
  readonly time: BenchTime;
  /** A write of the host in the transaction, into a place without a unique key. Synchronous where the store's transactions are. */
  write(tx: Tx, mark: string): Promise<void> | void;
  /** The marks of all writes that are committed, each as often as it was written. */
  written(): Promise<readonly string[]>;
  /** Runs a statement on the handler's transaction by the driver's own call, as a handler could. Synchronous where the store's transactions are. */
  run?(tx: Tx, statement: HandlerStatement): Promise<void> | void;
  /** Takes every connection of the first store, or whatever else its accepts would have to wait for, until the function that it gives is called. */
  saturate?(): Promise<() => Promise<void>>;
  /** A store on the same inbox: once `arm` is called, the answer to its next commit is lost. */
  readonly unanswered?: { readonly store: InboxStore<Tx>; readonly arm: () => void };
  /** Every refused event, where the harness can list them. */
  refused?(): Promise<readonly RefusedRecord[]>;
  /** How long one call may take before it counts as waiting for another. @default 10,000 */
  readonly patienceMs?: number;
  close(): Promise<void>;
}

/** Tells the kit how to make and use the store under test. */
export interface InboxHarness<Tx> {
  /** What the store claims: each claim is a set of cases, and must be what the store itself says. */
  readonly capabilities: StoreCapabilities;
  readonly transactions: TransactionMode;
  /** Whether the bench's time is exact to the millisecond, so that the very edge of a window can be tried. */
  readonly exactTime: boolean;
  /** Whether the bench has `refused()`. */
  readonly listsRefused: boolean;
  /** Whether the bench has `run()`: true wherever a handler can run SQL. */
  readonly runsStatements: boolean;
  /** Whether the bench has `saturate()`. */
  readonly saturates: boolean;
  /** Whether the bench has `unanswered`. */
  readonly losesAnswers: boolean;
  /** Whether the database has one connection, so that nothing can be asked of it beside an open transaction. @default false */
  readonly oneConnection?: boolean;
  open(): Promise<InboxBench<Tx>>;
}

/** What the cases know of a harness: not the type of its transaction, which they only pass back. */
export type InboxPledge = Pledge<InboxBench>;

export function inboxFacts(harness: InboxHarness<unknown>): Facts {
  const { capabilities, transactions, exactTime, listsRefused } = harness;
  const { runsStatements, saturates, losesAnswers, oneConnection = false } = harness;
  const awaiting = transactions === "asynchronous";
  return {
    ...needsOf(capabilities),
    exactTime,
    awaitingHandlers: awaiting,
    manyWriters: awaiting,
    manyConnections: !oneConnection,
    refusedListing: listsRefused,
    handlerStatements: runsStatements,
    saturation: saturates,
    lostAnswers: losesAnswers,
  };
}

/** An arrival with everything that a case does not care about filled in. */
export async function arrivalOf(
  given: Partial<Omit<Arrival, "bodyHash" | "idPreview">> = {},
): Promise<Arrival> {
  const { id: foreignId = "evt_1", body = utf8('{"amount":12}'), ...rest } = given;
  const { id, preview } = await storedId(foreignId);
  const bodyHash = await sha256(body);
  return {
    tenant: "default",
    source: "stripe",
    type: "invoice.paid",
    eventAt: undefined,
    headers: '{"content-type":"application/json"}',
    windowS: 14 * 24 * 3600,
    ...rest,
    id,
    idPreview: preview,
    body,
    bodyHash,
  };
}

/** One step of a handler that goes on whatever it is told. */
export type Step = { readonly write: string } | { readonly run: HandlerStatement };

/** What a handler does in a case. */
export interface Doing {
  /** Done first, one after the other; what a step throws is swallowed. */
  readonly steps?: readonly Step[];
  /** Written once per run, unless empty. */
  readonly mark?: string;
  readonly outcome?: Handled["outcome"];
  readonly result?: string;
  readonly because?: string;
  /** Thrown after the write. */
  readonly throws?: unknown;
  /** Awaited after the write; only where handlers may await. */
  readonly pause?: () => Promise<void>;
}

const ACQUIRE_MS = 5000;

/** Which store accepts, and within which limits. */
interface AcceptingBy {
  readonly at?: number;
  readonly on?: InboxStore<unknown>;
  readonly acquireMs?: number;
  readonly signal?: AbortSignal;
}

/** Accepts an arrival with a handler that does as told, and fails when it takes too long. */
export function accept(
  bench: InboxBench,
  arrival: Arrival,
  doing: Doing & AcceptingBy = {},
): Promise<Acceptance> {
  const store = doing.on ?? storeOf(bench, doing.at ?? 0);
  const work = store.transactions === "synchronous" ? workOf(bench, doing) : awaitingWorkOf(bench, doing);
  const limits = {
    acquireMs: doing.acquireMs ?? ACQUIRE_MS,
    signal: doing.signal ?? new AbortController().signal,
  };
  return soon(store.accept(arrival, work, limits), `accept of ${arrival.id}`, bench.patienceMs);
}

/** Accepts, and fails unless the event was applied. */
export async function apply(bench: InboxBench, arrival: Arrival, doing: Doing = {}): Promise<void> {
  const acceptance = await accept(bench, arrival, doing);
  holds(
    acceptance.kind === "applied",
    `The accept of ${arrival.id} came to ${print(acceptance)}, not to applied`,
  );
}

/** Runs `beside` while a handler of the arrival is running, then lets that handler end, and says what its accept came to. */
export async function whileApplying(
  bench: InboxBench,
  arrival: Arrival,
  beside: () => Promise<void>,
  throws?: Error,
): Promise<Acceptance> {
  const [begun, ended] = [signal(), signal()];
  const pause = (): Promise<void> => {
    begun.give();
    return ended.given;
  };
  const acceptance = accept(bench, arrival, { pause, ...(throws && { throws }) });
  try {
    // An accept that ends before its handler ran would leave the case waiting for ever.
    await Promise.race([begun.given, acceptance]);
    await beside();
  } finally {
    // Also when the case has failed: a transaction left open would hang whoever closes the store.
    ended.give();
    await acceptance.catch(() => undefined);
  }
  return acceptance;
}

/** A promise that is kept when `give` is called. */
function signal(): { readonly given: Promise<void>; readonly give: () => void } {
  const gate = new EventTarget();
  const given = new Promise<void>((resolve) => gate.addEventListener("given", () => resolve()));
  return { given, give: () => void gate.dispatchEvent(new Event("given")) };
}

/** Accepts with a handler that throws, and records the failure as the receiver does. */
export async function failOnce(bench: InboxBench, arrival: Arrival, error = "no"): Promise<void> {
  const acceptance = await accept(bench, arrival, { throws: new Error(error) });
  same(acceptance.kind, "failed", "an accept whose handler throws");
  await storeOf(bench, 0).fail(arrival, error);
}

export function storeOf({ stores }: InboxBench, index: number): InboxStore<unknown> {
  const store = stores[index % stores.length];
  holds(store !== undefined, "The harness gave no store");
  return store;
}

/** The event's row, which must be there. */
export async function rowOf(bench: InboxBench, arrival: Arrival): Promise<InboxRow> {
  const row = await storeOf(bench, 0).read(arrival);
  holds(row !== undefined, `There is no row of ${arrival.id}`);
  return row;
}

/** How often the mark was written and committed. */
export async function timesWritten(bench: InboxBench, mark: string): Promise<number> {
  return (await bench.written()).filter((each) => each === mark).length;
}

export function passTicks({ time }: InboxBench, ticks: number): Promise<void> {
  return time.pass(ticks * time.tickS * 1000);
}

function workOf(bench: InboxBench, doing: Doing): (tx: unknown) => Handled {
  return (tx) => {
    for (const step of doing.steps ?? []) {
      try {
        void take(bench, tx, step);
      } catch {
        // As a handler that goes on.
      }
    }
    if (doing.mark !== undefined) void bench.write(tx, doing.mark);
    return handledOf(doing);
  };
}

function awaitingWorkOf(bench: InboxBench, doing: Doing): (tx: unknown) => Promise<Handled> {
  return async (tx) => {
    for (const step of doing.steps ?? []) {
      try {
        await take(bench, tx, step);
      } catch {
        // As a handler that goes on.
      }
    }
    if (doing.mark !== undefined) await bench.write(tx, doing.mark);
    await doing.pause?.();
    return handledOf(doing);
  };
}

function take(bench: InboxBench, tx: unknown, step: Step): Promise<void> | void {
  return "write" in step ? bench.write(tx, step.write) : bench.run?.(tx, step.run);
}

function handledOf(doing: Doing): Handled {
  if ("throws" in doing) throw doing.throws;
  return { outcome: doing.outcome ?? "success", result: doing.result, because: doing.because };
}

import type { Clock } from "../clock.js";
import type { Event, IncomingName } from "../event.js";
import { filledBy } from "../hold-mark.js";
import type { FilledPlace } from "../hold-mark.js";
import { newId } from "../id.js";
import { nameOfId } from "../incoming-name.js";
import { notify } from "../observer.js";
import type { Observer } from "../observer.js";
import { placeText } from "../place.js";
import type { Receipt } from "../receipt.js";
import type { StopSignal } from "../stop-signal.js";
import { storeFailed } from "../store-failed.js";
import { describeThrown } from "../thrown.js";
import { FELL_BACK, identify, isStale, withoutBytes } from "./arrival/arrival.js";
import type { Named, Shown } from "./arrival/arrival.js";
import type { HeaderBag } from "../signature/headers/headers.js";
import type { InboxStore, PurgeLimits, PurgeReport } from "./inbox-store.js";
import { holdMark, keyed, keyOf } from "./arrival/hold-rule.js";
import type { Source } from "./source.js";
import { storedId } from "./arrival/stored-id.js";
import type { Verdict } from "./verdict.js";
import { WorkerWatch } from "./worker-watch.js";
import type { HandlerBook } from "./worker-watch.js";

/** An event as it is stored for handlers. */
export interface KeptEvent {
  readonly id: string;
  readonly idGiven: false;
  readonly tenant: string;
  readonly source: string;
  readonly type: string;
  readonly key: string | undefined;
  readonly body: Uint8Array;
  readonly contentHash: undefined;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly origin: { readonly providerId: string; readonly verifiedBy: string | undefined };
  readonly receipt: Receipt;
  readonly time: Date;
  readonly deliverAt: undefined;
  readonly expiresAt: undefined;
}

/** All that a receiver which stores first needs of a store: the one of its worker, with the inbox beside it. */
export interface KeeperStore
  extends Pick<InboxStore<never>, "find" | "refuse" | "touch" | "flush" | "purge">, Partial<HandlerBook> {
  /** Stores an event unless one of its names is known; calls of the same moment share one commit. */
  ingest(incoming: {
    readonly event: KeptEvent;
    readonly names: readonly [IncomingName, ...IncomingName[]];
    readonly windowS: number | undefined;
  }): Promise<{ readonly kind: "stored" | "duplicate" | "conflict"; readonly id: string }>;
  /** The ids of the events that came under these names, while their windows last. */
  namedEvents(tenant: string, names: readonly string[]): Promise<readonly string[]>;
  /** Nobody waits for the place of an event that was answered and is not stored; `ingest` does so for duplicates and conflicts. */
  fill(place: FilledPlace): Promise<void>;
  /** Forgets names whose window has passed, oldest first; says how many. */
  forgetNames(limits: { readonly maxNames: number }): Promise<number>;
}

export interface KeeperParts {
  readonly store: KeeperStore;
  readonly clock: Clock;
  readonly observer: Observer | undefined;
  /** Aborts when the receiver stops. */
  readonly stopped: StopSignal;
}

interface Judgement {
  readonly verdict: Verdict;
  readonly why?: string;
}

// Between two of them the deadline is looked at.
const NAMES_AT_ONCE = 500;

/** Takes one verified event to its verdict: stored once, for a worker to handle. */
export class Keeper {
  readonly #parts: KeeperParts;
  readonly #watch: WorkerWatch | undefined;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
    const { store } = parts;
    this.#watch = isBook(store) ? new WorkerWatch({ ...parts, book: store }) : undefined;
  }

  /** Whether an event that its provider's log names was applied, or is stored. */
  async isOver({ tenant, name: source }: Source, id: string): Promise<boolean> {
    const { store } = this.#parts;
    const { id: stored } = await storedId(id);
    const known = await store.find({ tenant, source, id: stored });
    if (known !== undefined && known.outcome !== "failed") return true;
    // No row is there while it waits for a worker, or where named consumers handle it: each run would load it again.
    return (await store.namedEvents(tenant, [nameOfId(source, stored)])).length > 0;
  }

  /** The events of one request, in order: what is new of them shares commits, and the failure of one costs only itself. */
  async applyAll(source: Source, events: readonly Event[], shown: Shown): Promise<readonly Verdict[]> {
    const startedAt = this.#parts.clock.monotonic();
    const came: Came[] = [];
    for (const event of events) came.push(await this.#identify(source, event, shown));
    // Without an await in between: each in a commit of its own, a request of 1,000 events took seconds.
    const answers = came.map((each) => this.#store(source, each));
    const verdicts: Verdict[] = [];
    for (const [n, each] of came.entries()) {
      const judged = await this.#judge(source, each, answers[n] as Promise<Answer>);
      this.#tell(each, judged, startedAt);
      verdicts.push(judged.verdict);
    }
    return verdicts;
  }

  /** Forgets rows of the inbox, then names. Nobody else forgets the names: without it they outlive their events for ever. */
  async purge(limits: PurgeLimits): Promise<PurgeReport> {
    const { store, clock } = this.#parts;
    const endsAt = clock.monotonic() + limits.deadlineMs;
    const rows = await store.purge(limits);
    const most = Math.floor(limits.maxRows);
    let { removed } = rows;
    while (removed < most) {
      const maxNames = Math.min(NAMES_AT_ONCE, most - removed);
      const forgotten = await store.forgetNames({ maxNames });
      removed += forgotten;
      if (forgotten < maxNames) return { removed, more: rows.more };
      if (clock.monotonic() >= endsAt) break;
    }
    return { removed, more: true };
  }

  async #identify(source: Source, event: Event, { headers, kept, proof }: Shown): Promise<Came> {
    const { exact, key: verifiedBy, sentAt } = proof;
    const told = await identify(source, event, kept);
    const named = exact || source.naming.bodyVaries ? told : withoutBytes(told);
    const identified = { ...named, verifiedBy, sentAt, headers };
    return { event, identified, judged: await this.#stale(source, event, identified) };
  }

  /** Says of an event of long ago that it is stale, unless it is known. */
  async #stale(source: Source, event: Event, identified: Proved): Promise<Judgement | undefined> {
    const { store, clock } = this.#parts;
    const { arrival, names, sentAt } = identified;
    if (!isStale(source, { eventAt: arrival.eventAt, sentAt }, clock.now())) return undefined;
    try {
      if ((await store.find(arrival)) !== undefined) return undefined;
      // One that no worker has handled has no row yet.
      const told = names.map(({ name }) => name);
      if ((await store.namedEvents(arrival.tenant, told)).length > 0) return undefined;
      const place = filledBy(keptEvent(source, event, { identified, nowMs: clock.now() }));
      if (place !== undefined) await store.fill(place);
      await store.refuse(keyed(source, event, arrival, identified.headers), "stale");
      return { verdict: "stale", why: "it happened before the window began" };
    } catch (error) {
      return this.#unavailable(error);
    }
  }

  /** Never rejects: nobody listens to the answer of a later event while an earlier one is judged. */
  async #store(source: Source, { event, identified, judged }: Came): Promise<Answer> {
    const { store, clock } = this.#parts;
    if (judged !== undefined) return { kind: "judged", judged };
    try {
      const kept = keptEvent(source, event, { identified, nowMs: clock.now() });
      const { names, arrival } = identified;
      const { kind, id } = await store.ingest({ event: kept, names, windowS: arrival.windowS });
      return { kind, id, kept };
    } catch (error) {
      return { kind: "judged", judged: this.#unavailable(error) };
    }
  }

  async #judge(source: Source, came: Came, answer: Promise<Answer>): Promise<Judgement> {
    const { store } = this.#parts;
    const { event, identified } = came;
    const answered = await answer;
    if (answered.kind === "judged") return answered.judged;
    if (answered.kind === "stored") {
      this.#tellStored(source, answered.kept);
      return { verdict: "stored" };
    }
    try {
      // The sender still uses the id: the row of an event that was applied is remembered as long as its name is.
      store.touch(identified.arrival);
      if (answered.kind === "duplicate")
        return { verdict: "duplicate", why: `stored before as ${answered.id}` };
      await store.refuse(keyed(source, event, identified.arrival, identified.headers), "conflict");
      return { verdict: "conflict", why: "the id is known with another body" };
    } catch (error) {
      return this.#unavailable(error);
    }
  }

  /** Broken infrastructure: nothing is acknowledged, so the sender comes again. */
  #unavailable(error: unknown): Judgement {
    notify(this.#parts.observer, storeFailed("ingest", error));
    return { verdict: "unavailable", why: describeThrown(error) };
  }

  #tell({ identified }: Came, judged: Judgement, startedAt: number): void {
    const { clock, observer } = this.#parts;
    const { arrival, id, fellBack } = identified;
    const { verdict, why = fellBack ? FELL_BACK : undefined } = judged;
    notify(observer, {
      kind: "event_received",
      tenant: arrival.tenant,
      source: arrival.source,
      type: arrival.type,
      id,
      verdict,
      why,
      durationMs: clock.monotonic() - startedAt,
    });
  }

  #tellStored(source: Source, { tenant, type, key, receipt: { id } }: KeptEvent): void {
    this.#watch?.stored({ source: source.name, type, id });
    if (key !== undefined || source.key === undefined) return;
    const place = placeText(source.key);
    notify(this.#parts.observer, { kind: "key_missing", tenant, source: source.name, type, id, place });
  }
}

function isBook(store: Partial<HandlerBook>): store is HandlerBook {
  return store.consumers !== undefined;
}

/** One event of a request, on its way into the store. */
interface Came {
  readonly event: Event;
  readonly identified: Proved;
  /** What it came to before it was to be stored. */
  readonly judged: Judgement | undefined;
}

type Answer =
  | (Awaited<ReturnType<KeeperStore["ingest"]>> & { readonly kept: KeptEvent })
  | { readonly kind: "judged"; readonly judged: Judgement };

/** An event with its names, and the key that verified it. */
interface Proved extends Named {
  readonly verifiedBy: string | undefined;
  /** As its provider's log says. */
  readonly sentAt: Date | undefined;
  /** Of its request, as they came. */
  readonly headers: HeaderBag;
}

function keptEvent(
  source: Source,
  event: Event,
  { identified, nowMs }: { readonly identified: Proved; readonly nowMs: number },
): KeptEvent {
  const { id, arrival, verifiedBy, headers } = identified;
  const kept = JSON.parse(arrival.headers) as Readonly<Record<string, string>>;
  const eventId = newId("evt", nowMs);
  const { tenant, type, body, bodyHash, eventAt, idPreview, windowS } = arrival;
  const key = keyOf(source, event, headers);
  return {
    id: eventId,
    idGiven: false,
    tenant,
    source: source.name,
    type,
    key,
    body,
    contentHash: undefined,
    contentType: kept["content-type"] ?? "application/octet-stream",
    headers: kept,
    origin: { providerId: id, verifiedBy },
    receipt: {
      id,
      // Its names have told that it is new. A worker that comes later than the window would find the row of the one before it, and
      // take it for a duplicate.
      storedId: source.naming.bodiesRecur === true ? `${arrival.id}.${eventId}` : arrival.id,
      idPreview,
      time: eventAt,
      bodyHash,
      windowS,
      stamp: event.stamp,
      hold: key === undefined ? undefined : holdMark(source, event, headers),
    },
    time: eventAt ?? new Date(nowMs),
    deliverAt: undefined,
    expiresAt: undefined,
  };
}

import type { Clock } from "../clock.js";
import type { Dispatcher } from "../delivery/dispatcher.js";
import type { Receiver } from "../inbox/receiver.js";
import type { Worker } from "../inbox/worker/worker.js";
import { ENDPOINTS } from "../lanes/lane-store.js";
import type { Claimable } from "../lanes/lane-store.js";
import type { Signal } from "../observer.js";
import type { Store } from "../operator/store.js";
import type { Sender } from "../outbox/sender.js";
import { beginWitness } from "../witness.js";
import type { Party } from "../witness.js";
import type { FakeClock } from "./fake-clock.js";
import { CURE, isUnderWay, stillWaiting, unhandedIn } from "./still-waiting.js";

// Begun when a test imports `posthorn/testing`, before it makes the parts that it tests.
const witness = beginWitness();

/** What can be waited for. */
export type SettledPart = Receiver<never> | Worker | Dispatcher | Sender<never>;

/** How long to wait, and whether time is turned. */
export interface SettledOptions {
  /** Turns the fake clock on to each time at which something is due, until nothing is. @default false */
  readonly advance?: boolean;
  /** The same, but no further than this instant, at which the clock stands afterwards; what is due later stays. */
  readonly until?: Date;
  /** After how much real time it gives up, with an error that names what waits. @default 4,000 */
  readonly timeoutMs?: number;
}

/** What a handler has done with an event. */
export interface SettledEvent {
  readonly id: string;
  readonly source: string;
  readonly type: string;
  /** `default` where the receiver or worker has `handlers` and no `consumers`. */
  readonly consumer: string;
  /** `applied`, `skipped`, `dropped`, `duplicate`, `postponed`, `failed`, and of a receiver whatever else its verdict is. */
  readonly outcome: string;
}

/** What was published. */
export interface SettledPublication {
  readonly id: string;
  readonly tenant: string;
  readonly type: string;
  readonly key: string | undefined;
}

/** What happened in the stores of these parts since the last call, or since they were made. */
export interface SettledReport {
  /** In the order in which it happened, every attempt of this process. */
  readonly handled: readonly SettledEvent[];
  /** The ids of what was applied, in the same order. */
  readonly applied: readonly string[];
  /** In the order of publishing. */
  readonly published: readonly SettledPublication[];
}

/**
 * Waits until these parts have nothing to do: nothing in their stores is due, leased, staged or held. A worker and a
 * dispatcher need not be started; what is due is drained. Dead letters, and consumers that are paused
 * until somebody resumes them, wait for a person and are not waited for; the end of a pause with `forMs` is. Without a dispatcher, what was published may stay due.
 *
 * @example
 * await receiver.receive("stripe", await signedRequest("stripe", { type: "invoice.paid" }));
 * const { applied, published } = await settled(receiver, worker, sender);
 *
 * @example
 * await settled(worker, { advance: true }); // runs every retry, by a fake clock
 */
export async function settled(
  ...given: readonly SettledPart[] | readonly [...SettledPart[], SettledOptions]
): Promise<SettledReport> {
  const options = optionsOf(given.at(-1));
  const parts = options === undefined ? given : given.slice(0, -1);
  return new Settling(parts as readonly SettledPart[], options ?? {}).run();
}

function optionsOf(last: SettledPart | SettledOptions | undefined): SettledOptions | undefined {
  return last === undefined || witness.parties.has(last) || Object.getPrototypeOf(last) !== Object.prototype
    ? undefined
    : (last as SettledOptions);
}

interface Member extends Party {
  readonly part: SettledPart;
  readonly store: Store<never>;
}

// How much of each store was reported before.
const reported = new WeakMap<object, { heard: number; readonly published: Set<string> }>();

const LOOK_AGAIN_MS = 5;
const PAGE = 200;
const setRealTimeout = globalThis.setTimeout;
const realNow = (): number => performance.now();

class Settling {
  readonly #members: readonly Member[];
  readonly #stores: readonly Store<never>[];
  readonly #options: SettledOptions;
  readonly #givesUpAt: number;

  constructor(parts: readonly SettledPart[], options: SettledOptions) {
    this.#members = parts.map(memberOf);
    this.#stores = [...new Set(this.#members.map(({ store }) => store))];
    this.#options = options;
    this.#givesUpAt = realNow() + (options.timeoutMs ?? 4000);
    if (this.#turns) for (const member of this.#members) fakeClockOf(member);
  }

  async run(): Promise<SettledReport> {
    for (;;) {
      await this.#inTime(this.#drain());
      const waitMs = await this.#waitMs();
      if (waitMs === undefined) {
        await this.#refuseUnhanded();
        break;
      }
      if (this.#isBusy() || waitMs <= 0 || !this.#turns) await this.#pause(waitMs);
      else if (!(await this.#turn(waitMs))) break;
    }
    if (this.#options.until !== undefined) await this.#turnTo(this.#options.until.getTime());
    return this.#report();
  }

  get #turns(): boolean {
    return this.#options.advance === true || this.#options.until !== undefined;
  }

  async #drain(): Promise<void> {
    for (const store of this.#stores) {
      for (let report = await store.sequence(); report.more; report = await store.sequence())
        if (report.events === 0) await realSleep(LOOK_AGAIN_MS);
    }
    for (const { kind, part } of this.#members)
      if (kind === "worker" || kind === "dispatcher") await (part as Worker | Dispatcher).drain();
  }

  /** Until something can be done; undefined when there is nothing left to do. */
  async #waitMs(): Promise<number | undefined> {
    const waits = await Promise.all(this.#members.map((member) => untilDue(member)));
    const known = waits.filter((wait) => wait !== undefined);
    if (known.length > 0) return Math.min(...known);
    const censuses = await Promise.all(this.#stores.map((store) => store.census()));
    // Committed a moment ago.
    return censuses.some(({ staged }) => staged > 0) ? 0 : undefined;
  }

  /** What a receiver has stored and none of these parts will handle: an empty report would look as if nothing had come. */
  async #refuseUnhanded(): Promise<void> {
    const handed = new Set(this.#members.flatMap(({ handlers = [] }) => handlers));
    const stores = this.#members.filter(({ kind }) => kind === "receiver").map(({ store }) => store);
    for (const store of new Set(stores)) {
      const unhanded = await unhandedIn(store, handed);
      if (unhanded !== undefined) throw new Error(`Not settled. ${unhanded}`);
    }
  }

  #isBusy(): boolean {
    return this.#members.some(({ isBusy }) => isBusy?.() === true);
  }

  /** Waits in real time: for a lease of another, for a handler in the background, or until something is due. */
  async #pause(waitMs: number): Promise<void> {
    const [{ clock } = { clock: undefined }] = this.#members;
    const standsStill = clock !== undefined && isFake(clock) && this.#followsClock();
    if (standsStill && waitMs > 0 && !this.#isBusy()) throw await this.#error("and its clock stands still");
    if (realNow() >= this.#givesUpAt) throw await this.#error("after the timeout");
    await realSleep(Math.max(1, Math.min(waitMs, LOOK_AGAIN_MS)));
  }

  #followsClock(): boolean {
    return this.#stores.every(({ capabilities }) => capabilities.clock === "process");
  }

  /** False where nothing more is due by `until`. */
  async #turn(waitMs: number): Promise<boolean> {
    const [first] = this.#members;
    if (first === undefined) return false;
    const { until } = this.#options;
    if (until !== undefined && first.clock.now() + waitMs > until.getTime()) return false;
    await fakeClockOf(first).advance(waitMs);
    return true;
  }

  async #turnTo(untilMs: number): Promise<void> {
    const [first] = this.#members;
    if (first !== undefined) await fakeClockOf(first).advance(Math.max(0, untilMs - first.clock.now()));
  }

  async #inTime<T>(work: Promise<T>): Promise<T> {
    const late = Symbol("late");
    const timer = realSleep(Math.max(0, this.#givesUpAt - realNow()), work);
    const first = await Promise.race([work, timer.then(() => late)]);
    if (first === late) throw await this.#late();
    return first as T;
  }

  /** A drain that begins when the time is up is late, too, though no handler runs in it: what waits then is a retry. */
  async #late(): Promise<Error> {
    const areUnderWay = await Promise.all(this.#stores.map(isUnderWay));
    return this.#error(
      areUnderWay.includes(true) ? "after the timeout: a handler has not returned" : "after the timeout",
    );
  }

  async #error(when: string): Promise<Error> {
    const named = (await Promise.all(this.#stores.map(stillWaiting))).flat();
    const list = named.length === 0 ? "a lease of another process" : named.join("; ");
    const cure = this.#turns ? "" : ` ${CURE}`;
    return new Error(`Not settled, ${when}. Still waiting: ${list}.${cure}`);
  }

  async #report(): Promise<SettledReport> {
    const reports = await Promise.all(this.#stores.map(reportOf));
    const handled = reports.flatMap((report) => report.handled);
    return {
      handled,
      applied: handled.filter(({ outcome }) => outcome === "applied").map(({ id }) => id),
      published: reports.flatMap((report) => report.published),
    };
  }
}

function memberOf(part: SettledPart): Member {
  const party = witness.parties.get(part);
  if (party === undefined) {
    throw new TypeError(
      "settled() takes receivers, workers, senders and dispatchers, made after `posthorn/testing` was imported.",
    );
  }
  return { ...party, part, store: party.store as Store<never> };
}

function untilDue({ kind, store, handlers = [] }: Member): Promise<number | undefined> {
  const of: Claimable = kind === "dispatcher" ? ENDPOINTS : { kind: "handler", ids: handlers };
  return store.untilDue(of);
}

function isFake(clock: Clock): clock is FakeClock {
  return "advance" in clock;
}

function fakeClockOf({ clock, store }: Member): FakeClock {
  if (isFake(clock) && store.capabilities.clock === "process") return clock;
  throw new TypeError(
    "settled() can turn time only where the parts have a createFakeClock() and their store goes by it: Postgres has its own clock.",
  );
}

async function reportOf(store: Store<never>): Promise<Pick<SettledReport, "handled" | "published">> {
  const before = reported.get(store) ?? { heard: 0, published: new Set<string>() };
  reported.set(store, before);
  const heard = witness.heard.get(store) ?? [];
  const handled = heard.slice(before.heard).flatMap(handledIn);
  before.heard = heard.length;
  const published: SettledPublication[] = [];
  for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
    const page = await store.events({}, { limit: PAGE, after });
    for (const { id, tenant, type, key, direction } of page.items) {
      const name = JSON.stringify([tenant, id]);
      if (direction === "out" && !before.published.has(name)) published.push({ id, tenant, type, key });
      before.published.add(name);
    }
    after = page.next;
  }
  return { handled, published: published.toReversed() };
}

function handledIn(signal: Signal): readonly SettledEvent[] {
  if (signal.kind === "event_handled") {
    const { id, source, type, consumer, outcome } = signal;
    return [{ id, source, type, consumer, outcome }];
  }
  if (signal.kind !== "event_received" || signal.verdict === "stored") return [];
  const { id, source, type, verdict } = signal;
  return [{ id, source, type, consumer: "default", outcome: verdict }];
}

/** In real time, also where the clock of a test stands still; ends with `work`, whose timer must not hold the process. */
function realSleep(ms: number, work?: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setRealTimeout(resolve, ms);
    const stop = (): void => {
      clearTimeout(timer);
      resolve();
    };
    work?.then(stop, stop);
  });
}

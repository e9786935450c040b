import type { InboxRound, StepKey, StepState } from "../../library/src/inbox/handler/step-store.js";
import type { Compared, NewestStore, ResourceVersion } from "../../library/src/inbox/handler/newest.js";
import type { Handled, InboxKey } from "../../library/src/inbox/inbox-store.js";
import type {
  Applied,
  ApplyLimits,
  ApplyWork,
  EnteredDelivery,
  WorkerStore,
} from "../../library/src/inbox/worker/worker-store.js";
import type { AttemptRecord } from "../../library/src/lanes/attempt-record.js";
import type {
  HandlerConsumer,
  HandlerPause,
  HandlerRemoval,
  HandlerRemoved,
  RegisteredHandler,
} from "../../library/src/lanes/handler-consumer.js";
import type {
  Claim,
  Claimable,
  ClaimAnswer,
  ClaimRequest,
  SequenceReport,
  Settled,
  Settlement,
  SettleRequest,
} from "../../library/src/lanes/lane-store.js";
import { PosthornError } from "../../library/src/posthorn-error.js";
import type { StoreErrorCode } from "../../library/src/store-errors.js";
import { Wake } from "../../library/src/work/wake.js";
import { Fuse } from "../world/fuse.js";
import { untilAborted } from "../world/line-inbox.js";
import type { Line } from "../world/line.js";
import type { Scheduler } from "../world/scheduler.js";
import type { Who } from "../world/who.js";
import { nameOf, numberOfEvent } from "./names.js";
import type { LeasedLane, StoredSighting } from "./sightings.js";
import type { StoredStore, WorkingStore } from "./stored-store.js";

// As a server does with a session that says nothing inside of a transaction: longer than any lease of a run.
const IDLE_MS = 20_000;

// One for all: a stack trace for each costs more than what it is the end of.
const LOST = new Error("The connection was lost.");
const OVER = new Error("The transaction has come to its end.");

type Run = readonly [EnteredDelivery, ...EnteredDelivery[]];

/** An apply whose transaction is open at the database, or whose answer needed none. */
type Opened =
  | { readonly kind: "answered"; readonly applied: Applied }
  | {
      readonly kind: "open";
      readonly tx: unknown;
      readonly run: Run;
      readonly finish: (handled: readonly Handled[]) => void;
      readonly breakOff: (error: unknown) => void;
      readonly ended: Promise<Applied>;
    };

export interface LineWorkerParts {
  readonly line: Line;
  readonly who: Who;
  readonly scheduler: Scheduler;
  readonly store: StoredStore;
}

/** The worker's part of a database, at the other end of a line. What the database did is seen where it did it. */
export class LineWorker
  implements WorkerStore<unknown, "asynchronous">, NewestStore<unknown, "asynchronous">
{
  readonly transactions = "asynchronous";
  readonly connections = undefined;
  /** Of this process alone: hints of other processes do not reach it. */
  readonly wake: Wake = new Wake();
  readonly #parts: LineWorkerParts;
  readonly #line: Line;
  readonly #store: WorkingStore<unknown>;

  constructor(parts: LineWorkerParts) {
    this.#parts = parts;
    this.#line = parts.line;
    this.#store = parts.store.working;
  }

  register(consumers: readonly HandlerConsumer[]): Promise<void> {
    return this.#line.ask("register", () => this.#store.register(consumers));
  }

  pauseHandler(id: string, pause: HandlerPause): Promise<boolean> {
    return this.#line.ask("pause", async () => {
      const done = await this.#store.pauseHandler(id, pause);
      const { forMs } = pause;
      this.#see({ kind: "paused", database: this.#database, consumer: nameOf(id), forMs: forMs ?? Infinity });
      return done;
    });
  }

  resumeHandler(id: string): Promise<boolean> {
    return this.#line.ask("resume", async () => {
      const done = await this.#store.resumeHandler(id);
      if (done) this.#see({ kind: "resumed", database: this.#database, consumer: nameOf(id) });
      return done;
    });
  }

  removeHandler(id: string, removal: HandlerRemoval): Promise<HandlerRemoved> {
    return this.#line.ask("remove_handler", () => this.#store.removeHandler(id, removal));
  }

  readHandlers(ids?: readonly string[]): Promise<readonly RegisteredHandler[]> {
    return this.#line.ask("read_handlers", () => this.#store.readHandlers(ids));
  }

  sequence(): Promise<SequenceReport> {
    return this.#line.ask("sequence", () => this.#store.sequence());
  }

  claim(request: ClaimRequest): Promise<ClaimAnswer> {
    return this.#line.ask("claim", async () => {
      const answer = await this.#store.claim(request);
      this.#seeLeased(answer.claims);
      if (answer.claims.some(({ attempts, failures }) => attempts > failures))
        this.#line.log.count("claim.lapsed");
      return answer;
    });
  }

  settle(request: SettleRequest): Promise<readonly Settled[]> {
    return this.#line.ask("settle", async () => {
      const answers = await this.#store.settle(request);
      request.settlements.forEach((settlement, index) => {
        if (answers[index]?.kind === "settled") this.#seeRuled(settlement);
      });
      // Of one step: what it has leased was leased before it paused anybody.
      this.#seeLeased(answers.flatMap((answer) => (answer.kind === "settled" ? (answer.next ?? []) : [])));
      request.settlements.forEach(({ claim, rest }, index) => {
        const answer = answers[index];
        this.#line.log.count(`settle.${answer?.kind}.${rest?.state ?? "given_back"}`);
        if (answer?.kind !== "settled" || rest?.state !== "paused") return;
        const consumer = nameOf(claim.consumer.id);
        this.#see({ kind: "paused", database: this.#database, consumer, forMs: rest.forMs });
      });
      return answers;
    });
  }

  release(worker: string, held: readonly Pick<Claim, "kind" | "id">[]): Promise<number> {
    // As they are when it is asked: what the worker holds may change while the call is on its way.
    const sent = held.map(({ kind, id }) => ({ kind, id }));
    return this.#line.ask("release", () => this.#store.release(worker, sent));
  }

  extend(
    worker: string,
    leases: readonly Pick<Claim, "kind" | "id" | "epoch">[],
    leaseMs: number,
  ): Promise<readonly boolean[]> {
    return this.#line.ask("extend", async () => {
      const kept = await this.#store.extend(worker, leases, leaseMs);
      for (const isKept of kept) this.#line.log.count(isKept ? "extend.kept" : "extend.lost");
      return kept;
    });
  }

  untilDue(of: Claimable): Promise<number | undefined> {
    return this.#line.ask("until_due", () => this.#store.untilDue(of));
  }

  attempts(deliveryId: string): Promise<readonly AttemptRecord[]> {
    return this.#line.ask("attempts", () => this.#store.attempts(deliveryId));
  }

  roundOf(key: InboxKey, consumer: string): Promise<InboxRound> {
    return this.#line.ask("round_of", () => this.#store.roundOf(key, consumer));
  }

  beginStep(key: StepKey, storedAs: string): Promise<StepState> {
    return this.#line.ask("begin_step", () => this.#store.beginStep(key, storedAs));
  }

  keepStep(key: StepKey, result: string | undefined): Promise<void> {
    return this.#line.ask("keep_step", () => this.#store.keepStep(key, result));
  }

  newest(tx: unknown, version: ResourceVersion): Promise<Compared> {
    return this.#line.ask("newest", () => this.#store.newest(tx, version));
  }

  async apply(claim: Claim, work: ApplyWork<unknown>, limits: ApplyLimits): Promise<Applied> {
    const opened = await this.#line.ask("apply", () => this.#open(claim, limits));
    if (opened.kind === "answered") return opened.applied;
    const { tx, run, finish, breakOff, ended } = opened;
    let handled: readonly Handled[];
    try {
      handled = await untilAborted(work(tx, run), limits);
    } catch (error) {
      breakOff(error);
      await this.#line.ask("rollback", () => Promise.resolve());
      return { kind: "failed", error };
    }
    const commit = async (): Promise<Applied> => {
      finish(handled);
      const applied = await ended;
      // The server has rolled back, and there is no session that could say so.
      if (applied.kind === "failed") throw LOST;
      this.#seeApplied(claim, run.slice(0, handled.length), applied);
      if (applied.kind === "applied") this.#seeSkipped(claim, handled);
      return applied;
    };
    try {
      return await this.#line.ask("commit", commit);
    } catch (cause) {
      const message = "The answer to the commit did not come.";
      throw new PosthornError<StoreErrorCode>("store_commit_unknown", message, { cause });
    }
  }

  /** At the database: the transaction is open when the store would run the handlers. */
  #open(claim: Claim, limits: ApplyLimits): Promise<Opened> {
    const connection = this.#connection();
    let isOpen = false;
    return new Promise((resolve, reject) => {
      const ended: Promise<Applied> = this.#store.apply(
        claim,
        (tx, run) =>
          new Promise<readonly Handled[]>((finish, breakOff) => {
            isOpen = true;
            // A turn later, when `ended` is there to be handed on.
            queueMicrotask(() => resolve({ kind: "open", tx, run, finish, breakOff, ended }));
          }),
        { ...limits, signal: connection.signal },
      );
      const answered = (applied: Applied): void => {
        connection.blow(OVER);
        // Without a handler's doing: busy, stale, or a duplicate, which is settled at once.
        if (!isOpen) this.#seeApplied(claim, [], applied);
        resolve({ kind: "answered", applied });
      };
      ended.then(answered, reject);
    });
  }

  /** What became of an event whose handler threw. */
  #seeRuled({ claim, attempts, rest }: Settlement): void {
    const error = attempts.at(-1)?.error;
    if (error !== undefined && rest !== undefined) this.#seeRule(claim, claim.run[0], { error, rest });
  }

  #seeSkipped(claim: Claim, handled: readonly Handled[]): void {
    handled.forEach((each, n) => {
      if (each.outcome !== "skipped") return;
      this.#line.log.count(each.because === undefined ? "skipped.unhandled" : "skipped.ruled");
      const rest = { state: "skipped" } as const;
      this.#seeRule(claim, claim.run[n], { error: each.because ?? "", rest });
    });
  }

  #seeRule(
    { consumer: { id: consumer }, kind, id }: Settlement["claim"],
    delivery: Claim["run"][number] | undefined,
    ruled: Pick<Extract<StoredSighting, { kind: "ruled" }>, "error" | "rest">,
  ): void {
    const at = {
      consumer: nameOf(consumer),
      number: numberOfEvent(delivery?.event ?? {}),
      lane: `${kind} ${id}`,
    };
    this.#see({ kind: "ruled", database: this.#database, ...at, ...ruled });
  }

  #seeApplied(claim: Claim, handled: readonly EnteredDelivery[], applied: Applied): void {
    const { node, life } = this.#parts.who;
    this.#line.log.count(`apply.${applied.kind}`);
    const numbers = handled.map(({ event }) => numberOfEvent(event));
    const count = "count" in applied ? applied.count : 0;
    const seen = { database: this.#database, node, life, claim: leasedLane(claim), handled: numbers };
    this.#see({ kind: "applied", ...seen, said: applied.kind, count });
    if ("next" in applied && applied.next !== undefined) this.#seeLeased([applied.next]);
  }

  #seeLeased(claims: readonly Claim[]): void {
    if (claims.length === 0) return;
    if (claims.some(({ run }) => run.length > 1)) this.#line.log.count("claim.run");
    const { node, life } = this.#parts.who;
    const lanes = claims.map(leasedLane);
    this.#see({ kind: "leased", database: this.#database, to: "handler", node, life, lanes });
  }

  #see(sighting: StoredSighting): void {
    this.#line.log.add(sighting);
  }

  get #database(): number {
    return this.#line.database.index;
  }

  /** Blows when the process or the server dies, or the process says nothing for too long: the transaction is rolled back. */
  #connection(): Fuse {
    const { line, scheduler } = this.#parts;
    const connection = new Fuse();
    const lose = (): void => connection.blow(LOST);
    line.life.whenEnded(lose);
    line.database.whenPowerGoes(lose);
    scheduler.after(IDLE_MS, () => {
      if (connection.aborted) return;
      scheduler.woke();
      lose();
    });
    return connection;
  }
}

export function leasedLane({ kind, id, epoch, failures, consumer, run }: Claim): LeasedLane {
  const numbers = run.map(({ event }) => numberOfEvent(event));
  return { consumer: nameOf(consumer.id), lane: `${kind} ${id}`, epoch, failures, numbers };
}

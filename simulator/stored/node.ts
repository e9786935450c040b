import { DispatcherRun } from "../../library/src/delivery/dispatcher.js";
import type { Egress } from "../../library/src/delivery/egress/egress.js";
import { createReceiver } from "../../library/src/inbox/receiver.js";
import type { Receiver } from "../../library/src/inbox/receiver.js";
import { createWorker } from "../../library/src/inbox/worker/worker.js";
import type { Worker } from "../../library/src/inbox/worker/worker.js";
import { createSender } from "../../library/src/outbox/sender.js";
import type { Sender } from "../../library/src/outbox/sender.js";
import { standardWebhooks } from "../../library/src/signature/schemes/standard.js";
import type { Database } from "../world/database.js";
import type { Life } from "../world/life.js";
import { LineOutbox } from "../world/line-outbox.js";
import { Machine } from "../world/machine.js";
import type { Process } from "../world/machine.js";
import type { RunLog } from "../world/run-log.js";
import type { Scheduler } from "../world/scheduler.js";
import { numberOf, textOf } from "../world/wire-event.js";
import { consumerOf } from "./handlers.js";
import { LineKeeper } from "./line-keeper.js";
import { LineWorker } from "./line-worker.js";
import type { Outside } from "./outside.js";
import type { StoredScript, StreamedEvent, WorkerNodePlan } from "./script.js";
import type { StoredStore } from "./stored-store.js";

/** All that the nodes of a run share. */
export interface StoredNodeParts {
  readonly script: StoredScript;
  readonly scheduler: Scheduler;
  readonly log: RunLog;
  readonly database: Database;
  readonly store: StoredStore;
  readonly events: ReadonlyMap<number, StreamedEvent>;
  readonly begun: Map<string, number>;
  readonly outside: Outside;
  readonly numbers: Map<string, number>;
}

/** What runs in one life of a node. */
export interface Working extends Process {
  readonly lineWorker: LineWorker;
  readonly keeper: LineKeeper;
  readonly outbox: LineOutbox;
  readonly receiver: Receiver;
  readonly worker: Worker;
  readonly dispatcher: DispatcherRun | undefined;
}

export const SOURCE = "shop";
export const SECRET = "whsec_c2ltdWxhdGVkLXNlY3JldC1vZi0zMi1ieXRlcy4u";
export const HANDLER_DEADLINE_MS = 400;
const ACQUIRE_MS = 100;
const STOP_GRACE_MS = 500;
const START_AGAIN_MS = 150;
const RESTART_MS = 50;
const HOP_MS = 4;

/** A machine on which a receiver that stores first and a worker run in one process, and sometimes a dispatcher. */
export class StoredNode {
  readonly index: number;
  readonly machine: Machine<Working>;
  readonly #plan: WorkerNodePlan;
  readonly #parts: StoredNodeParts;

  constructor(index: number, plan: WorkerNodePlan, parts: StoredNodeParts) {
    const { script, scheduler, log, database } = parts;
    this.index = index;
    this.#plan = plan;
    this.#parts = parts;
    this.machine = new Machine(index, plan, { seed: script.seed, scheduler, log, database });
  }

  /** Undefined while no process runs. */
  get running(): Working | undefined {
    return this.machine.running;
  }

  start(): void {
    const running = this.machine.start((process) => this.#begin(process));
    if (running === undefined) return;
    void started(running.worker, running.life);
    void running.dispatcher?.untilStopped();
  }

  /** As a deploy does: what is under way is finished, then the process ends. Resolves if it came so far. */
  async stopGently(): Promise<void> {
    const { running } = this;
    this.#parts.scheduler.woke();
    running?.dispatcher?.stop();
    await Promise.all([running?.receiver.stop(), running?.worker.stop()]);
    if (this.running === running) this.machine.crash();
  }

  heal(): void {
    this.machine.heal();
    this.start();
  }

  #begin(process: Process): Working {
    const { script, scheduler, store, numbers, events, begun, outside, log, database } = this.#parts;
    const { life, line, who } = process;
    const { leaseMs, pollMs, slots } = script;
    const lineWorker = new LineWorker({ line, who, scheduler, store });
    const outbox = new LineOutbox(line, who);
    const sender: Sender<unknown, "asynchronous"> = createSender({ store: outbox, clock: life });
    const wake = script.hints ? lineWorker.wake : undefined;
    const keeper = new LineKeeper({ line, store: store.working, wake, numbers });
    const handling = { store, database: database.index, life, who, log, events, begun, outside };
    const handler = { ...handling, die: () => this.#die(), version: this.#plan.version };
    const common = { clock: life, observer: () => undefined };
    const worker = createWorker<unknown, "asynchronous">({
      ...common,
      store: lineWorker,
      publisher: sender,
      consumers: Object.fromEntries(
        script.consumers.map((plan, nth) => [
          plan.name,
          consumerOf({ ...handler, publishes: script.delivers && nth === 0 }, plan),
        ]),
      ),
      slots,
      leaseMs,
      pollMs,
      handlerDeadlineMs: HANDLER_DEADLINE_MS,
      acquireMs: ACQUIRE_MS,
      stopGraceMs: STOP_GRACE_MS,
    });
    const dispatcher = script.delivers ? this.#dispatcher(process, outbox) : undefined;
    const receiver = createReceiver({
      ...common,
      mode: "store_first",
      store: keeper,
      sources: { [SOURCE]: this.#source(life) },
    });
    return { ...process, lineWorker, keeper, outbox, receiver, worker, dispatcher };
  }

  #source(life: Life) {
    const { hold } = this.#parts.script;
    const verifier = standardWebhooks({ secrets: SECRET, clock: life });
    const order = hold && { policy: "hold" as const, sequence: { json: "/n" }, ...hold };
    return { verifier, key: { json: "/key" }, ...(order !== undefined && { order }) };
  }

  #dispatcher({ life }: Process, outbox: LineOutbox): DispatcherRun {
    const { log } = this.#parts;
    const { leaseMs, pollMs, slots } = this.#parts.script;
    const times = { deadlineMs: HANDLER_DEADLINE_MS, marginMs: HANDLER_DEADLINE_MS, leaseMs, pollMs, slots };
    const egress: Egress = {
      post: ({ body }) =>
        life.ask((resolve) => {
          log.add({ kind: "posted", number: numberOf(textOf(body)) });
          const outcome = { kind: "acknowledged", status: 200 } as const;
          life.after(HOP_MS, () => resolve({ outcome, answer: undefined, durationMs: HOP_MS }));
        }),
      close: () => Promise.resolve(),
    };
    const random = (): number => life.random.next();
    return new DispatcherRun(outbox, egress, { ...times, clock: life, observer: undefined, random });
  }

  #die(): void {
    this.machine.crash();
    this.#parts.scheduler.after(RESTART_MS, () => this.start());
  }
}

/** A worker whose registration fails is started again, as its supervisor would. */
async function started(worker: Worker, life: Life): Promise<void> {
  for (;;) {
    try {
      return await worker.start();
    } catch {
      await life.sleep(START_AGAIN_MS);
    }
  }
}

import { DispatcherRun } from "../../library/src/delivery/dispatcher.js";
import { createReceiver } from "../../library/src/inbox/receiver.js";
import type { Receiver } from "../../library/src/inbox/receiver.js";
import { createOperator } from "../../library/src/operator/operator.js";
import type { Operator } from "../../library/src/operator/verbs.js";
import { createSender } from "../../library/src/outbox/sender.js";
import type { Sender } from "../../library/src/outbox/sender.js";
import { standardWebhooks } from "../../library/src/signature/schemes/standard.js";
import type { Database } from "./database.js";
import { Fuse } from "./fuse.js";
import { handlerOf } from "./handler.js";
import type { Life } from "./life.js";
import { LineInbox } from "./line-inbox.js";
import { LineOutbox } from "./line-outbox.js";
import type { Line } from "./line.js";
import { Machine } from "./machine.js";
import type { Process } from "./machine.js";
import type { Network } from "./network.js";
import type { RunLog } from "./run-log.js";
import type { Scheduler } from "./scheduler.js";
import type { NodePlan, Script, StoreFault, WireFault } from "../script/script.js";

/** All that the nodes of a run share. */
export interface NodeParts {
  readonly script: Script;
  readonly scheduler: Scheduler;
  readonly log: RunLog;
  readonly network: Network;
  readonly begun: Map<string, number>;
  readonly secret: string;
  /** The sources that nodes of this database receive. */
  readonly sources: readonly string[];
  /** Whether they have anything to deliver. */
  readonly delivers: boolean;
  /** Whether anything is sent to them. */
  readonly receives: boolean;
}

/** For a whole attempt. */
export const DEADLINE_MS = 300;
export const MARGIN_MS = 150;
const HANDLER_DEADLINE_MS = 250;
const ACQUIRE_MS = 100;
const PURGE_MS = 3000;

/** What runs in one life of a node. */
export interface Running {
  readonly life: Life;
  readonly line: Line;
  readonly sender: Sender<unknown, "asynchronous">;
  readonly operator: Operator;
  readonly dispatcher: DispatcherRun | undefined;
  readonly receiver: Receiver | undefined;
  /** Resolves when the dispatcher has come to its end. */
  ended: Promise<void>;
}

/** A machine with one process on it, which is started again after each end. */
export class SimulatedNode {
  readonly index: number;
  readonly plan: NodePlan;
  readonly database: Database;
  readonly #parts: NodeParts;
  readonly #machine: Machine<Running>;
  readonly #wireFaults: WireFault[] = [];

  constructor(index: number, plan: NodePlan, { database, parts }: { database: Database; parts: NodeParts }) {
    this.index = index;
    this.plan = plan;
    this.database = database;
    this.#parts = parts;
    const { script, scheduler, log } = parts;
    this.#machine = new Machine(index, plan, { seed: script.seed, scheduler, log, database });
  }

  /** Undefined while no process runs. */
  get running(): Running | undefined {
    return this.#machine.running;
  }

  start(): void {
    const running = this.#machine.start((process) => this.#begin(process));
    if (running === undefined) return;
    if (running.dispatcher !== undefined) running.ended = running.dispatcher.untilStopped();
    void running.receiver?.keepPurged({ everyMs: PURGE_MS, signal: new Fuse().signal });
  }

  /** Ends the process at once. */
  crash(): void {
    this.#machine.crash();
  }

  /** As a deploy does: what is under way is finished, then the process ends. Resolves if it came so far. */
  async stopGently(): Promise<void> {
    const { running } = this;
    this.#parts.scheduler.woke();
    running?.dispatcher?.stop();
    await running?.ended;
    if (this.running === running) this.crash();
  }

  armStore(call: string, how: StoreFault): void {
    this.#machine.armStore(call, how);
  }

  armWire(how: WireFault): void {
    this.#wireFaults.push(how);
  }

  turnClock(byMs: number): void {
    this.#machine.turnClock(byMs);
  }

  /** Nothing is wrong with it any more. */
  heal(): void {
    this.#wireFaults.length = 0;
    this.#machine.heal();
    this.running?.life.goOn();
    this.start();
  }

  #begin({ life, line, who }: Process): Running {
    const { script, network, delivers, receives } = this.#parts;
    const outbox = new LineOutbox(line, who);
    const sender = createSender({ store: this.#publishersOutbox(outbox, { line, who }), clock: life });
    const egress = network.egressOf({ who, life, faultOf: () => this.#wireFaults.shift() });
    const { leaseMs, pollMs, slots } = script;
    const settings = {
      deadlineMs: DEADLINE_MS,
      marginMs: MARGIN_MS,
      leaseMs,
      pollMs,
      slots,
      clock: life,
      observer: undefined,
      random: () => life.random.next(),
    };
    return {
      life,
      line,
      sender,
      operator: createOperator({ store: outbox }),
      dispatcher: delivers ? new DispatcherRun(outbox, egress, settings) : undefined,
      receiver: receives ? this.#receiver(life, line, sender) : undefined,
      ended: Promise.resolve(),
    };
  }

  /** Publisher and dispatcher of one process may know of each other, or not. */
  #publishersOutbox(dispatchers: LineOutbox, { line, who }: Pick<Process, "line" | "who">): LineOutbox {
    const { hints } = this.#parts.script;
    if (hints === "all") return dispatchers;
    const own = new LineOutbox(line, who);
    if (hints === "committed") {
      own.wake.listen((hint) => {
        if (hint === "committed") dispatchers.wake.ring(hint);
      });
    }
    return own;
  }

  #receiver(life: Life, line: Line, publisher: Sender<unknown, "asynchronous">): Receiver {
    const { begun, scheduler, secret, sources } = this.#parts;
    const verifier = standardWebhooks({ secrets: secret, clock: life });
    return createReceiver({
      store: new LineInbox(line, scheduler),
      sources: Object.fromEntries(sources.map((source) => [source, verifier])),
      handlers: { "*": handlerOf({ store: this.database.store, life, begun }) },
      publisher,
      handlerDeadlineMs: HANDLER_DEADLINE_MS,
      acquireMs: ACQUIRE_MS,
      clock: life,
      // Without one, a receiver tells of each failure on stderr; here they are made on purpose.
      observer: () => undefined,
    });
  }
}

import { DispatcherRun } from "../../library/src/delivery/dispatcher.js";
import { createReceiver } from "../../library/src/inbox/receiver.js";
import type { Receiver } from "../../library/src/inbox/receiver.js";
import { createOperator } from "../../library/src/operator/operator.js";
import type { Operator } from "../../library/src/operator/operator.js";
import { createSender } from "../../library/src/outbox/sender.js";
import type { Sender } from "../../library/src/outbox/sender.js";
import { standardWebhooks } from "../../library/src/signature/schemes/standard.js";
import type { Database } from "./database.js";
import { Fuse } from "./fuse.js";
import { handlerOf } from "./handler.js";
import { Life } from "./life.js";
import type { ClockError } from "./life.js";
import { LineInbox } from "./line-inbox.js";
import { LineOutbox } from "./line-outbox.js";
import { Line } from "./line.js";
import type { Network } from "./network.js";
import { streamOf } from "./random.js";
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
  readonly #clock: ClockError;
  readonly #storeFaults: { readonly call: string; readonly how: StoreFault }[] = [];
  readonly #wireFaults: WireFault[] = [];
  #lives = 0;
  #running: Running | undefined;

  constructor(index: number, plan: NodePlan, { database, parts }: { database: Database; parts: NodeParts }) {
    this.index = index;
    this.plan = plan;
    this.database = database;
    this.#parts = parts;
    this.#clock = { skewMs: plan.skewMs, rate: plan.rate };
  }

  /** Undefined while no process runs. */
  get running(): Running | undefined {
    return this.#running;
  }

  start(): void {
    if (this.#running !== undefined) return;
    const running = this.#begin();
    this.#running = running;
    this.#parts.scheduler.woke();
    if (running.dispatcher !== undefined) running.ended = running.dispatcher.untilStopped();
    void running.receiver?.keepPurged({ everyMs: PURGE_MS, signal: new Fuse().signal });
  }

  /** Ends the process at once. */
  crash(): void {
    this.#running?.life.end();
    this.#running = undefined;
  }

  /** As a deploy does: what is under way is finished, then the process ends. Resolves if it came so far. */
  async stopGently(): Promise<void> {
    const running = this.#running;
    this.#parts.scheduler.woke();
    running?.dispatcher?.stop();
    await running?.ended;
    if (this.#running === running) this.crash();
  }

  armStore(call: string, how: StoreFault): void {
    this.#storeFaults.push({ call, how });
  }

  armWire(how: WireFault): void {
    this.#wireFaults.push(how);
  }

  turnClock(byMs: number): void {
    this.#clock.skewMs += byMs;
  }

  /** Nothing is wrong with it any more. */
  heal(): void {
    this.#storeFaults.length = 0;
    this.#wireFaults.length = 0;
    this.#clock.skewMs = 0;
    this.#running?.life.goOn();
    this.start();
  }

  #begin(): Running {
    const { script, scheduler, log, network, delivers, receives } = this.#parts;
    const life = new Life(scheduler, this.#clock, streamOf(script.seed, this.index * 100 + ++this.#lives));
    const who = { node: this.index, life: this.#lives };
    const faultOf = (call: string): StoreFault | undefined => this.#takeStoreFault(call);
    const line = new Line({ scheduler, log, database: this.database, life, faultOf });
    const outbox = new LineOutbox(line, who);
    const sender = createSender({ store: this.#publishersOutbox(outbox, line), clock: life });
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
  #publishersOutbox(dispatchers: LineOutbox, line: Line): LineOutbox {
    const { hints } = this.#parts.script;
    if (hints === "all") return dispatchers;
    const own = new LineOutbox(line, { node: this.index, life: this.#lives });
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

  #takeStoreFault(call: string): StoreFault | undefined {
    if (this.#storeFaults.length === 0) return undefined;
    const index = this.#storeFaults.findIndex((fault) => fault.call === call || fault.call === "any");
    return index === -1 ? undefined : this.#storeFaults.splice(index, 1)[0]?.how;
  }
}

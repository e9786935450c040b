import { createSender } from "../../library/src/outbox/sender.js";
import { createWorker } from "../../library/src/inbox/worker/worker.js";
import { Database } from "../world/database.js";
import { BEGINNING, Life } from "../world/life.js";
import { streamOf } from "../world/random.js";
import type { Random } from "../world/random.js";
import { RunLog } from "../world/run-log.js";
import { Scheduler } from "../world/scheduler.js";
import { consumerOf } from "./handlers.js";
import { GONE, handlerId, nameOf } from "./names.js";
import { StoredNode } from "./node.js";
import { StoredOperator } from "./operator.js";
import { Outside } from "./outside.js";
import { Provider } from "./provider.js";
import { eventsOf } from "./script.js";
import type { StoredScript, StoredStep, StreamedEvent } from "./script.js";
import type { OpenStoredStore, StoredStore } from "./stored-store.js";

/** Decisions outside of the store that a planted bug may turn wrong. */
export interface StoredDecisions {
  /** Whether the database answers this call before what it tells is on its disk. @default never */
  readonly answersBeforeSync?: (call: string) => boolean;
  /** Whether handlers write outside of their transactions. @default false */
  readonly writesAtOnce?: boolean;
}

export interface StoredWorldOptions {
  readonly openStore: OpenStoredStore;
  readonly decisions?: StoredDecisions;
}

// Several times what the longest run has.
const MOST_HAPPENINGS = 100_000;
const LOOKS_EVERY_MS = 500;
// Every lease, pause, hold and retry of a run fits in many times over.
const PATIENCE_MS = 600_000;
const BATCH = 100;
const GONE_HANDLER = {
  id: handlerId(GONE),
  sources: ["*"],
  types: ["*"],
  order: "key",
  dead: undefined,
} as const;

/** One simulated world of a stream that is stored first, from its beginning to its rest. */
export class StoredWorld {
  readonly script: StoredScript;
  readonly scheduler: Scheduler = new Scheduler(MOST_HAPPENINGS);
  readonly log: RunLog = new RunLog(() => this.scheduler.now);
  readonly database: Database;
  readonly store: StoredStore;
  readonly nodes: readonly StoredNode[];
  readonly provider: Provider;
  /** The other side of long handlers' steps. */
  readonly outside: Outside;
  readonly events: ReadonlyMap<number, StreamedEvent>;
  /** Which event of the provider each id of a stored event stands for. */
  readonly numbers: Map<string, number> = new Map();
  readonly #random: Random;
  readonly #begun = new Map<string, number>();
  #over = false;

  constructor(script: StoredScript, { openStore, decisions = {} }: StoredWorldOptions) {
    const { scheduler, log, numbers } = this;
    const { answersBeforeSync = () => false, writesAtOnce = false } = decisions;
    this.script = script;
    this.events = eventsOf(script);
    const clock = { now: () => this.#nowMs, monotonic: () => scheduler.now };
    const opened = openStore({ clock, batch: BATCH });
    this.store = writesAtOnce ? { ...opened, onCommit: (_tx, effect) => effect() } : opened;
    this.database = new Database(0, this.store, { scheduler, log, answersBeforeSync });
    this.outside = new Outside(scheduler, log);
    const { database, store, events, outside } = this;
    const begun = this.#begun;
    const parts = { script, scheduler, log, database, store, events, begun, outside, numbers };
    this.nodes = script.nodes.map((plan, index) => new StoredNode(index, plan, parts));
    this.#random = streamOf(script.seed, 99_999);
    const nowMs = (): number => this.#nowMs;
    const doorOf = () => this.#door();
    this.provider = new Provider({ scheduler, log, random: this.#random, nowMs, doorOf });
  }

  /** Lets the script happen, and then waits until nothing is left to do. False when that never came. */
  async run(perform: (world: StoredWorld, step: StoredStep) => void): Promise<boolean> {
    await this.#prepare();
    for (const node of this.nodes) this.scheduler.after(10 * node.index, () => node.start());
    for (const step of this.script.steps) this.scheduler.after(step.at, () => perform(this, step));
    this.scheduler.after(this.script.healAt, () => this.#heal());
    await this.scheduler.run(() => this.#over);
    const came = this.scheduler.now < this.#latest;
    for (const { machine } of this.nodes) machine.crash();
    if (this.script.hasGone) await this.#clearUp();
    return came;
  }

  /** The node itself, or another where no process runs on it. */
  runningOf(index: number): StoredNode | undefined {
    const node = this.nodes[index];
    return node?.running === undefined ? this.nodes.find(({ running }) => running !== undefined) : node;
  }

  get #nowMs(): number {
    return Math.floor(BEGINNING + this.scheduler.now);
  }

  get #latest(): number {
    return this.script.healAt + PATIENCE_MS;
  }

  /** The new version of the host has run before, and an endpoint takes what handlers publish, and all else that it is given. */
  async #prepare(): Promise<void> {
    const { script, store, log, scheduler, events, outside } = this;
    const life = new Life(scheduler, { skewMs: 0, rate: 1 }, streamOf(script.seed, 88_888));
    const who = { node: -1, life: 0 };
    const handling = { store, database: 0, life, who, log, events, begun: this.#begun, outside };
    const parts = { ...handling, die: () => undefined, version: 2, publishes: false } as const;
    const consumers = Object.fromEntries(
      script.consumers.map((plan) => [plan.name, consumerOf(parts, plan)]),
    );
    const { leaseMs, slots } = script;
    const times = { leaseMs, handlerDeadlineMs: 1, slots };
    if (script.hasGone) await store.working.register([GONE_HANDLER]);
    await createWorker({ store: store.working, consumers, clock: life, observer: ignored, ...times }).drain();
    if (!script.delivers) return;
    const { endpoints } = createSender({ store: store.outbox });
    const secrets = "whsec_c2ltdWxhdGVkLXNlY3JldC1vZi0zMi1ieXRlcy4u";
    await endpoints.create({ id: "all", url: "https://all.example.com/", secrets, types: ["*"] });
  }

  /** Removes the handler that is gone where nobody has, and looks at what was cancelled. */
  async #clearUp(): Promise<void> {
    const { store, log, numbers } = this;
    const operator = new StoredOperator({ store, database: 0, log, numbers, ask: (_call, doing) => doing() });
    await operator.removeGone(0);
    for (const { endpointId, eventId, because } of store.cancelled())
      log.add({
        kind: "cancelled",
        consumer: nameOf(endpointId),
        number: numbers.get(eventId) ?? -1,
        because,
      });
  }

  #door() {
    const running = this.nodes.flatMap((node) => node.running ?? []);
    return running.length === 0 ? undefined : this.#random.pick(running);
  }

  #heal(): void {
    for (const node of this.nodes) node.heal();
    this.#look();
  }

  /** Looks whether anything is left to do. An operator who watches redrives what is dead. */
  #look(): void {
    const { scheduler } = this;
    const isLate = scheduler.now >= this.#latest;
    const isFinished = scheduler.now > (this.script.steps.at(-1)?.at ?? 0);
    const judge = (rest: boolean): void => void (this.#over = isLate || (rest && isFinished));
    void this.#isAtRest().then(judge);
    scheduler.woke();
    scheduler.after(LOOKS_EVERY_MS, () => this.#look());
  }

  async #isAtRest(): Promise<boolean> {
    const { store, log, numbers, database, script } = this;
    if (!this.provider.isDone || !database.isUp || database.isBehind) return false;
    const ids = script.consumers.map(({ name }) => handlerId(name));
    if ((await store.working.untilDue({ kind: "handler", ids })) !== undefined) return false;
    if ((await store.outbox.untilDue({ kind: "endpoint" })) !== undefined) return false;
    const operator = new StoredOperator({ store, database: 0, log, numbers, ask: (_call, doing) => doing() });
    return (await operator.redriveAll(1)) === 0;
  }
}

function ignored(): void {
  // Failures are made on purpose here.
}

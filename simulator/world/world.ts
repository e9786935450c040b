import type { Outcome } from "../../library/src/delivery/outcome.js";
import { createSender } from "../../library/src/outbox/sender.js";
import type { Reply } from "../../library/src/signature/scheme.js";
import { Database } from "./database.js";
import { BEGINNING, Life } from "./life.js";
import { Network } from "./network.js";
import type { Door, Poster } from "./network.js";
import { SimulatedNode } from "./node.js";
import { PlainReceiver } from "./plain-receiver.js";
import { streamOf } from "./random.js";
import { RunLog } from "./run-log.js";
import type { WireEvent } from "./run-log.js";
import type { Who } from "./who.js";
import { Scheduler } from "./scheduler.js";
import type { Script, Step } from "../script/script.js";
import type { OpenStore } from "./simulated-store.js";

/** Decisions outside of the store that a planted bug may turn wrong. */
export interface Decisions {
  /** What a dispatcher takes an attempt's outcome for. */
  readonly outcomeOf?: (outcome: Outcome) => Outcome;
  /** How much time a request is believed to have that was held up. */
  readonly leftMs?: (leftMs: number) => number;
  /** What a receiver's host answers in place of the reply. */
  readonly replyOf?: (reply: Reply) => Reply;
  /** Whether a database answers this call before what it tells is on its disk. @default never */
  readonly answersBeforeSync?: (call: string) => boolean;
}

export interface WorldOptions {
  readonly openStore: OpenStore;
  readonly decisions?: Decisions;
}

/** The source, and endpoint of the second database, to which handlers pass events on. */
export const PASSED = "passed";

const HOSTS = ["sending.example.com", "receiving.example.com"] as const;
const PLAIN = "plain.example.com";
const SECRET = "whsec_c2ltdWxhdGVkLXNlY3JldC1vZi0zMi1ieXRlcy4u";
// A run of a hundred events has a tenth of this.
const MOST_HAPPENINGS = 50_000;
// Three lapses, and one more alone.
const DEATHS = 4;
const RESTART_MS = 50;
const LOOKS_EVERY_MS = 250;
// Every lease, retry and Retry-After of a run fits in many times over.
const PATIENCE_MS = 120_000;

/** One simulated world, from its beginning to its rest. */
export class World {
  readonly script: Script;
  readonly scheduler: Scheduler = new Scheduler(MOST_HAPPENINGS);
  readonly log: RunLog = new RunLog(() => this.scheduler.now);
  readonly databases: readonly Database[];
  readonly nodes: readonly SimulatedNode[];
  readonly network: Network;
  /** Nodes that are cut off from the network, and how many cuts hold at this moment. */
  readonly cut: Map<number, number> = new Map();
  /** Calls to publish that have not come to their end. */
  readonly publishing: Set<number> = new Set();
  readonly #plain: PlainReceiver;
  #calls = 0;
  #killed = 0;
  #over = false;

  constructor(script: Script, { openStore, decisions = {} }: WorldOptions) {
    const { scheduler, log } = this;
    this.script = script;
    const clock = { now: () => this.nowMs, monotonic: () => scheduler.now };
    const { outcomeOf = same, replyOf = same, leftMs = same } = decisions;
    const { answersBeforeSync = () => false } = decisions;
    this.databases = HOSTS.map(
      (_, index) =>
        new Database(index, openStore({ clock, batch: script.batch }), { scheduler, log, answersBeforeSync }),
    );
    const doorOf = (host: string, from: Poster): Door | undefined => this.#doorOf(host, from);
    const onPost = (seen: WireEvent, who: Who): void => this.#kill(seen, who);
    this.network = new Network({ scheduler, log, doorOf, onPost, outcomeOf, replyOf, leftMs });
    this.nodes = this.#makeNodes();
    this.#plain = new PlainReceiver(
      new Life(scheduler, { skewMs: 0, rate: 1 }, streamOf(script.seed, 99_999)),
    );
  }

  /** Lets the script happen, each step as `perform` does it, and then waits until nothing is left to do. False when that never came. */
  async run(perform: (world: World, step: Step) => void): Promise<boolean> {
    await this.#addEndpoints();
    for (const node of this.nodes) this.scheduler.after(10 * node.index, () => node.start());
    for (const step of this.script.steps) this.scheduler.after(step.at, () => perform(this, step));
    this.scheduler.after(this.script.healAt, () => this.#heal());
    await this.scheduler.run(() => this.#over);
    const came = this.scheduler.now < this.#latest;
    for (const node of this.nodes) node.crash();
    return came;
  }

  /** By a clock that is right. */
  get nowMs(): number {
    return Math.floor(BEGINNING + this.scheduler.now);
  }

  nextCall(): number {
    return ++this.#calls;
  }

  /** The node itself, or another of its database where no process runs on it. */
  runningOf(index: number): SimulatedNode | undefined {
    const node = this.nodes[index];
    if (node?.running !== undefined) return node;
    return this.nodes.find(({ database, running }) => database === node?.database && running !== undefined);
  }

  get #latest(): number {
    return this.script.healAt + PATIENCE_MS;
  }

  #makeNodes(): readonly SimulatedNode[] {
    const { script, scheduler, log, network, databases } = this;
    const begun = new Map<string, number>();
    const passesOn = script.steps.some(
      (step) => step.kind === "publish" && step.events.some(({ handler }) => handler === "passes_on"),
    );
    const sources = [[PASSED], script.endpoints.map(({ name }) => name)];
    return script.nodes.map((plan, index) => {
      const database = databases[plan.database] as Database;
      const delivers = plan.database === 0 || passesOn;
      const receives = plan.database === 1 || passesOn;
      const own = { sources: sources[plan.database] ?? [], delivers, receives };
      const parts = { script, scheduler, log, network, begun, secret: SECRET, ...own };
      return new SimulatedNode(index, plan, { database, parts });
    });
  }

  async #addEndpoints(): Promise<void> {
    const [sending, receiving] = this.databases as [Database, Database];
    const [here, there] = [sending, receiving].map(
      ({ store }) => createSender({ store: store.outbox }).endpoints,
    );
    for (const { name, plain, types, order, dead, waitsMs, maxInFlight } of this.script.endpoints) {
      const url = `https://${plain ? PLAIN : HOSTS[1]}/${name}`;
      const plan = { id: name, url, secrets: SECRET, types, order, retry: { waitsMs }, maxInFlight };
      await here?.create({ ...plan, ...(dead !== undefined && { dead }) });
    }
    await there?.create({
      id: PASSED,
      url: `https://${HOSTS[0]}/${PASSED}`,
      secrets: SECRET,
      retry: { waitsMs: [100, 300] },
    });
  }

  #doorOf(host: string, { who, life }: Poster): Door | undefined {
    if (host === PLAIN) return this.cut.has(who.node) ? undefined : this.#plain;
    const database = HOSTS.indexOf(host as (typeof HOSTS)[number]);
    const reachable = this.nodes.filter(({ index, plan, running }) => {
      const isThere = plan.database === database && running !== undefined;
      return isThere && !this.cut.has(index) && !this.cut.has(who.node);
    });
    const { running } = reachable.length > 0 ? life.random.pick(reachable) : {};
    const { receiver } = running ?? {};
    if (running === undefined || receiver === undefined) return undefined;
    return { life: running.life, receive: (source, request) => receiver.receive(source, request) };
  }

  /** Some events kill the process that sends them, the first times. */
  #kill({ body }: WireEvent, { node: index }: Who): void {
    if (!body.includes('"kills"') || this.#killed >= DEATHS) return;
    this.#killed += 1;
    this.log.fault("kill");
    const node = this.nodes[index];
    node?.crash();
    this.scheduler.after(RESTART_MS, () => node?.start());
  }

  #heal(): void {
    for (const node of this.nodes) node.heal();
    this.cut.clear();
    this.#look();
  }

  /** Looks whether anything is left to do. An operator who watches lets stopped endpoints go on. */
  #look(): void {
    const isLate = this.scheduler.now >= this.#latest;
    const isFinished = this.scheduler.now > this.#lastStepAt;
    const judge = (rest: boolean): void => void (this.#over = isLate || (rest && isFinished));
    void this.#isAtRest().then(judge);
    this.scheduler.woke();
    this.scheduler.after(LOOKS_EVERY_MS, () => this.#look());
  }

  get #lastStepAt(): number {
    return this.script.steps.at(-1)?.at ?? 0;
  }

  async #isAtRest(): Promise<boolean> {
    let rest = this.network.underWay === 0 && this.publishing.size === 0;
    if (!rest) return false;
    for (const { store, index: database, isUp, isBehind } of this.databases) {
      const { outbox } = store;
      for (const { id, state } of await outbox.listEndpoints({ limit: 100 })) {
        if (state === "active") continue;
        rest = false;
        await outbox.changeEndpoint(id, { state: "active", because: undefined });
        this.log.add({ kind: "endpoint", database, id, state: "active" });
      }
      const isDone = store.unplaced() === 0 && (await outbox.untilDue({ kind: "endpoint" })) === undefined;
      rest &&= isUp && !isBehind && isDone;
    }
    return rest;
  }
}

function same<T>(value: T): T {
  return value;
}

import { setTimeout as sleep } from "node:timers/promises";
import { createChecker, createHistory } from "posthorn/testing";
import type { CheckerOptions, History, HistoryChecker, HistoryRecord, HistoryReport } from "posthorn/testing";
import { EndpointServer } from "../crash/endpoint-server.js";
import { createEndpoints } from "../crash/endpoints.js";
import type { Retrying } from "../crash/endpoints.js";
import type { Host, HostEnd, HostOptions } from "../crash/host.js";
import type { OutboxDatabase } from "../crash/outbox-database.js";
import { writeOutbox } from "../crash/outbox-database.js";
import { Supervisor } from "../crash/supervisor.js";
import type { Landing } from "./landing.js";

export interface FlowOptions {
  readonly database: OutboxDatabase;
  /** How many whole hosts work on the database. */
  readonly hosts: number;
  /** In place of the database's own options: through a proxy, say. */
  readonly host?: Partial<HostOptions>;
  /** Where deliveries land; without one, the endpoints answer by themselves. */
  readonly landing?: Landing;
  readonly retry?: Retrying;
  /** What is judged. @default everything */
  readonly invariants?: CheckerOptions["invariants"];
  /** Hears every record. */
  readonly onRecord?: (record: HistoryRecord) => void;
}

const RETRY: Retrying = { waitMs: 100, attempts: 99 };
/** As short as a dispatcher takes it: five seconds more than an attempt may last. */
export const LEASE_MS = 7100;
const TIMES = { deadlineMs: 2000, leaseMs: LEASE_MS };
const MOST_ROUNDS = 6;

/**
 * Whole hosts that receive, publish and deliver, a receiver in which their events land, and a checker that hears of
 * everything from observers that are never hurt.
 */
export class Flow {
  readonly history: History;
  readonly server: EndpointServer;
  readonly database: OutboxDatabase;
  readonly hosts: readonly Supervisor[];
  readonly landing: Landing | undefined;
  /** How hosts ended so far; landings are not hosts. */
  readonly ends: HostEnd[] = [];
  /** Asked to publish: the hosts, one after the other. */
  readonly publisher: { host(): Promise<Host> };
  /** What died because processes did, and was redriven. */
  redriven = 0;
  readonly #checker: HistoryChecker;
  readonly #frozen = new Set<Supervisor>();
  #turn = 0;
  #closed = false;

  private constructor(
    options: FlowOptions,
    parts: Pick<Flow, "history" | "server">,
    checker: HistoryChecker,
  ) {
    this.history = parts.history;
    this.server = parts.server;
    this.#checker = checker;
    this.database = options.database;
    this.landing = options.landing;
    this.hosts = Array.from({ length: options.hosts }, () => this.#supervise(options));
    this.publisher = { host: () => this.#next() };
  }

  static async open(options: FlowOptions): Promise<Flow> {
    const { onRecord, invariants } = options;
    const checker = createChecker(invariants ? { invariants } : {});
    const history = createHistory({
      write: (record) => {
        checker.observe(record);
        onRecord?.(record);
      },
    });
    const server = await EndpointServer.open(history);
    const { landing, database, retry = RETRY } = options;
    if (landing !== undefined) server.answer = (receipt, passing) => landing.pass(history, receipt, passing);
    const flow = new Flow(options, { history, server }, checker);
    await createEndpoints({ outbox: database.outbox, server, history }, retry);
    return flow;
  }

  /** Starts everything; a host that ends is started again. */
  async start(): Promise<void> {
    for (const supervisor of [...this.hosts, ...(this.landing ? [this.landing.supervisor] : [])]) {
      await supervisor.host();
      supervisor.onEnd(() => void supervisor.host());
    }
  }

  /** Lets a host stand still, or go on. Nobody asks it to publish meanwhile. */
  async freeze(index: number, frozen: boolean): Promise<void> {
    const supervisor = this.hosts[index];
    if (supervisor === undefined) return;
    if (frozen) this.#frozen.add(supervisor);
    else this.#frozen.delete(supervisor);
    (await supervisor.host()).freeze(frozen);
  }

  /** Notes what is done to the system. */
  fault(what: string): void {
    this.history.writer("tester").see("fault", { what });
  }

  /**
   * Waits until nothing is left to deliver; throws where nothing moves for so long. What died because its worker did is
   * redriven, as an operator would.
   */
  async settle(patienceMs: number): Promise<void> {
    for (let round = 1; round <= MOST_ROUNDS; round++) {
      await this.#drained(patienceMs);
      const redriven = await this.#redriveAll();
      if (redriven === 0) return;
      this.redriven += redriven;
    }
    throw new Error(`events still die after ${MOST_ROUNDS} rounds of redriving`);
  }

  /** Ends every process, reads what is left, and says what the run came to. */
  async end(): Promise<HistoryReport> {
    await this.stop();
    const reader = this.history.writer("reader");
    writeOutbox(await this.database.read(), reader);
    this.landing?.readEnd(reader);
    return this.#checker.end();
  }

  async stop(): Promise<void> {
    await Promise.all(this.hosts.map((supervisor) => supervisor.stop()));
    await this.landing?.supervisor.stop();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.stop();
    await this.server.close();
  }

  async #drained(patienceMs: number): Promise<void> {
    let least = Infinity;
    let movedAt = performance.now();
    for (;;) {
      // A reader whose session was ended with the others asks again.
      const pending = (await this.database.pending().catch(() => undefined)) ?? Infinity;
      if (pending === 0) return;
      // However long it takes: how much is left depends on how fast the machine publishes, and how fast it delivers.
      if (pending < least) [least, movedAt] = [pending, performance.now()];
      if (performance.now() - movedAt > patienceMs)
        throw new Error(`${least} deliveries wait, and none has ended for ${patienceMs} ms`);
      await sleep(50);
    }
  }

  async #redriveAll(): Promise<number> {
    const { outbox } = this.database;
    let redriven = 0;
    for (;;) {
      const { items } = await outbox.deadLetters({ limit: 100 });
      for (const { id, endpointId, key } of items) {
        const call = this.history
          .writer(`operator-${id}`)
          .invoke("operate", { verb: "redrive", endpoint: endpointId, key });
        call.ok({ answer: await outbox.redrive(id) });
        redriven++;
      }
      if (items.length === 0) return redriven;
    }
  }

  async #next(): Promise<Host> {
    // Publishers that were left behind by a failure must not start hosts anew.
    if (this.#closed) throw new Error("the flow is over");
    const awake = this.hosts.filter((supervisor) => !this.#frozen.has(supervisor));
    const supervisor = awake[this.#turn++ % awake.length];
    if (supervisor === undefined) throw new Error("a flow without a host");
    return supervisor.host();
  }

  #supervise({ database, host = {} }: FlowOptions): Supervisor {
    const supervisor = new Supervisor({ ...database.options, program: "whole", ...TIMES, ...host });
    supervisor.onEnd((end, incarnation) => {
      this.ends.push(end);
      const what = end.point === undefined ? "kill at any moment" : `kill at ${end.point}`;
      this.history.writer(`supervisor-${this.ends.length}`, incarnation).see("fault", { what });
    });
    return supervisor;
  }
}

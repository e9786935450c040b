import { setTimeout as sleep } from "node:timers/promises";
import type { Chance } from "../../chance.js";
import type { HostEnd, HostOptions } from "../host.js";
import type { StoredDatabase } from "./database.js";
import { StoredDeeds } from "./deeds.js";
import { StoredSender } from "./sender.js";
import type { KeyStream } from "./stream.js";
import { judgeStored } from "./verdict.js";
import type { StoredVerdict } from "./verdict.js";
import { Supervisor } from "../supervisor.js";

export interface StoredRunOptions {
  readonly database: StoredDatabase;
  readonly stream: readonly KeyStream[];
  readonly scope: string;
  readonly chance: Chance;
  readonly workers: number;
  readonly worker?: Pick<HostOptions, "failsOneIn" | "slowJobEvery" | "waits">;
  readonly senders?: number;
}

const SENDERS = 32;
/** Of host/worker-process.mjs: so many handlers are cut off by one kill at most. */
const SLOTS = 4;

/** A provider that is not killed, and a receiver, workers and an operator that are: each is started again whenever it has ended. */
export class StoredRun {
  readonly keeper: Supervisor;
  readonly workers: readonly Supervisor[];
  readonly operator: Supervisor;
  readonly sender: StoredSender;
  readonly deeds: StoredDeeds;
  /** How the processes ended so far. */
  readonly ends: HostEnd[] = [];
  readonly #options: StoredRunOptions;

  constructor(options: StoredRunOptions) {
    const { scope, chance, workers, worker = {}, senders = SENDERS } = options;
    this.#options = options;
    this.keeper = this.#supervise({ program: "keeper" });
    this.operator = this.#supervise({ program: "operator" });
    this.workers = Array.from({ length: workers }, () => this.#supervise({ program: "worker", ...worker }));
    this.sender = new StoredSender(this.keeper, { scope, chance, senders });
    this.deeds = new StoredDeeds({ ...options, operator: this.operator, sender: this.sender });
  }

  /** Starts everybody. The workers first: an event is stored for the handlers that are registered. */
  async start(): Promise<void> {
    await this.startWorkers();
    await this.startKeeper();
  }

  async startWorkers(): Promise<void> {
    for (const worker of this.workers) await kept(worker);
  }

  startKeeper(): Promise<void> {
    return kept(this.keeper);
  }

  /** Sends the whole stream, or a part of it. */
  send(stream: readonly KeyStream[] = this.#options.stream): Promise<void> {
    return this.sender.send(stream);
  }

  /** Waits until nothing waits for a worker any more, except for so many that nobody takes. Throws when that takes too long: what stays is lost. */
  async drained(patienceMs: number, untaken = 0): Promise<void> {
    const endsAt = performance.now() + patienceMs;
    for (;;) {
      const pending = await this.#options.database.pending();
      if (pending <= untaken) return;
      if (performance.now() > endsAt)
        throw new Error(`${pending} events of ${this.#options.scope} still wait after ${patienceMs} ms`);
      await sleep(100);
    }
  }

  /** The same, after the handlers were mended, and with all that is dead redriven. */
  async mended(patienceMs: number): Promise<void> {
    await this.#options.database.mend();
    do await this.drained(patienceMs);
    while ((await this.deeds.redrive()) > 0);
  }

  /** Ends every process, and says what the run came to. */
  async end(): Promise<StoredVerdict> {
    await this.stop();
    const { stream, database } = this.#options;
    const cutOff = this.ends.length * SLOTS;
    return judgeStored({ stream, rounds: this.deeds.rounds, cutOff }, database);
  }

  async stop(): Promise<void> {
    const all = [this.keeper, this.operator, ...this.workers];
    await Promise.all(all.map((supervisor) => supervisor.stop()));
  }

  #supervise(options: Partial<HostOptions>): Supervisor {
    const supervisor = new Supervisor({ ...this.#options.database.options, ...options });
    supervisor.onEnd((end) => this.ends.push(end));
    return supervisor;
  }
}

/** Starts a host, and from then on again whenever it has ended. */
async function kept(supervisor: Supervisor): Promise<void> {
  await supervisor.host();
  supervisor.onEnd(() => void supervisor.host());
}

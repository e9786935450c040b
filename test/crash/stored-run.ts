import { setTimeout as sleep } from "node:timers/promises";
import type { Chance } from "../chance.js";
import type { HostEnd, HostOptions } from "./host.js";
import type { StoredDatabase } from "./stored-database.js";
import { StoredSender } from "./stored-sender.js";
import type { KeyStream } from "./stored-stream.js";
import { judgeStored } from "./stored-verdict.js";
import type { StoredVerdict } from "./stored-verdict.js";
import { Supervisor } from "./supervisor.js";

export interface StoredRunOptions {
  readonly database: StoredDatabase;
  readonly stream: readonly KeyStream[];
  readonly scope: string;
  readonly chance: Chance;
  readonly workers: number;
  readonly worker?: Pick<HostOptions, "failsOneIn" | "plant">;
  readonly senders?: number;
}

const SENDERS = 32;

/** A provider that is not killed, and a receiver and workers that are: each is started again whenever it has ended. */
export class StoredRun {
  readonly keeper: Supervisor;
  readonly workers: readonly Supervisor[];
  readonly sender: StoredSender;
  /** How the processes ended so far. */
  readonly ends: HostEnd[] = [];
  readonly #options: StoredRunOptions;

  constructor(options: StoredRunOptions) {
    const { scope, chance, workers, worker = {}, senders = SENDERS } = options;
    this.#options = options;
    this.keeper = this.#supervise({ program: "keeper" });
    this.workers = Array.from({ length: workers }, () => this.#supervise({ program: "worker", ...worker }));
    this.sender = new StoredSender(this.keeper, { scope, chance, senders });
  }

  /** Starts everybody. The workers first: an event is stored for the handlers that are registered. */
  async start(): Promise<void> {
    for (const supervisor of [...this.workers, this.keeper]) {
      await supervisor.host();
      supervisor.onEnd(() => void supervisor.host());
    }
  }

  /** Sends the whole stream. */
  send(): Promise<void> {
    return this.sender.send(this.#options.stream);
  }

  /** Waits until nothing waits for a worker any more. Throws when that takes too long: what stays is lost. */
  async drained(patienceMs: number): Promise<void> {
    const endsAt = performance.now() + patienceMs;
    for (;;) {
      const pending = await this.#options.database.pending();
      if (pending === 0) return;
      if (performance.now() > endsAt)
        throw new Error(`${pending} events of ${this.#options.scope} still wait after ${patienceMs} ms`);
      await sleep(100);
    }
  }

  /** Ends every process, and says what the run came to. */
  async end(): Promise<StoredVerdict> {
    await this.stop();
    return judgeStored(this.#options.stream, this.#options.database);
  }

  async stop(): Promise<void> {
    await Promise.all([this.keeper, ...this.workers].map((supervisor) => supervisor.stop()));
  }

  #supervise(options: Partial<HostOptions>): Supervisor {
    const supervisor = new Supervisor({ ...this.#options.database.options, ...options });
    supervisor.onEnd((end) => this.ends.push(end));
    return supervisor;
  }
}

import { randomBytes } from "node:crypto";
import { createWriteStream, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createChecker, createHistory } from "posthorn/testing";
import type { History, HistoryChecker, HistoryReport } from "posthorn/testing";
import { EndpointServer } from "./endpoint-server.js";
import { createEndpoints } from "./endpoints.js";
import type { HostEnd, HostOptions, KillAt } from "./host.js";
import type { OutboxDatabase } from "./outbox-database.js";
import { writeOutbox } from "./outbox-database.js";
import { Supervisor } from "./supervisor.js";

export interface OutboxRunOptions {
  readonly database: OutboxDatabase;
  readonly scope: string;
  readonly workers?: number;
  readonly worker?: Pick<HostOptions, "deadlineMs" | "leaseMs" | "poison">;
  /** A bug of the publisher's or the workers', to be caught. */
  readonly plant?: string;
}

const WAIT_MS = 20;
const MAX_ATTEMPTS = 60;
const PATIENCE_MS = 60_000;

/** Publishers and workers that are killed, endpoints that are not, and a checker that sees it all. */
export class OutboxRun {
  readonly history: History;
  readonly server: EndpointServer;
  readonly database: OutboxDatabase;
  readonly scope: string;
  readonly publisher: Supervisor;
  readonly workers: readonly Supervisor[];
  /** How the hosts ended so far. */
  readonly ends: HostEnd[] = [];
  readonly #checker: HistoryChecker;

  private constructor(
    options: OutboxRunOptions,
    parts: Pick<OutboxRun, "history" | "server"> & { checker: HistoryChecker },
  ) {
    const { database, scope, workers = 1, worker = {}, plant } = options;
    this.history = parts.history;
    this.server = parts.server;
    this.#checker = parts.checker;
    this.database = database;
    this.scope = scope;
    const planted = plant === undefined ? {} : { plant };
    this.publisher = this.#supervise({ program: "publisher", ...planted });
    this.workers = Array.from({ length: workers }, () =>
      this.#supervise({ program: "dispatcher", ...planted, ...worker }),
    );
  }

  /** Makes the endpoints; nobody works yet. */
  static async open(options: OutboxRunOptions): Promise<OutboxRun> {
    const checker = createChecker();
    const keep = keeper(options);
    const history = createHistory({
      write: (record) => {
        checker.observe(record);
        keep?.(`${JSON.stringify(record)}\n`);
      },
    });
    const { database } = options;
    const server = await EndpointServer.open(history);
    const run = new OutboxRun(options, { history, server, checker });
    await createEndpoints(
      { outbox: database.outbox, server, history },
      { waitMs: WAIT_MS, attempts: MAX_ATTEMPTS },
    );
    return run;
  }

  /** Starts a worker and keeps it running: whenever it has ended, the next one starts. */
  async work(index = 0): Promise<void> {
    const worker = this.workers[index];
    await worker?.host();
    worker?.onEnd(() => void worker.host());
  }

  async arm(supervisor: Supervisor, at: KillAt): Promise<void> {
    await (await supervisor.host()).arm(at);
  }

  /** Notes what is done to the system. */
  fault(what: string): void {
    this.history.writer("tester").see("fault", { what });
  }

  /** Waits until nothing waits for a worker any more. Throws when that takes too long: what stays is lost. */
  async drained(patienceMs: number = PATIENCE_MS): Promise<void> {
    const endsAt = performance.now() + patienceMs;
    for (;;) {
      const pending = await this.database.pending();
      if (pending === 0) return;
      if (performance.now() > endsAt)
        throw new Error(`${pending} deliveries of ${this.scope} still wait after ${patienceMs} ms`);
      await sleep(30);
    }
  }

  /** Reads what is left, and says what the run came to. */
  async end(): Promise<HistoryReport> {
    await this.stop();
    writeOutbox(await this.database.read(), this.history.writer("reader"));
    return this.#checker.end();
  }

  /** Ends every process, whatever happened. */
  async stop(): Promise<void> {
    await Promise.all([this.publisher, ...this.workers].map((supervisor) => supervisor.stop()));
  }

  async close(): Promise<void> {
    await this.stop();
    await this.server.close();
  }

  #supervise(options: Partial<HostOptions>): Supervisor {
    const supervisor = new Supervisor({ ...this.database.options, ...options });
    supervisor.onEnd((end, incarnation) => {
      this.ends.push(end);
      const how = end.signal === "SIGKILL" ? "kill" : "end";
      const what = end.point === undefined ? `${how} of a ${options.program}` : `kill at ${end.point}`;
      this.history.writer(`supervisor-${randomBytes(3).toString("hex")}`, incarnation).see("fault", { what });
    });
    return supervisor;
  }
}

/** With POSTHORN_HISTORIES set to a folder, every history is kept there, a line for each record. */
function keeper({ database, scope }: OutboxRunOptions): ((line: string) => void) | undefined {
  const folder = process.env["POSTHORN_HISTORIES"];
  if (folder === undefined) return undefined;
  mkdirSync(folder, { recursive: true });
  const file = createWriteStream(join(folder, `outbox-${database.name}-${scope}.jsonl`));
  return (line) => void file.write(line);
}

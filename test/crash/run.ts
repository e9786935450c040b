import { createWriteStream, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createChecker, createHistory, printViolations } from "posthorn/testing";
import type { CheckerOptions, History, HistoryReport } from "posthorn/testing";
import type { Database } from "./database.js";
import type { HostEnd, HostOptions, KillAt } from "./host.js";
import { Host } from "./host.js";
import { Provider } from "./provider.js";

export interface RunOptions extends CheckerOptions {
  readonly database: Database;
  /** The beginning of every id of this run, without a hyphen. */
  readonly scope: string;
  /** Started with other options than the database's own. */
  readonly host?: Partial<HostOptions>;
  /** Look for the effect after every acknowledgement. @default true */
  readonly look?: boolean;
}

/** A host that is started again whenever it ends, a provider that sends to it, and a checker that sees it all. */
export class Run {
  readonly history: History;
  readonly provider: Provider;
  readonly #options: RunOptions;
  readonly #checker;
  readonly #keep: ((line: string) => void) | undefined;
  #host: Promise<Host> | undefined;
  #incarnation = 0;
  #over = false;
  readonly ends: HostEnd[] = [];

  constructor(options: RunOptions) {
    this.#options = options;
    this.#checker = createChecker(options);
    this.#keep = keeper(options);
    this.history = createHistory({
      write: (record) => {
        this.#checker.observe(record);
        this.#keep?.(`${JSON.stringify(record)}\n`);
      },
    });
    const { database, look = true } = options;
    this.provider = new Provider({
      history: this.history,
      port: async () => (await this.host()).port,
      ...(look ? { look: ({ event }) => database.effectsOf(event) } : {}),
    });
  }

  /** The host that runs now, or the next one. */
  host(): Promise<Host> {
    this.#host ??= this.#start();
    return this.#host;
  }

  async arm(at: KillAt): Promise<void> {
    await (await this.host()).arm(at);
  }

  /** `kill -9` at whatever the host is doing. */
  async kill(): Promise<void> {
    await (await this.host()).kill();
  }

  /** Ends the host, reads what is left, and says what the run came to. */
  async end(): Promise<HistoryReport> {
    await this.stop();
    const { database, scope } = this.#options;
    await database.readEnd(scope, this.history.writer("reader"));
    return this.#checker.end();
  }

  /** Ends the host, whatever happened. */
  async stop(): Promise<void> {
    this.#over = true;
    this.provider.close();
    await this.#host?.then(
      (host) => host.kill(),
      () => undefined,
    );
  }

  async #start(): Promise<Host> {
    const { database, host: changes } = this.#options;
    const host = await Host.start({ ...database.options, ...changes });
    const incarnation = ++this.#incarnation;
    void host.ended.then((end) => {
      if (this.#over) return;
      this.ends.push(end);
      this.#host = undefined;
      const what = end.point === undefined ? "kill at any moment" : `kill at ${end.point}`;
      this.history.writer("parent", incarnation).see("fault", { what });
    });
    return host;
  }
}

/** Fails with the witness, when a promise was broken. */
export function expectKept(report: HistoryReport, context: string): void {
  if (report.violations.length > 0) throw new Error(`${context}: ${printViolations(report)}`);
}

/** With POSTHORN_HISTORIES set to a folder, every history is kept there, a line for each record. */
function keeper({ database, scope }: RunOptions): ((line: string) => void) | undefined {
  const folder = process.env["POSTHORN_HISTORIES"];
  if (folder === undefined) return undefined;
  mkdirSync(folder, { recursive: true });
  const file = createWriteStream(join(folder, `${database.name}-${scope}.jsonl`));
  return (line) => void file.write(line);
}

import { createWriteStream, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createChecker, createHistory, printViolations } from "posthorn/testing";
import type { CheckerOptions, History, HistoryChecker, HistoryReport } from "posthorn/testing";
import type { Database } from "./database.js";
import type { HostEnd } from "./host.js";
import { Provider } from "./provider.js";
import type { Supervisor } from "./supervisor.js";

export interface RunOptions extends CheckerOptions {
  readonly database: Database;
  readonly supervisor: Supervisor;
  /** The beginning of every id of this run, without a hyphen. */
  readonly scope: string;
  /** Look for the effect after every acknowledgement. @default true */
  readonly look?: boolean;
}

/** A provider that sends to a host that is killed, and a checker that sees it all. */
export class Run {
  readonly history: History;
  readonly provider: Provider;
  /** How the hosts ended so far. */
  readonly ends: HostEnd[] = [];
  readonly #options: RunOptions;
  readonly #checker: HistoryChecker;
  readonly #forget: () => void;

  constructor(options: RunOptions) {
    const { database, supervisor, look = true } = options;
    this.#options = options;
    this.#checker = createChecker(options);
    const keep = keeper(options);
    this.history = createHistory({
      write: (record) => {
        this.#checker.observe(record);
        keep?.(`${JSON.stringify(record)}\n`);
      },
    });
    this.provider = new Provider({
      history: this.history,
      port: async () => (await supervisor.host()).port,
      ...(look ? { look: ({ event }) => database.effectsOf(event) } : {}),
    });
    this.#forget = supervisor.onEnd((end, incarnation) => this.#ended(end, incarnation));
  }

  get scope(): string {
    return this.#options.scope;
  }

  get supervisor(): Supervisor {
    return this.#options.supervisor;
  }

  /** Notes what else is done to the system. */
  fault(what: string): void {
    this.history.writer("tester").see("fault", { what });
  }

  /** Reads what is left, and says what the run came to. Nothing may be under way any more. */
  async end(): Promise<HistoryReport> {
    this.close();
    const { database, scope } = this.#options;
    await database.readEnd(scope, this.history.writer("reader"));
    return this.#checker.end();
  }

  /** Lets go of the host, whatever happened. */
  close(): void {
    this.#forget();
    this.provider.close();
  }

  #ended(end: HostEnd, incarnation: number): void {
    this.ends.push(end);
    const what = end.point === undefined ? "kill at any moment" : `kill at ${end.point}`;
    this.history.writer("supervisor", incarnation).see("fault", { what });
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

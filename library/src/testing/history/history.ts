import { systemClock } from "../../clock.js";
import type { Clock } from "../../clock.js";
import type { HistoryRecord, Operations, Sighting, TimedOperation } from "./record.js";

/** An operation under way. It is ended once, by what is known of it. */
export interface Call<Op extends TimedOperation> {
  ok(fields: Operations[Op]["ok"]): void;
  /** It was certainly not done. */
  fail(why: string): void;
  /** Its answer was lost. */
  unknown(why: string): void;
}

/** One observer's pen. */
export interface HistoryWriter {
  /** Notes that an operation begins. Throws while another one of this writer is under way. */
  invoke<Op extends TimedOperation>(op: Op, fields: Operations[Op]["invoke"]): Call<Op>;
  /** Notes what was seen. */
  see<Op extends Sighting>(op: Op, fields: Operations[Op]["ok"]): void;
}

/** An append-only record of a run, handed on line by line and not kept. */
export interface History {
  /** How many records were written. */
  readonly length: number;
  /** A pen for one observer; each that may act at the same time needs a `proc` of its own. */
  writer(proc: string, incarnation?: number): HistoryWriter;
}

/** Where a history goes. */
export interface HistoryOptions {
  /** Gets every record as it is written: a checker, a file. */
  readonly write: (record: HistoryRecord) => void;
  readonly clock?: Clock;
}

/**
 * Makes a history.
 *
 * @example
 * const checker = createChecker();
 * const history = createHistory({ write: (record) => checker.observe(record) });
 * const call = history.writer("sender-1").invoke("send", { tenant, source, id, bodyHash, genuine: true });
 * call.ok({ status: 200, verdict: "applied" });
 */
export function createHistory(options: HistoryOptions): History {
  return new RunningHistory(options);
}

type Line = Pick<HistoryRecord, "op" | "phase" | "fields">;

class RunningHistory implements History {
  readonly #write: (record: HistoryRecord) => void;
  readonly #clock: Clock;
  #length = 0;

  constructor({ write, clock = systemClock }: HistoryOptions) {
    this.#write = write;
    this.#clock = clock;
  }

  get length(): number {
    return this.#length;
  }

  writer(proc: string, incarnation = 0): HistoryWriter {
    let underWay = false;
    const write = (line: Line): void => this.#append(proc, incarnation, line);
    return {
      invoke: (op, fields) => {
        if (underWay) throw new Error(`${proc} has an operation under way; give ${op} a writer of its own.`);
        underWay = true;
        write({ op, phase: "invoke", fields });
        const end = (phase: "ok" | "fail" | "unknown", known: Line["fields"]): void => {
          if (!underWay) throw new Error(`${op} of ${proc} was ended twice.`);
          underWay = false;
          write({ op, phase, fields: known });
        };
        return {
          ok: (known) => end("ok", known),
          fail: (why) => end("fail", { why }),
          unknown: (why) => end("unknown", { why }),
        };
      },
      see: (op, fields) => write({ op, phase: "ok", fields }),
    };
  }

  #append(proc: string, incarnation: number, line: Line): void {
    const n = ++this.#length;
    const mono = this.#clock.monotonic();
    this.#write({ n, proc, incarnation, mono, wall: this.#clock.now(), ...line } as HistoryRecord);
  }
}

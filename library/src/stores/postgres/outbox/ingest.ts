import { equalBytes } from "../../../bytes.js";
import { systemClock } from "../../../clock.js";
import type { IncomingEvent, IncomingName, Ingested } from "../../../outbox/ingest-store.js";
import { isAnswerLost, isSaturated, sqlState } from "../client/failure.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import { IngestWriter } from "./ingest-write.js";

interface Waiting {
  readonly incoming: IncomingEvent;
  /** Counts what called; those of one caller's one step have the same number. */
  readonly step: number;
  readonly resolve: (ingested: Ingested) => void;
  readonly reject: (error: unknown) => void;
}

/** One that is written, and those that came at the same moment and are the same. */
interface Leader extends Waiting {
  readonly twins: Waiting[];
}

export interface IngesterParts extends StoreDatabase {
  /** Called when something was committed. */
  readonly committed: () => void;
}

const MAX_EVENTS = 500;
const MAX_BYTES = 4_000_000;
const MOST_BATCHES = 2;
// So many calls are worth a batch of their own while another is written.
const WORTH_A_BATCH = 32;
// After so long the connection has fallen silent, or somebody holds a name: the others need not wait for that.
const SLOW_MS = 250;
const MAX_TRIES = 3;
const RETRY_MS = 20;

// Values that do not fit, broken constraints, limits of the server: of one event, and no reason to refuse the others.
const OF_CONTENT = /^(22|23|54|P0)/;

const soon: (work: () => void) => void =
  typeof setImmediate === "function" ? setImmediate : (work) => setTimeout(work, 0);

/**
 * Takes events in, in transactions of the store's own: calls of the same moment share one. Under load the next ones go
 * out while the server writes, so that neither waits for the other. An event that comes after the answer to another is
 * always written after it, and those that a caller hands over in one step are written in their order; of two that are
 * under way at once nobody could say which was first.
 */
export class Ingester {
  readonly #writer: IngestWriter;
  readonly #committed: () => void;
  #waiting: Waiting[] = [];
  #planned = false;
  #writing = 0;
  #slow = 0;
  #underWay = 0;
  #step = 0;
  #stepping = false;
  // The rest of a step that was too large waits until its beginning is written.
  #cut = false;

  constructor({ transactions, tables, committed }: IngesterParts) {
    this.#writer = new IngestWriter({ transactions, tables });
    this.#committed = committed;
  }

  ingest(incoming: IncomingEvent): Promise<Ingested> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ incoming, step: this.#currentStep(), resolve, reject });
      this.#plan();
    });
  }

  #currentStep(): number {
    if (!this.#stepping) {
      this.#stepping = true;
      this.#step++;
      queueMicrotask(() => {
        this.#stepping = false;
      });
    }
    return this.#step;
  }

  #plan(): void {
    if (this.#planned || this.#waiting.length === 0 || this.#writing === MOST_BATCHES || this.#cut) return;
    if (this.#writing > this.#slow && this.#waiting.length < WORTH_A_BATCH) return;
    this.#planned = true;
    soon(() => {
      this.#planned = false;
      this.#flush();
      this.#plan();
    });
  }

  #flush(): void {
    const { leaders, left, cut } = gather(this.#waiting, this.#fairShare());
    this.#waiting = left;
    this.#writing++;
    this.#cut = cut;
    this.#underWay += leaders.length;
    let slow = false;
    const timer = setTimeout(() => {
      slow = true;
      this.#slow++;
      this.#plan();
    }, SLOW_MS);
    void this.#store(leaders).finally(() => {
      clearTimeout(timer);
      if (slow) this.#slow--;
      this.#writing--;
      if (cut) this.#cut = false;
      this.#underWay -= leaders.length;
      this.#plan();
    });
  }

  // No more than half of what there is: callers come again when they are answered, all at once. Were they all in one
  // batch, nobody would have anything to do until it is written, and it would stay so.
  #fairShare(): number {
    return Math.max(WORTH_A_BATCH, Math.ceil((this.#waiting.length + this.#underWay) / 2));
  }

  /** Answers every one of them. */
  async #store(leaders: readonly Leader[]): Promise<void> {
    try {
      const ingested = await this.#write(leaders.map(({ incoming }) => incoming));
      leaders.forEach((leader, n) => answer(leader, ingested[n] as Ingested));
      if (ingested.some(({ kind }) => kind === "stored")) this.#committed();
    } catch (error) {
      if (leaders.length > 1 && OF_CONTENT.test(sqlState(error) ?? "")) {
        const half = Math.ceil(leaders.length / 2);
        await this.#store(leaders.slice(0, half));
        return this.#store(leaders.slice(half));
      }
      for (const { reject, twins } of leaders)
        for (const fail of [reject, ...twins.map((twin) => twin.reject)]) fail(error);
    }
  }

  /** After a lost answer it is all done again: where the commit was done, our own ids stand at the names, and say so. */
  async #write(incoming: readonly IncomingEvent[]): Promise<readonly Ingested[]> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#writer.write(incoming);
      } catch (error) {
        if (tries === MAX_TRIES || isSaturated(error) || !isAnswerLost(error)) throw error;
        await systemClock.sleep(RETRY_MS * tries);
      }
    }
  }
}

function answer({ resolve, twins }: Leader, ingested: Ingested): void {
  resolve(ingested);
  const again: Ingested = ingested.kind === "stored" ? { kind: "duplicate", id: ingested.id } : ingested;
  for (const twin of twins) twin.resolve(again);
}

interface Gathered {
  readonly leaders: readonly Leader[];
  readonly left: Waiting[];
  /** Whether a step was too large for one statement, and goes on in those that are left. */
  readonly cut: boolean;
}

/**
 * What shares one statement: a share of those that wait, and all of the last one's step. No two of them have a name in
 * common, of which Postgres would refuse the second. One that is the same as an earlier one is answered with it; any other
 * that meets an earlier one's name is left for the next, as are those behind it that meet its own.
 */
function gather(waiting: readonly Waiting[], share: number): Gathered {
  const leaders: Leader[] = [];
  const left: Waiting[] = [];
  const holders = new Map<string, Leader | undefined>();
  let bytes = 0;
  let index = 0;
  for (; index < waiting.length; index++) {
    const each = waiting[index] as Waiting;
    const names = each.incoming.names.map((name) => nameKey(each.incoming, name));
    const met = names.filter((name) => holders.has(name));
    if (met.length > 0) {
      const leader = holders.get(met[0] ?? "");
      if (leader && isSame(leader.incoming, each.incoming)) leader.twins.push(each);
      else {
        left.push(each);
        for (const name of names) if (!holders.has(name)) holders.set(name, undefined);
      }
      continue;
    }
    bytes += each.incoming.event.body.length;
    if (leaders.length > 0 && (leaders.length === MAX_EVENTS || bytes > MAX_BYTES)) break;
    if (leaders.length >= share && each.step !== waiting[index - 1]?.step) break;
    const { incoming, step, resolve, reject } = each;
    const leader: Leader = { incoming, step, resolve, reject, twins: [] };
    leaders.push(leader);
    for (const name of names) holders.set(name, leader);
  }
  left.push(...waiting.slice(index));
  return { leaders, left, cut: waiting[index]?.step === waiting[index - 1]?.step };
}

/** Names a name among those of all tenants. */
function nameKey({ event }: IncomingEvent, { name }: IncomingName): string {
  return `${event.tenant}\n${name}`;
}

/** Whether the second would be told the same as the first: all of its names, with the same hashes. */
function isSame(one: IncomingEvent, two: IncomingEvent): boolean {
  return (
    one.event.tenant === two.event.tenant &&
    one.windowS === two.windowS &&
    one.names.length === two.names.length &&
    one.names.every(({ name, bodyHash }, n) => {
      const other = two.names[n];
      return other?.name === name && sameBytes(bodyHash, other.bodyHash);
    })
  );
}

function sameBytes(one: Uint8Array | undefined, two: Uint8Array | undefined): boolean {
  if (one === undefined || two === undefined) return one === two;
  return equalBytes(one, two);
}

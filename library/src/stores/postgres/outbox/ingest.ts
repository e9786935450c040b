import { reach } from "#faults";
import { equalBytes } from "../../../bytes.js";
import { systemClock } from "../../../clock.js";
import { filledBy, isSamePlace } from "../../../hold-mark.js";
import type { IncomingEvent, IncomingName, Ingested } from "../../../outbox/ingest-store.js";
import { isAnswerLost, isSaturated, sqlState } from "../client/failure.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import { IngestWriter } from "./ingest-write.js";

interface Waiting {
  readonly incoming: IncomingEvent;
  /** Events that one caller hands over without an await in between have the same number. */
  readonly step: number;
  readonly resolve: (ingested: Ingested) => void;
  readonly reject: (error: unknown) => void;
}

/** An event that is written, and the identical ones that arrived at the same moment. */
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
// While a batch is written, this many waiting calls make the next one.
const WORTH_A_BATCH = 32;
// A batch that takes longer waits for a silent connection or for a name that somebody holds: it no longer holds up others.
const SLOW_MS = 250;
const MAX_TRIES = 3;
const RETRY_MS = 20;

// Values that do not fit, broken constraints, limits of the server: one event is at fault, and the others are written.
const OF_CONTENT = /^(22|23|54|P0)/;

const soon: (work: () => void) => void =
  typeof setImmediate === "function" ? setImmediate : (work) => setTimeout(work, 0);

/**
 * Stores incoming events in transactions of the store's own: calls of the same moment share one. Under load a second
 * batch is sent while the server writes the first, so that neither waits for the other. An event that arrives after
 * another was answered is always written after it, and events that a caller hands over without an await in between are
 * written in their order; two events that are under way at once have no order.
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
  // True while the first part of a step is written that was too large for one batch: the rest waits for it.
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

  // At most half of what there is. Callers that are answered call again, all at once: with all of them in one batch, this
  // process would idle while the server writes, and the server while this process prepares, from then on.
  #fairShare(): number {
    return Math.max(WORTH_A_BATCH, Math.ceil((this.#waiting.length + this.#underWay) / 2));
  }

  /** Writes a batch, and answers every caller of it. */
  async #store(leaders: readonly Leader[]): Promise<void> {
    try {
      reach("ingest.before_write");
      const ingested = await this.#write(leaders.map(({ incoming }) => incoming));
      reach("ingest.after_write");
      leaders.forEach((leader, n) => answer(leader, ingested[n] as Ingested));
      const changes = ({ incoming }: Leader, n: number): boolean =>
        ingested[n]?.kind === "stored" || filledBy(incoming.event) !== undefined;
      if (leaders.some(changes)) this.#committed();
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

  /** Writes again after a lost answer: where the commit had happened, the names carry our own ids. */
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
  /** Whether a step was too large for one statement, and its rest is in `left`. */
  readonly cut: boolean;
}

/**
 * Chooses what shares one statement: a share of the waiting events, completed to the end of the last one's step. No two
 * of them have a name in common: Postgres would refuse to write it twice. An event that is identical to an earlier one is
 * answered with it. Any other that shares a name with an earlier one waits for the next batch, as do those behind it that
 * share a name with it.
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

/** A name, unique over all tenants. */
function nameKey({ event }: IncomingEvent, { name }: IncomingName): string {
  return `${event.tenant}\n${name}`;
}

/** Whether both would be answered alike, and change the same: the same names with the same hashes, and the same place in the sequence of a key. */
function isSame(one: IncomingEvent, two: IncomingEvent): boolean {
  return (
    one.event.tenant === two.event.tenant &&
    one.windowS === two.windowS &&
    isSamePlace(filledBy(one.event), filledBy(two.event)) &&
    one.event.receipt?.hold?.after === two.event.receipt?.hold?.after &&
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

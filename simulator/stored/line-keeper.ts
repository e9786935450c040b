import type {
  InboxKey,
  Arrival,
  KnownEvent,
  PurgeLimits,
  PurgeReport,
  RefusedBecause,
} from "../../library/src/inbox/inbox-store.js";
import type { FilledPlace } from "../../library/src/hold-mark.js";
import type { KeeperStore } from "../../library/src/inbox/keeper.js";
import type { IncomingEvent, Ingested } from "../../library/src/outbox/ingest-store.js";
import type { Wake } from "../../library/src/work/wake.js";
import { atOnce } from "../world/line.js";
import type { Line } from "../world/line.js";
import { numberOfEvent, numberOfId } from "./names.js";
import type { WorkingStore } from "./stored-store.js";

export interface LineKeeperParts {
  readonly line: Line;
  readonly store: WorkingStore<unknown>;
  /** Of the worker of the same process, where it hears of what is stored. */
  readonly wake: Wake | undefined;
  /** Which event of the provider each id of a stored event stands for. */
  readonly numbers: Map<string, number>;
}

/** The part of a database that a receiver stores into, at the other end of a line. */
export class LineKeeper implements KeeperStore {
  readonly #parts: LineKeeperParts;
  readonly #line: Line;
  readonly #store: WorkingStore<unknown>;

  constructor(parts: LineKeeperParts) {
    this.#parts = parts;
    this.#line = parts.line;
    this.#store = parts.store;
  }

  async ingest(incoming: IncomingEvent): Promise<Ingested> {
    const number = numberOfEvent(incoming.event);
    const answer = await this.#line.ask("ingest", async () => {
      this.#parts.numbers.set(incoming.event.id, number);
      const ingested = await this.#store.ingest(incoming);
      const { log, database } = this.#line;
      log.count(`ingest.${ingested.kind}`);
      const { causedBy } = incoming.event;
      const cause =
        causedBy === undefined ? undefined : (this.#parts.numbers.get(causedBy) ?? numberOfId(causedBy));
      if (ingested.kind === "stored") log.add({ kind: "kept", database: database.index, number, cause });
      return ingested;
    });
    this.#parts.wake?.ring("committed");
    return answer;
  }

  async fill(place: FilledPlace): Promise<void> {
    await this.#line.ask("fill", () => this.#store.fill(place));
    this.#parts.wake?.ring("committed");
  }

  find(key: InboxKey): Promise<KnownEvent | undefined> {
    return this.#line.ask("find", () => this.#store.find(key));
  }

  refuse(arrival: Arrival, because: RefusedBecause): Promise<void> {
    return this.#line.ask("refuse", () => this.#store.refuse(arrival, because));
  }

  touch(arrival: Arrival): void {
    // The receiver does not wait for a touch, and ignores its failure.
    this.#line.ask("touch", () => atOnce(() => this.#store.touch(arrival))).catch(() => undefined);
  }

  flush(): Promise<void> {
    return this.#store.flush();
  }

  purge(limits: PurgeLimits): Promise<PurgeReport> {
    return this.#line.ask("purge", () => this.#store.purge(limits));
  }

  namedEvents(tenant: string, names: readonly string[]): Promise<readonly string[]> {
    return this.#line.ask("namedEvents", () => this.#store.namedEvents(tenant, names));
  }

  forgetNames(limits: { readonly maxNames: number }): Promise<number> {
    return this.#line.ask("forgetNames", () => this.#store.forgetNames(limits));
  }
}

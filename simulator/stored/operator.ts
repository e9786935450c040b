import type { RunLog } from "../world/run-log.js";
import { WORKER_GONE_MS } from "../../library/src/worker-gone.js";
import { eventId, GONE, handlerId, nameOf, numberOfId } from "./names.js";
import type { StoredStore } from "./stored-store.js";

/** Asks the database, over a line or at its own console. */
export type Asks = <T>(call: string, doing: () => Promise<T>) => Promise<T>;

export interface OperatorParts {
  readonly store: StoredStore;
  readonly database: number;
  readonly log: RunLog;
  readonly ask: Asks;
  /** Which event of the provider each id of a stored event stands for. */
  readonly numbers: ReadonlyMap<string, number>;
}

const MOST = 100;

/** A person who looks and intervenes. What the database answered is seen where it answered. */
export class StoredOperator {
  readonly #parts: OperatorParts;

  constructor(parts: OperatorParts) {
    this.#parts = parts;
  }

  /** Redrives every dead letter, each by so many clicks, and says how many there were. */
  async redriveAll(clicks: number): Promise<number> {
    const { store, ask } = this.#parts;
    const { items } = await ask("dead_letters", () => store.outbox.deadLetters({ limit: MOST }));
    for (const { id, endpointId, eventId: stored } of items) {
      await times(clicks, () => this.#redrive(id, nameOf(endpointId), stored));
    }
    return items.length;
  }

  async #redrive(id: string, consumer: string, stored: string): Promise<void> {
    const { store, ask, log, database } = this.#parts;
    await ask("redrive", async () => {
      const said = await store.outbox.redrive(id);
      log.count(`redrive.${said}`);
      log.add({ kind: "redriven", database, consumer, number: this.#numberOf(stored), said });
    });
  }

  /** Passes over the head that has been failing for the longest time. */
  async skip(clicks: number): Promise<void> {
    const { store, ask, log, database } = this.#parts;
    const { items } = await ask("blocked_lanes", () => store.outbox.blockedLanes({ limit: MOST }));
    const lane = items.find(({ endpointId }) => endpointId.startsWith(handlerId("")));
    if (lane === undefined) return;
    const at = { consumer: nameOf(lane.endpointId), number: this.#numberOf(lane.headEventId) };
    await times(clicks, () =>
      ask("skip", async () => {
        const said = await store.outbox.skip(lane.id, lane.head);
        log.count(`skip.${said}`);
        log.add({ kind: "passed_over", database, ...at, said });
      }),
    );
  }

  /** Lets what was applied be applied once more, and what was skipped or dropped be handled again. */
  async again(consumers: readonly string[], rows: number, clicks: number): Promise<void> {
    const { store, ask, log, database } = this.#parts;
    const found = await ask("inbox_rows", () => store.working.inboxRows({}, { limit: MOST }));
    const wanted = found.items.filter(({ consumer }) => consumers.includes(consumer)).slice(0, rows);
    for (const { tenant, source, id, consumer, outcome, round } of wanted) {
      const verb = outcome === "success" ? "replay" : "redrive";
      const at = { consumer, number: numberOfId(id) };
      await times(clicks, () =>
        ask("stage_again", async () => {
          const [said = "unknown"] = await store.working.stageAgain([
            { tenant, source, id, consumer, verb, round },
          ]);
          log.count(`staged.${verb}.${said}`);
          log.add({ kind: "staged", database, ...at, verb, said });
        }),
      );
    }
  }

  /** Removes the handler that is gone, where no worker has said for so long that it has it. */
  async removeGone(unseenForMs: number): Promise<void> {
    await this.#remove(GONE, unseenForMs);
  }

  /** The same of a handler that workers have. */
  async removeLive(consumer: string): Promise<void> {
    await this.#remove(consumer, WORKER_GONE_MS);
  }

  async #remove(consumer: string, unseenForMs: number): Promise<void> {
    const { store, ask, log, database } = this.#parts;
    await ask("remove_handler", async () => {
      const removal = { because: "it is called otherwise now", by: "somebody", unseenForMs };
      const said = await store.working.removeHandler(handlerId(consumer), removal);
      log.count(`remove.${said}`);
      if (said === "removed") log.add({ kind: "removed", database, consumer });
    });
  }

  #numberOf(stored: string): number {
    return this.#parts.numbers.get(stored) ?? numberOfId(eventId(-1));
  }
}

async function times(count: number, doing: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: count }, doing));
}

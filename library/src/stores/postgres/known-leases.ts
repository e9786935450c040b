import type { Claim } from "../../delivery/delivery-store.js";
import type { LaneChange } from "./lane-change.js";

type Leased = Pick<Claim, "kind" | "id">;

/**
 * What was leased by way of this process, also where the answer was lost: known before the commit, it needs no index of
 * who has leased what, which every claim and settlement would have to write. Rather too much than too little: whose a
 * lease is, the database knows.
 */
export class KnownLeases {
  readonly #byWorker = new Map<string, Map<string, Leased>>();

  /** Before the commit. */
  note(worker: string, changes: readonly LaneChange[]): void {
    for (const { row, lease } of changes) {
      if (lease) this.#leasesOf(worker).set(nameOf(row), { kind: row.kind, id: row.id });
    }
  }

  /** When it is certain that the worker has it no more. */
  drop(worker: string, lease: Leased): void {
    this.#byWorker.get(worker)?.delete(nameOf(lease));
  }

  /** Undefined for a worker that has claimed nothing by way of this process. */
  of(worker: string): readonly Leased[] | undefined {
    const leased = this.#byWorker.get(worker);
    return leased && [...leased.values()];
  }

  // Not before there is one: of a worker that others know, this process would say that it holds nothing.
  #leasesOf(worker: string): Map<string, Leased> {
    const known = this.#byWorker.get(worker);
    if (known !== undefined) return known;
    const leased = new Map<string, Leased>();
    this.#byWorker.set(worker, leased);
    return leased;
  }
}

export function nameOf({ kind, id }: Leased): string {
  return `${kind} ${id}`;
}

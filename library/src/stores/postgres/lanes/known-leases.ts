import type { Claim } from "../../../lanes/lane-store.js";
import type { LaneChange } from "./lane-change.js";

type Leased = Pick<Claim, "kind" | "id">;
type Lease = Pick<Claim, "kind" | "id" | "epoch">;

/**
 * What was leased by way of this process, also where the answer was lost: known before the commit, it needs no index of
 * who has leased what, which every claim and settlement would have to write. Rather too much than too little: whose a
 * lease is, the database knows.
 */
export class KnownLeases {
  readonly #byWorker = new Map<string, Map<string, Lease>>();

  /** Before the commit. */
  note(worker: string, changes: readonly LaneChange[]): void {
    for (const { row, epoch, lease } of changes) {
      if (lease) this.#leasesOf(worker).set(nameOf(row), { kind: row.kind, id: row.id, epoch });
    }
  }

  /**
   * When it is certain that the worker has it no more. What it has claimed again since, under a later epoch, stays known:
   * forgotten by a late settlement of the claim before, it would be held until its lease ends.
   */
  drop(worker: string, lease: Lease): void {
    const known = this.#byWorker.get(worker);
    const latest = known?.get(nameOf(lease));
    if (latest !== undefined && latest.epoch <= lease.epoch) known?.delete(nameOf(lease));
  }

  /** Undefined for a worker that has claimed nothing by way of this process. */
  of(worker: string): readonly Lease[] | undefined {
    const leased = this.#byWorker.get(worker);
    return leased && [...leased.values()];
  }

  // Not before there is one: of a worker that others know, this process would say that it holds nothing.
  #leasesOf(worker: string): Map<string, Lease> {
    const known = this.#byWorker.get(worker);
    if (known !== undefined) return known;
    const leased = new Map<string, Lease>();
    this.#byWorker.set(worker, leased);
    return leased;
  }
}

export function nameOf({ kind, id }: Leased): string {
  return `${kind} ${id}`;
}

import type { StepKey, StepState } from "../../../inbox/handler/step-store.js";
import type { InboxKey } from "../../../inbox/inbox-store.js";

interface StepRow {
  readonly tenant: string;
  readonly storedAs: string;
  done: boolean;
  result: string | undefined;
}

/** Steps of long handlers, until the process ends. */
export class StepTable {
  readonly #rows = new Map<string, StepRow>();

  begin(key: StepKey, storedAs: string): StepState {
    const name = nameOf(key);
    const row = this.#rows.get(name);
    if (row === undefined) {
      this.#rows.set(name, { tenant: key.tenant, storedAs, done: false, result: undefined });
      return { kind: "new" };
    }
    return row.done ? { kind: "done", result: row.result } : { kind: "begun" };
  }

  keep(key: StepKey, result: string | undefined): void {
    const row = this.#rows.get(nameOf(key));
    if (row === undefined || row.done) return;
    row.done = true;
    row.result = result;
  }

  /** Removes the steps of an event at all consumers, in all rounds; says how many. */
  forget({ tenant, source, id }: InboxKey): number {
    const prefix = `${JSON.stringify([tenant, source, id]).slice(0, -1)},`;
    const gone = [...this.#rows.keys()].filter((name) => name.startsWith(prefix));
    for (const name of gone) this.#rows.delete(name);
    return gone.length;
  }

  /** Removes what belongs to an event that was stored; says how many. */
  removeOf(tenant: string, storedAs: string): number {
    const gone = [...this.#rows].filter(([, row]) => row.tenant === tenant && row.storedAs === storedAs);
    for (const [name] of gone) this.#rows.delete(name);
    return gone.length;
  }
}

function nameOf({ tenant, source, id, consumer, round, step }: StepKey): string {
  return JSON.stringify([tenant, source, id, consumer, round, step]);
}

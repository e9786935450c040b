import { signal } from "@preact/signals";
import { failureOf } from "../../api/api.ts";
import { refreshAll } from "../../api/live.ts";

/** Something that is done to many, one after the other. It goes on while one walks through the pages. */
export interface Operation {
  /** "Redrive 97 deliveries". */
  readonly title: string;
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  /** The last failure, in words. */
  readonly problem: string | undefined;
  readonly state: "running" | "stopped" | "finished";
}

export const operation = signal<Operation | undefined>(undefined);

let stopping = false;

export function stopOperation(): void {
  stopping = true;
}

export function dismissOperation(): void {
  if (operation.value?.state !== "running") operation.value = undefined;
}

/** Does `work` for each, in order. One that fails is counted, and the others go on. */
export async function runOperation(
  title: string,
  ids: readonly string[],
  work: (id: string) => Promise<unknown>,
): Promise<void> {
  stopping = false;
  let state: Operation = {
    title,
    total: ids.length,
    done: 0,
    failed: 0,
    problem: undefined,
    state: "running",
  };
  const show = (change: Partial<Operation>): void => {
    state = { ...state, ...change };
    operation.value = state;
  };
  show({});
  for (const id of ids) {
    if (stopping) break;
    try {
      await work(id);
      show({ done: state.done + 1 });
    } catch (error) {
      show({ failed: state.failed + 1, problem: `${id}: ${failureOf(error).detail}` });
    }
  }
  show({ state: stopping ? "stopped" : "finished" });
  void refreshAll();
}

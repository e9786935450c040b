import { isPosthornError } from "posthorn";
import type { ServerParts } from "../parts.js";
import type { ItemRecord, ItemResult, LeasedOperation, OperationRecord } from "../store/operation.js";
import { doItems, nextStep, pauseMs } from "./steps.js";

export type RunnerParts = Pick<ServerParts, "registry" | "outbox" | "clock" | "log" | "node">;

/** What a killed node has begun is taken over after this long. */
export const LEASE_MS = 10_000;
const POLL_MS = 1000;
const RETRY_MS = 500;
const PLANS_KEPT_MS = 3_600_000;

/** How far an operation is. */
interface Progress {
  state: OperationRecord["state"];
  rate: number;
  after: string | undefined;
  done: number;
  counts: Record<string, number>;
}

/**
 * Runs operations step by step: it leases one, writes what a step will do before doing it, and what came of it after.
 * A step that was cut off is done again by whoever leases the operation next; each item counts once.
 */
export class OperationRunner {
  readonly #parts: RunnerParts;
  #ended = new AbortController();
  #loop: Promise<void> = Promise.resolve();
  #wake: AbortController = new AbortController();
  #plansForgottenAt = -Infinity;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#loop = this.#poll();
  }

  /** Ends after the step that is under way, and gives the lease back. */
  async stop(): Promise<void> {
    this.#ended.abort();
    this.#wake.abort();
    await this.#loop;
  }

  /** Looks at once: an operation was started on this node. */
  wake(): void {
    this.#wake.abort();
  }

  async #poll(): Promise<void> {
    const { clock, log } = this.#parts;
    while (!this.#ended.signal.aborted) {
      this.#wake = new AbortController();
      try {
        if (await this.work()) continue;
        await this.#forgetPlans();
      } catch (error) {
        log.warn({ err: error }, "operations could not be run; tried again");
      }
      await clock.sleep(POLL_MS, AbortSignal.any([this.#wake.signal, this.#ended.signal]));
    }
  }

  async #forgetPlans(): Promise<void> {
    const {
      clock,
      registry: { operations },
    } = this.#parts;
    if (clock.monotonic() - this.#plansForgottenAt < PLANS_KEPT_MS / 60) return;
    this.#plansForgottenAt = clock.monotonic();
    await operations.forgetPlans(new Date(clock.now() - PLANS_KEPT_MS));
  }

  /** Leases an operation and runs it until it has ended, was stopped, or was lost; false where there is none. */
  async work(): Promise<boolean> {
    const {
      registry: { operations },
      node,
      clock,
      log,
    } = this.#parts;
    const operation = await operations.leaseOperation(node, LEASE_MS);
    if (operation === undefined) return false;
    const { id, epoch } = operation;
    try {
      const end = await this.#run(operation);
      if (end === "lost") return true;
      if (end === "released") await operations.releaseOperation({ id, epoch });
      else
        await operations.endOperation(
          { id, epoch },
          { state: end, message: undefined, at: new Date(clock.now()) },
        );
    } catch (error) {
      // What the database could not do now it may do later, here or on another node.
      if (isPosthornError(error)) throw error;
      log.error({ err: error, operation: id }, "an operation failed");
      const message = error instanceof Error ? error.message : String(error);
      await operations.endOperation({ id, epoch }, { state: "failed", message, at: new Date(clock.now()) });
    }
    return true;
  }

  async #run(operation: LeasedOperation): Promise<"stopped" | "finished" | "released" | "lost"> {
    const {
      registry: { operations },
      outbox,
      clock,
    } = this.#parts;
    const { state, rate, after, done, results } = operation;
    const progress: Progress = { state, rate, after, done, counts: { ...results } };
    const left = await operations.pendingItems(operation.id);
    if (left.length > 0 && !(await this.#finish(operation, left, progress))) return "lost";
    for (;;) {
      if (progress.state === "stopping") return "stopped";
      if (this.#ended.signal.aborted) return "released";
      const startedMs = clock.monotonic();
      const step = await nextStep(outbox, { ...operation, after: progress.after, rate: progress.rate });
      const lease = { id: operation.id, epoch: operation.epoch, leaseMs: LEASE_MS };
      // A stop that was answered before is seen here: no step begins after it.
      if (!(await operations.beginStep(lease, step.items, step.after))) {
        const now = await operations.readOperation(operation.id);
        return now?.state === "stopping" && now.node === this.#parts.node ? "stopped" : "lost";
      }
      progress.after = step.after;
      if (!(await this.#finish(operation, step.items, progress))) return "lost";
      if (step.last) return "finished";
      const pause = pauseMs(progress.rate, step.items.length, clock.monotonic() - startedMs);
      if (pause > 0 && progress.state === "running") await clock.sleep(pause, this.#ended.signal);
    }
  }

  /** Does items that are written as pending, and writes what came of them; false where the lease was lost. */
  async #finish(
    operation: LeasedOperation,
    items: readonly ItemRecord[],
    progress: Progress,
  ): Promise<boolean> {
    const {
      registry: { operations },
      outbox,
      clock,
    } = this.#parts;
    const { id, epoch, verb } = operation;
    for (let left = items; ;) {
      const done = await doItems(outbox, verb, left);
      const ended = new Set(done.map(({ number }) => number));
      left = left.filter(({ number }) => !ended.has(number));
      const isOver = progress.state !== "running";
      const given = isOver
        ? left.map(({ number }): ItemResult => ({ number, result: "intended", count: 0 }))
        : [];
      const results = [...done, ...given];
      for (const { result, count } of results) {
        progress.counts[result] = (progress.counts[result] ?? 0) + Math.max(1, count);
        progress.done += count;
      }
      const end = { results, done: progress.done, counts: progress.counts };
      const now = await operations.endStep({ id, epoch, leaseMs: LEASE_MS }, end);
      if (now === undefined) return false;
      progress.state = now.state;
      progress.rate = now.rate;
      if (left.length === 0 || isOver) return true;
      if (this.#ended.signal.aborted) return false;
      await clock.sleep(RETRY_MS, this.#ended.signal);
    }
  }
}

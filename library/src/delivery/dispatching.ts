import { notify } from "../observer.js";
import { isPosthornError } from "../posthorn-error.js";
import { newId } from "../id.js";
import { WorkLoop } from "../work/work-loop.js";
import type { Work } from "../work/work-loop.js";
import type { Claim, Settled } from "../lanes/lane-store.js";
import type { DeliveryStore } from "./delivery-store.js";
import type { DispatcherSettings } from "./dispatcher-options.js";
import type { Egress } from "./egress/egress.js";
import { KnownEndpoints } from "./known-endpoints.js";
import { runClaim } from "./lane-run.js";
import type { Lease, RunParts, RunResult } from "./lane-run.js";
import { Sequencing } from "../lanes/sequencing.js";

/** What a drain has done. */
export interface DrainReport {
  readonly delivered: number;
  /** Attempts that were not acknowledged. */
  readonly failed: number;
  /** True when it stopped at a limit, and more may be due. */
  readonly more: boolean;
}

export interface DrainLimits {
  /** About how many events to deliver; what is under way then is finished. @default no limit */
  readonly maxEvents?: number;
  /** After this time nothing new is begun. @default no limit */
  readonly deadlineMs?: number;
}

// More in one commit gain little, and each waits for the slowest of them.
const SETTLE_BATCH = 200;
const MOST_PER_RUN = 8;
const MOST_BYTES_PER_RUN = 1_048_576;

/** One run of the dispatcher, from its start to its stop. */
export class Dispatching {
  readonly #store: DeliveryStore;
  readonly #settings: DispatcherSettings;
  readonly #runParts: RunParts;
  readonly #worker: string;
  readonly #endpoints: KnownEndpoints;
  readonly #loop: WorkLoop<Lease, RunResult>;
  readonly #sequencing: Sequencing;
  readonly #inFlight = new Map<string, number>();
  readonly #counts = { delivered: 0, failed: 0 };
  readonly #unlisten: () => void;
  #stopping = false;
  #maxEvents = Infinity;

  constructor(store: DeliveryStore, egress: Egress, settings: DispatcherSettings) {
    const { clock, slots, pollMs } = settings;
    this.#store = store;
    this.#settings = settings;
    this.#runParts = { ...settings, egress, isStopping: () => this.#stopping };
    this.#worker = newId("wrk", clock.now());
    this.#endpoints = new KnownEndpoints(store);
    this.#loop = new WorkLoop(this.#work(), { slots, pollMs, settleBatch: SETTLE_BATCH }, clock);
    this.#sequencing = new Sequencing({
      store,
      clock,
      pollMs,
      onSequenced: () => this.#loop.hint(),
      failed: (operation, error) => this.#failed(operation, error),
    });
    this.#unlisten = store.wake.listen((hint) => this.#sequencing.hint(hint));
  }

  /** Delivers until `stop`. */
  async run(): Promise<void> {
    try {
      await Promise.all([this.#sequencing.run(), this.#loop.run()]);
    } finally {
      this.#unlisten();
    }
  }

  /** Delivers what is due now. */
  async drain({ maxEvents = Infinity, deadlineMs }: DrainLimits): Promise<DrainReport> {
    this.#maxEvents = maxEvents;
    const over = new AbortController();
    if (deadlineMs !== undefined) {
      void this.#settings.clock.sleep(deadlineMs, over.signal).then(() => this.stop());
    }
    try {
      while (await this.#sequencing.once()) if (this.#stopping) break;
      await this.#loop.run({ once: true });
    } finally {
      over.abort("done");
      this.#unlisten();
    }
    return { ...this.#counts, more: this.#stopping };
  }

  stop(): void {
    this.#stopping = true;
    this.#sequencing.stop();
    this.#loop.stop();
  }

  #work(): Work<Lease, RunResult> {
    return {
      claim: ({ limit, alone }) => this.#claim(limit, alone),
      run: (lease) => this.#run(lease),
      settle: (results, next) => this.#settle(results, next),
      release: async (held) => {
        await this.#store.release(
          this.#worker,
          held.map(({ claim }) => claim),
        );
      },
      untilDue: () => this.#untilDue(),
      failed: (operation, error) => this.#failed(operation, error),
    };
  }

  async #claim(limit: number, alone: boolean) {
    const { leaseMs } = this.#settings;
    const endsAt = this.#leaseEnd();
    const answer = await this.#store.claim({
      worker: this.#worker,
      limit,
      leaseMs,
      inFlight: this.#inFlight,
      run: this.#runLimits(),
      alone,
    });
    await this.#endpoints.learn(answer.claims);
    const claims = answer.claims.map((claim) => this.#lease(claim, endsAt));
    return { claims, lapsed: answer.lapsed };
  }

  async #untilDue(): Promise<number | undefined> {
    const dueMs = await this.#store.untilDue();
    // It may be an event whose time has come, and which has no place yet.
    if (dueMs !== undefined && dueMs <= 0) this.#sequencing.hint("committed");
    return dueMs;
  }

  #run(lease: Lease): Promise<RunResult> {
    return runClaim(this.#runParts, lease, this.#endpoints.get(lease.claim.consumer.id));
  }

  async #settle(results: readonly RunResult[], wanted: boolean): Promise<readonly (Lease | undefined)[]> {
    const next = wanted && this.#counts.delivered < this.#maxEvents;
    const endsAt = this.#leaseEnd();
    const settled = await this.#store.settle({
      worker: this.#worker,
      leaseMs: this.#settings.leaseMs,
      run: this.#runLimits(),
      // Named one by one: a copy by spreading costs Node as much as a signature.
      settlements: results.map(({ claim, attempts, acknowledged, rest }) => ({
        claim,
        attempts,
        acknowledged,
        rest,
        next,
      })),
    });
    const nexts = settled.map((each) => (each.kind === "settled" ? each.next : undefined));
    await this.#endpoints.learn(nexts.filter((each) => each !== undefined));
    results.forEach((result, index) => this.#account(result, settled[index]));
    if (this.#counts.delivered >= this.#maxEvents) this.stop();
    return nexts.map((claim) => claim && this.#lease(claim, endsAt));
  }

  /** Counted from before the question was sent: the store's lease ends later than we think, never earlier. */
  #leaseEnd(): number {
    return this.#settings.clock.monotonic() + this.#settings.leaseMs;
  }

  #lease(claim: Claim, endsAt: number): Lease {
    const { id } = claim.consumer;
    this.#inFlight.set(id, (this.#inFlight.get(id) ?? 0) + 1);
    return { claim, endsAt };
  }

  #account({ claim, attempts, acknowledged, rest }: RunResult, settled: Settled | undefined): void {
    const { id } = claim.consumer;
    const left = (this.#inFlight.get(id) ?? 1) - 1;
    if (left > 0) this.#inFlight.set(id, left);
    else this.#inFlight.delete(id);
    this.#counts.delivered += acknowledged;
    this.#counts.failed += attempts.length - acknowledged;
    if (settled?.kind !== "settled" || rest === undefined) return;
    const event = claim.run[acknowledged]?.event;
    const { observer } = this.#settings;
    if (rest.state === "dead") {
      const { because, policy } = rest;
      const { id: eventId = "", type = "" } = event ?? {};
      notify(observer, { kind: "delivery_dead", endpoint: id, type, id: eventId, because, policy });
    } else if (rest.state === "disabled") {
      notify(observer, { kind: "endpoint_disabled", endpoint: id, because: rest.because });
    }
  }

  #runLimits() {
    return { maxEvents: this.#maxEvents < MOST_PER_RUN ? 1 : MOST_PER_RUN, maxBytes: MOST_BYTES_PER_RUN };
  }

  #failed(operation: string, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const code = isPosthornError(error) ? error.code : "store_unavailable";
    notify(this.#settings.observer, { kind: "store_failed", operation, code, message });
  }
}

import { LONGEST_TIMER_MS, systemClock } from "../clock.js";
import type { Clock } from "../clock.js";
import { checkStore } from "../given-store.js";
import type { Receiver, Repairable } from "../inbox/receiver.js";
import { unobserved } from "../inbox/unobserved.js";
import type { OptionNames } from "../known-options.js";
import type { Observer } from "../observer.js";
import type { StopSignal } from "../stop-signal.js";
import { repeat } from "../work/repeat.js";
import type { CursorStore } from "./cursor-store.js";
import type { DeliveryLog } from "./delivery-log.js";
import { LogRun } from "./log-run.js";
import type { RepairReport } from "./log-run.js";
import { checkOptionNames, invalidOption } from "./provider-api.js";

/** What a repair is made of. */
export interface RepairOptions<SourceName extends string> {
  readonly receiver: Pick<Receiver<SourceName>, "repair" | "repairable">;
  readonly store: CursorStore;
  /** The provider's log, or several: by the name of the source. */
  readonly logs: Readonly<Partial<Record<SourceName, DeliveryLog | readonly DeliveryLog[]>>>;
  /** Where the first run begins. @default it repairs nothing, and remembers when it ran */
  readonly since?: Date;
  /** How far a run reaches back before the last one. @default 300,000 */
  readonly overlapMs?: number;
  /** Most entries of one run beside its overlap; further ones are read by the next, which follows at once. @default 20,000 */
  readonly maxEntries?: number;
  readonly clock?: Clock;
  /** Hears everything. @default each kind of failure once on stderr, and nothing where NODE_ENV is "production" */
  readonly observer?: Observer;
}

/** Reads what providers sent while nobody was there to receive it. */
export interface Repair {
  /** Reads every log once. A log that cannot be read is reported, does not stop the others, and makes the call reject. */
  once(signal?: StopSignal): Promise<readonly RepairReport[]>;
  /** The same at once, and then at an interval, until the signal aborts. */
  keepRepaired(options: { readonly everyMs: number; readonly signal: StopSignal }): Promise<void>;
}

const OPTIONS: OptionNames<RepairOptions<never>> = {
  receiver: true,
  store: true,
  logs: true,
  since: true,
  overlapMs: true,
  maxEntries: true,
  clock: true,
  observer: true,
};
const OVERLAP_MS = 300_000;
const MAX_ENTRIES = 20_000;

/**
 * Makes a repair: at start and on a schedule, the provider's log of our own downtime goes through the receiver. An event that
 * was received is known by its id, so overlap costs nothing.
 *
 * @example
 * const egress = await createEgress();
 * const repair = createRepair({
 *   receiver,
 *   store,
 *   logs: { github: githubLog({ egress, token: createAppJwt, hook: "app" }) },
 * });
 * await repair.keepRepaired({ everyMs: 300_000, signal });
 */
export function createRepair<SourceName extends string>(options: RepairOptions<SourceName>): Repair {
  checkOptionNames("createRepair", options, OPTIONS);
  checkStore("repair", options.store, "readCursor");
  const { overlapMs = OVERLAP_MS, maxEntries = MAX_ENTRIES, since } = options;
  for (const [name, value] of Object.entries({ overlapMs, maxEntries })) {
    if (!Number.isFinite(value) || value < 1)
      throw invalidOption(`${name} is ${value}; expected a number above 0.`);
  }
  if (since !== undefined && Number.isNaN(since.getTime())) throw invalidOption("since is no date.");
  const { receiver, store, clock = systemClock } = options;
  const observer = options.observer ?? unobserved({ part: "repair", handlers: [] });
  const limits = { since, overlapMs, maxEntries };
  const runs = logsOf(options.logs).map(([source, log]) => {
    const repairable = repairableBy(receiver, source, overlapMs);
    return new LogRun({
      source,
      log,
      repairable,
      receiver,
      store,
      clock,
      observer,
      ...limits,
    });
  });
  checkNames(runs);
  return new LogRepair(runs, clock);
}

function logsOf<SourceName extends string>(
  given: RepairOptions<SourceName>["logs"],
): readonly (readonly [SourceName, DeliveryLog])[] {
  const logs = Object.entries(given).flatMap(([source, some]) =>
    [(some ?? []) as DeliveryLog | readonly DeliveryLog[]]
      .flat()
      .map((log) => [source as SourceName, log] as const),
  );
  if (logs.length > 0) return logs;
  throw invalidOption("logs is empty; expected at least one, by the name of its source.");
}

/** Within the overlap everything is read again, so that the receiver has to remember more than that. */
function repairableBy<SourceName extends string>(
  receiver: RepairOptions<SourceName>["receiver"],
  source: SourceName,
  overlapMs: number,
): Repairable {
  const repairable = receiver.repairable(source);
  const { windowS = Infinity } = repairable;
  if (windowS * 1000 > overlapMs) return repairable;
  throw invalidOption(
    `overlapMs is ${overlapMs}, and the source "${source}" remembers events for ${windowS} s: expected less than that, or a ` +
      "longer windowS of the source.",
  );
}

/** Two logs with one cursor would each skip what the other has read. */
function checkNames(runs: readonly LogRun[]): void {
  const names = runs.map(({ cursorName }) => cursorName);
  const twice = names.find((name, n) => names.indexOf(name) !== n);
  if (twice !== undefined)
    throw invalidOption(`two logs are called ${twice}; expected different ones: give each a \`name\`.`);
}

class LogRepair implements Repair {
  readonly #runs: readonly LogRun[];
  readonly #clock: Clock;

  constructor(runs: readonly LogRun[], clock: Clock) {
    this.#runs = runs;
    this.#clock = clock;
  }

  async once(signal?: StopSignal): Promise<readonly RepairReport[]> {
    const reports: RepairReport[] = [];
    const errors: unknown[] = [];
    for (const run of this.#runs) {
      try {
        const report = await run.run(signal);
        if (report !== undefined) reports.push(report);
      } catch (error) {
        errors.push(error);
        run.failed(error);
      }
    }
    if (errors.length > 0) throw errors[0];
    return reports;
  }

  async keepRepaired(options: { everyMs: number; signal: StopSignal }): Promise<void> {
    checkOptionNames("keepRepaired", options, { everyMs: true, signal: true });
    const { everyMs, signal } = options;
    if (!(everyMs > 0 && everyMs <= LONGEST_TIMER_MS))
      throw invalidOption(`everyMs is ${everyMs}; expected milliseconds above 0, up to ${LONGEST_TIMER_MS}.`);
    await repeat({
      everyMs,
      clock: this.#clock,
      signal,
      work: async () => (await this.once(signal)).some(({ more }) => more),
      // `once` has told the observer.
      failed: () => undefined,
    });
  }
}

import { createReceiver } from "posthorn";
import type { Signal } from "posthorn";
import { memoryStore } from "posthorn/memory";
import { github } from "posthorn/providers";
import { createRepair } from "posthorn/repair";
import type { DeliveryLog, LogEntry, RepairOptions } from "posthorn/repair";
import { createFakeClock, TEST_SECRETS } from "posthorn/testing";
import type { Made } from "./provider-apis.js";
import { delivery } from "./repair-promises.js";

export const HOUR_MS = 3_600_000;
export const NOON = Date.parse("2026-11-15T12:00:00Z");
export const SINCE = new Date(NOON - 2 * HOUR_MS);

type Handle = (event: { readonly id: string; readonly data: unknown }) => void | Promise<void>;

interface Given {
  readonly windowS?: number;
  readonly tenant?: string;
  readonly store?: ReturnType<typeof memoryStore>;
  readonly clock?: ReturnType<typeof createFakeClock>;
}

/** A receiver of GitHub's events, and what its handler came to. */
export function setUp({ clock = createFakeClock({ at: NOON }), ...given }: Given = {}) {
  const { store = memoryStore({ clock, environment: "test" }), ...options } = given;
  const world = { applied: [] as string[], data: [] as unknown[], handle: (() => undefined) as Handle };
  const verifier = github({ secrets: TEST_SECRETS.github.verifying, clock });
  const signals: Signal[] = [];
  const receiver = createReceiver({
    store,
    clock,
    sources: { github: { verifier, ...options } },
    observer: () => undefined,
    handlers: {
      "issues.opened": async (event) => {
        await world.handle(event);
        world.applied.push(event.id);
        world.data.push(event.data);
      },
    },
  });
  const observer = (signal: Signal): void => void signals.push(signal);
  const repairOf = (logs: RepairOptions<"github">["logs"], more: Partial<RepairOptions<"github">> = {}) =>
    createRepair({ receiver, store, clock, logs, observer, since: SINCE, ...more });
  return Object.assign(world, { clock, store, receiver, signals, repairOf });
}

/** A log without an API: what it lists, and which deliveries were loaded. */
export function listed(made: () => readonly Made[], over: Partial<DeliveryLog> = {}) {
  const loaded: string[] = [];
  const entryOf = ({ id, at, body, headers = {} }: Made): LogEntry => ({
    id,
    at,
    load() {
      loaded.push(id);
      return Promise.resolve({ headers, body: Buffer.from(body) });
    },
  });
  const log: DeliveryLog = {
    title: "A list",
    name: "list",
    keptMs: 72 * HOUR_MS,
    page: ({ since }) =>
      Promise.resolve({
        entries: made()
          .toReversed()
          .map(entryOf)
          .filter(({ at }) => at >= since),
        next: undefined,
      }),
    ...over,
  };
  return { log, loaded };
}

export const many = (count: number, everyMs = 1000, from = NOON - HOUR_MS): Made[] =>
  Array.from({ length: count }, (_, n) => delivery(n, from + n * everyMs));
export const idsOf = (made: readonly Made[]) => made.map(({ id }) => id);

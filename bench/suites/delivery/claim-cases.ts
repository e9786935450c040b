import type { Claim, DeliveryStore } from "posthorn";
import type { Ratio, WorkCase } from "../../suite.js";
import { publication, sequenceAll } from "./bench-outbox.js";
import type { BenchOutbox } from "./bench-outbox.js";

export const CLAIM = {
  small: "claim of 100 heads, 10,000 pending",
  large: "claim of 100 heads, 1.1 M pending",
} as const;

export const claimRatios: readonly Ratio[] = [
  {
    name: "cost of a claim at 1.1 M pending / at 10,000",
    of: CLAIM.large,
    to: CLAIM.small,
    figure: "p50Ms",
    goal: "<= 1.5",
  },
];

/** So many keys with ten events each, and one key that is stuck with a tenth as many as all of them. */
interface Pending {
  readonly keys: number;
}

// 9,100 + 910, and 1,000,000 + 100,000.
export const SMALL: Pending = { keys: 910 };
export const LARGE: Pending = { keys: 100_000 };
const EVENTS_PER_KEY = 10;

const HEADS = 100;
const CLAIMS = 50;
const WORKER = "wrk_bench";
const LEASE_MS = 30_000;
const RUN = { maxEvents: 8, maxBytes: 1_048_576 };

/** What one claim of 100 heads takes. It is given back after each, outside of what is recorded. */
export function claimCase(name: string, outbox: () => Promise<BenchOutbox>): WorkCase {
  let store: DeliveryStore | undefined;
  return {
    kind: "work",
    group: "claim",
    name,
    async setup() {
      ({ store } = await outbox());
    },
    async run(record) {
      for (let done = 0; done < CLAIMS; done += 1) {
        const startedAt = performance.now();
        const claims = await claimHeads(store as DeliveryStore, HEADS);
        record(performance.now() - startedAt);
        if (claims.length !== HEADS) throw new Error(`Claimed ${claims.length} heads; expected ${HEADS}.`);
        await store?.release(WORKER, []);
      }
      return CLAIMS;
    },
  };
}

async function claimHeads(store: DeliveryStore, limit: number): Promise<readonly Claim[]> {
  const request = {
    worker: WORKER,
    limit,
    leaseMs: LEASE_MS,
    of: { kind: "endpoint" } as const,
    inFlight: new Map(),
    run: RUN,
    alone: false,
  };
  return (await store.claim(request)).claims;
}

const STUCK = "key_stuck";
const EVENTS_PER_PUBLISH = 1000;
const AN_HOUR_MS = 3_600_000;

export async function fillPending(
  outbox: BenchOutbox,
  { keys }: Pending,
  say: (text: string) => void,
): Promise<void> {
  // Alone at first, so that it is what a claim finds.
  await publishMany(outbox, keys, () => STUCK);
  await sequenceAll(outbox.store);
  await stickHead(outbox.store);
  for (let round = 0; round < EVENTS_PER_KEY; round += 1) {
    say(
      `${(keys * round).toLocaleString("en-US")} of ${(keys * EVENTS_PER_KEY).toLocaleString("en-US")} events pending`,
    );
    await publishMany(outbox, keys, (number) => `key_${number}`);
    await sequenceAll(outbox.store);
  }
  await outbox.settleDown();
}

async function publishMany(
  { sender }: BenchOutbox,
  count: number,
  keyOf: (number: number) => string,
): Promise<void> {
  for (let first = 0; first < count; first += EVENTS_PER_PUBLISH) {
    const length = Math.min(EVENTS_PER_PUBLISH, count - first);
    await sender.publish(
      Array.from({ length }, (_, index) => ({ ...publication(0, 1), key: keyOf(first + index) })),
    );
  }
}

/** The head has failed, and is not due for an hour. */
async function stickHead(store: DeliveryStore): Promise<void> {
  const [claim] = await claimHeads(store, 1);
  if (claim?.lane?.key !== STUCK) throw new Error("The stuck key was not there to be claimed.");
  const [head] = claim.run;
  const attempt = {
    sequence: head.sequence,
    round: head.round,
    number: 1,
    startedAt: new Date(),
    durationMs: 1,
    outcome: "refused",
    status: 500,
    error: undefined,
    answer: undefined,
  } as const;
  const rest = { state: "due", afterMs: AN_HOUR_MS, counts: true } as const;
  await store.settle({
    worker: WORKER,
    leaseMs: LEASE_MS,
    run: RUN,
    settlements: [{ claim, attempts: [attempt], acknowledged: 0, rest, next: false }],
  });
}

import type { Case, InboxBench, InboxHarness, OutboxBench, OutboxHarness } from "posthorn/testing";
import type { Claim } from "../../library/src/lanes/lane-store.js";
import { utf8 } from "../../library/src/bytes.js";
import { alike, holds, same } from "../../library/src/testing/conformance/expectation.js";
import {
  apply,
  arrivalOf,
  passTicks,
  rowOf,
  storeOf,
} from "../../library/src/testing/conformance/inbox/harness.js";
import {
  acknowledge,
  addEndpoint,
  claim,
  claimOne,
  eventOf,
  heads,
  outboxOf,
  publish,
  runOf,
  settle,
} from "../../library/src/testing/conformance/outbox/steps.js";

// What the conformance kit leaves to chance, or has no words for, and a planted bug would break.

/** A case that some suite of its own needs. */
export type Targeted = Pick<Case, "name" | "run">;

export const RACING_CLAIMS = "claims of one moment never hold two deliveries of a lane";
export const RACING_SEQUENCERS = "sequencers of one moment give each event one place";
export const ANOTHER_HEAD = "a settlement of another head than the lane's changes nothing";
export const TENANTS_APART = "an id that one tenant has published is new to another";
export const WINDOW_SHORTENED = "a duplicate never makes a window shorter";

const ROUNDS = 40;
const WORKERS = 8;

export function outboxCases<Tx>(harness: OutboxHarness<Tx>): readonly Targeted[] {
  const within = opened(harness as OutboxHarness<unknown>);
  return [
    { name: RACING_CLAIMS, run: () => within(racingClaims) },
    { name: RACING_SEQUENCERS, run: () => within(racingSequencers) },
    { name: ANOTHER_HEAD, run: () => within(anotherHead) },
    { name: TENANTS_APART, run: () => within(tenantsApart) },
  ];
}

export function inboxCases<Tx>(harness: InboxHarness<Tx>): readonly Targeted[] {
  const within = opened(harness as InboxHarness<unknown>);
  return [{ name: WINDOW_SHORTENED, run: () => within(windowShortened) }];
}

function opened<Bench extends { close(): Promise<void> }>(harness: { open(): Promise<Bench> }) {
  return async (check: (bench: Bench) => Promise<void>): Promise<void> => {
    const bench = await harness.open();
    try {
      await check(bench);
    } finally {
      await bench.close();
    }
  };
}

async function racingClaims(bench: OutboxBench): Promise<void> {
  await addEndpoint(bench);
  for (let round = 0; round < ROUNDS; round++) {
    await publish(bench, [`a${round}`, `b${round}`, `c${round}`]);
    const answers = await Promise.all(
      Array.from({ length: WORKERS }, (_, at) => claim(bench, { at, worker: `worker_${at}`, limit: 1 })),
    );
    const held = answers.flatMap(({ claims }) => claims);
    holds(held.length <= 1, `${heads(held)} of one lane are held at once`);
    await emptied(bench, held[0]);
  }
}

/** Delivers what is left of the one lane. */
async function emptied(bench: OutboxBench, held: Claim | undefined): Promise<void> {
  for (let next = held ?? (await claimOne(bench)); ;) {
    const following = await acknowledge(bench, next, { next: true });
    if (following === undefined) return;
    next = following;
  }
}

const BURSTS = 50;
const BURST = 20;

async function racingSequencers(bench: OutboxBench): Promise<void> {
  await addEndpoint(bench);
  const racing = { open: true, turns: 0 };
  const sequence = async (at: number): Promise<void> => {
    for (; racing.open; racing.turns++) await outboxOf(bench, at).sequence();
  };
  const sequencers = [0, 1].map(sequence);
  for (let burst = 0; burst < BURSTS; burst++) {
    const ids = Array.from({ length: BURST }, (_, n) => `e${burst}_${n}`);
    await outboxOf(bench).append(await Promise.all(ids.map((id) => eventOf({ id }))));
    // Both have a go at it: bursts that are written faster than that are one for the sequencers.
    for (const enough = racing.turns + 2; racing.turns < enough;) await new Promise(setImmediate);
  }
  racing.open = false;
  await Promise.all(sequencers);
  await publish(bench, ["last"]);
  const run = { maxEvents: 2 * BURSTS * BURST, maxBytes: 10_000_000 };
  const placed = runOf(await claimOne(bench, { run })).split(" ");
  same(new Set(placed).size, placed.length, "different events among those that have places");
  same(placed.length, BURSTS * BURST + 1, "events that have places");
}

/** As after an older backup was restored: epochs come again, with other heads under them. */
async function anotherHead(bench: OutboxBench): Promise<void> {
  await addEndpoint(bench);
  await publish(bench, ["e1", "e2"]);
  const head = await claimOne(bench);
  const [delivery] = head.run;
  const other: Claim = { ...head, run: [{ ...delivery, sequence: delivery.sequence + 1n }] };
  same((await settle(bench, other, { acknowledged: 1 })).kind, "stale", "the settlement of another head");
  const next = await acknowledge(bench, head, { next: true });
  same(next && heads([next]), "e2", "the lane's next head");
}

async function tenantsApart(bench: OutboxBench): Promise<void> {
  for (const [tenant, text] of [
    ["default", "mine"],
    ["acme", "theirs"],
    ["other", "mine"],
  ] as const) {
    const event = await eventOf({ id: "given", idGiven: true, tenant, body: utf8(text) });
    alike(await outboxOf(bench).append([event]), ["written"], `the publication of ${tenant}`);
  }
}

async function windowShortened(bench: InboxBench): Promise<void> {
  const { tickS } = bench.time;
  const [long, forEver] = [
    { id: "evt_1", windowS: 100 * tickS },
    { id: "evt_2", windowS: undefined },
  ];
  for (const given of [long, forEver]) {
    await apply(bench, await arrivalOf(given));
    const before = await rowOf(bench, await arrivalOf(given));
    await passTicks(bench, 1);
    const moved = await rowOf(bench, await arrivalOf(given));
    // The source was told meanwhile to keep its events for a shorter time.
    storeOf(bench, 0).touch(await arrivalOf({ ...given, windowS: tickS }));
    await storeOf(bench, 0).flush();
    const { keepUntil } = await rowOf(bench, await arrivalOf(given));
    const least = moved.keepUntil ?? before.keepUntil;
    alike(keepUntil, least, `the end of the window of ${given.id}`);
  }
}

import { sha256 } from "#crypto";
import { utf8 } from "../../../bytes.js";
import type { AttemptRecord } from "../../../lanes/attempt-record.js";
import { deliveryIdOf } from "../../../lanes/delivery-id.js";
import { ENDPOINTS } from "../../../lanes/lane-store.js";
import type {
  Claim,
  ClaimAnswer,
  ClaimRequest,
  NextState,
  RunLimits,
  Settled,
  Settlement,
} from "../../../lanes/lane-store.js";
import type { Page, Paged } from "../../../operator/operator-store.js";
import type { Endpoint } from "../../../outbox/endpoint.js";
import type { DeadPolicy } from "../../../lanes/dead.js";
import type { Written } from "../../../outbox/outbox-store.js";
import type { OutgoingEvent } from "../../../outbox/outgoing-event.js";
import { contentToHash } from "../../../outbox/prepare-event.js";
import { DEFAULT_RETRY } from "../../../work/retry-policy.js";
import { alike, holds, print, same, soon } from "../expectation.js";
import type { OutboxBench, OutboxUnderTest } from "./harness.js";

// What the cases do with an outbox, with everything filled in that a case does not care about.

/** In ticks: longer than any case takes by itself, so that no lease ends before its case lets time pass. */
export const LEASE_TICKS = 3;

// A store that forgets what was acknowledged would be delivered from for ever.
const MOST_TURNS = 500;
const ONE: RunLimits = { maxEvents: 1, maxBytes: 1_048_576 };

export function outboxOf({ outboxes }: OutboxBench, at = 0): OutboxUnderTest<unknown> {
  const outbox = outboxes[at % outboxes.length];
  holds(outbox !== undefined, "The harness gave no outbox");
  return outbox;
}

export function passTicks({ time }: OutboxBench, ticks: number): Promise<void> {
  return time.pass(ticks * time.tickS * 1000);
}

/** Lets every lease end. */
export function passLease(bench: OutboxBench): Promise<void> {
  return passTicks(bench, LEASE_TICKS + 1);
}

export function ticksMs({ time }: OutboxBench, ticks: number): number {
  return ticks * time.tickS * 1000;
}

export async function eventOf(
  given: Partial<Omit<OutgoingEvent, "contentHash">> = {},
): Promise<OutgoingEvent> {
  const { id = "e1", idGiven = false, body = utf8(`{"id":${JSON.stringify(id)}}`), ...rest } = given;
  const { type = "order.paid" } = given;
  return {
    tenant: "default",
    source: "app",
    key: "k",
    contentType: "application/json",
    time: new Date(Date.UTC(2030, 0, 1, 12, 0, 0, 7)),
    deliverAt: undefined,
    expiresAt: undefined,
    ...rest,
    type,
    id,
    idGiven,
    body,
    contentHash: idGiven ? await sha256(contentToHash(type, body)) : undefined,
  };
}

export function endpointFor(given: Partial<Endpoint> = {}): Endpoint {
  return {
    id: "ep_a",
    tenant: "default",
    url: "https://example.com/hook",
    secrets: ["whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"],
    sources: ["*"],
    types: ["*"],
    order: "key",
    retry: DEFAULT_RETRY,
    dead: undefined,
    maxInFlight: 64,
    state: "active",
    because: undefined,
    version: 1,
    ...given,
  };
}

export async function addEndpoint(bench: OutboxBench, given: Partial<Endpoint> = {}): Promise<Endpoint> {
  const endpoint = endpointFor(given);
  same(await outboxOf(bench).addEndpoint(endpoint), true, `adding ${endpoint.id}`);
  return endpoint;
}

/** Writes events in one transaction of the host, one call of `write` for each list; `throws` rolls it back. */
export function writeInTransaction(
  bench: OutboxBench,
  calls: readonly (readonly OutgoingEvent[])[],
  throws?: Error,
): Promise<readonly (readonly Written[])[]> {
  const outbox = outboxOf(bench);
  return bench.transaction((tx) => {
    const written: (readonly Written[])[] = [];
    if (outbox.transactions === "synchronous") {
      for (const events of calls) written.push(outbox.write(events, tx) as readonly Written[]);
      if (throws) throw throws;
      return written;
    }
    return (async () => {
      for (const events of calls) written.push(await outbox.write(events, tx));
      if (throws) throw throws;
      return written;
    })();
  });
}

/** Runs `beside` while a transaction that has written the events is open, then commits it. Only where transactions may await. */
export async function whileOpen(
  bench: OutboxBench,
  events: readonly OutgoingEvent[],
  beside: () => Promise<void>,
): Promise<void> {
  await bench.transaction(async (tx) => {
    await outboxOf(bench).write(events, tx);
    await beside();
  });
}

/** Sequences until nothing is left; another process may be at it. */
export async function sequenceAll(bench: OutboxBench): Promise<void> {
  const sequencing = async (): Promise<void> => {
    for (let at = 0; (await outboxOf(bench, at).sequence()).more; at++) await moment();
  };
  await soon(sequencing(), "sequence until nothing is left", bench.patienceMs);
}

/** Appends events of these ids, in one call, and sequences them. */
export async function publish(
  bench: OutboxBench,
  ids: readonly string[],
  given: Partial<OutgoingEvent> = {},
): Promise<void> {
  const { contentHash: _, ...wish } = given;
  const events = await Promise.all(ids.map((id) => eventOf({ ...wish, id })));
  alike(
    await outboxOf(bench).append(events),
    ids.map(() => "written"),
    `append of ${ids.join(", ")}`,
  );
  await sequenceAll(bench);
}

export type ClaimWish = Partial<ClaimRequest> & { readonly at?: number };

export function claim(bench: OutboxBench, wish: ClaimWish = {}): Promise<ClaimAnswer> {
  const { at = 0, ...request } = wish;
  const claiming = outboxOf(bench, at).claim({
    of: ENDPOINTS,
    worker: "worker_1",
    limit: 100,
    leaseMs: ticksMs(bench, LEASE_TICKS),
    inFlight: new Map(),
    run: ONE,
    alone: false,
    ...request,
  });
  return soon(claiming, "claim", bench.patienceMs);
}

/** Claims, and fails unless that gives exactly one. */
export async function claimOne(bench: OutboxBench, wish: ClaimWish = {}): Promise<Claim> {
  const { claims } = await claim(bench, wish);
  const [one] = claims;
  holds(one !== undefined && claims.length === 1, `Claimed ${heads(claims)}, not exactly one`);
  return one;
}

/** Claims as often as it takes to get one: a claim may be busy with what it finds on its way. */
export async function claimSoon(bench: OutboxBench, wish: ClaimWish = {}): Promise<Claim> {
  for (let tries = 0; tries < 3; tries++) {
    const [one] = (await claim(bench, { limit: 1, ...wish })).claims;
    if (one !== undefined) return one;
  }
  throw new Error("Nothing was claimed in three calls, promised one.");
}

/** Fails unless there is nothing to claim. */
export async function claimsNothing(bench: OutboxBench, what: string, wish: ClaimWish = {}): Promise<void> {
  const { claims } = await claim(bench, wish);
  same(heads(claims), "", `claimed ${what}`);
}

/** The ids of the events at the heads of claims, as text. */
export function heads(claims: readonly Claim[]): string {
  return claims.map((each) => each.run[0].event.id).join(" ");
}

/** The ids of all events of a claim, as text. */
export function runOf({ run }: Claim): string {
  return run.map(({ event }) => event.id).join(" ");
}

/** What a worker did with a claim. */
export interface Doing {
  readonly acknowledged?: number;
  readonly rest?: NextState;
  readonly attempts?: readonly AttemptRecord[];
  readonly next?: boolean;
  readonly worker?: string;
  readonly run?: RunLimits;
  readonly at?: number;
}

export function settlementOf(of: Claim, doing: Doing): Settlement {
  const { acknowledged = 0, rest, attempts = attemptsOf(of, doing), next = false } = doing;
  return { claim: of, attempts, acknowledged, rest, next };
}

export async function settle(bench: OutboxBench, of: Claim, doing: Doing): Promise<Settled> {
  const [answer, ...others] = await settleAll(bench, [settlementOf(of, doing)], doing);
  holds(answer !== undefined && others.length === 0, "settle gave not one answer for one settlement");
  return answer;
}

export function settleAll(
  bench: OutboxBench,
  settlements: readonly Settlement[],
  { worker = "worker_1", run = ONE, at = 0 }: Doing = {},
): Promise<readonly Settled[]> {
  const request = { worker, leaseMs: ticksMs(bench, LEASE_TICKS), run, settlements };
  return soon(outboxOf(bench, at).settle(request), "settle", bench.patienceMs);
}

/** Settles, fails unless that counted, and returns the next head. */
export async function settled(bench: OutboxBench, of: Claim, doing: Doing): Promise<Claim | undefined> {
  const answer = await settle(bench, of, doing);
  holds(answer.kind === "settled", `A settlement of ${runOf(of)} came to ${print(answer)}, not to settled`);
  return answer.next;
}

/** Settles all of a claim as acknowledged. */
export function acknowledge(bench: OutboxBench, of: Claim, doing: Doing = {}): Promise<Claim | undefined> {
  return settled(bench, of, { acknowledged: of.run.length, ...doing });
}

/** Settles the head as failed: due again after so many ticks. */
export async function fail(bench: OutboxBench, of: Claim, ticks = 1, counts = true): Promise<void> {
  await settled(bench, of, { rest: { state: "due", afterMs: ticksMs(bench, ticks), counts } });
}

/** Settles the head as dead. */
export async function kill(bench: OutboxBench, of: Claim, policy: DeadPolicy = "halt"): Promise<void> {
  await settled(bench, of, { rest: { state: "dead", because: "exhausted", policy } });
}

/** Claims the head of a lane and settles it as dead. */
export async function killNext(bench: OutboxBench, policy: DeadPolicy = "halt"): Promise<Claim> {
  const head = await claimOne(bench);
  await kill(bench, head, policy);
  return head;
}

/** Delivers everything that is due, and returns the ids of the events in the order of their delivery. */
export async function deliverAll(bench: OutboxBench, wish: ClaimWish = {}): Promise<string> {
  const delivered: string[] = [];
  for (let turn = 0; ; turn++) {
    const { claims } = await claim(bench, wish);
    if (claims.length === 0) return delivered.join(" ");
    holds(turn < MOST_TURNS, `There is still something to deliver after ${heads(claims)}`);
    for (const each of claims) {
      delivered.push(runOf(each));
      await acknowledge(bench, each);
    }
  }
}

/** An instant so many ticks from now by the store's clock, which only the store knows: an event that expires tells it. */
export async function dateAfter(bench: OutboxBench, ticks: number): Promise<Date> {
  const outbox = outboxOf(bench);
  const expiresAt = new Date(Date.UTC(2100, 0, 1));
  await addEndpoint(bench, { id: "ep_clock", tenant: "clock" });
  await publish(bench, ["clock"], { tenant: "clock", expiresAt });
  const { expiresInMs = 0 } = (await claimOne(bench)).run[0];
  await outbox.removeEndpoint("ep_clock");
  return new Date(expiresAt.getTime() - expiresInMs + ticksMs(bench, ticks));
}

/** The attempts that a worker would have made: one for each that was acknowledged, and a refused one where there is a next state. */
export function attemptsOf(of: Claim, { acknowledged = 0, rest }: Doing): readonly AttemptRecord[] {
  const tried = acknowledged + (rest === undefined || rest.state === "cancelled" ? 0 : 1);
  return of.run.slice(0, tried).map(({ sequence, round }, index) => ({
    sequence,
    round,
    number: index === 0 ? of.attempts + 1 : 1,
    startedAt: new Date(Date.UTC(2030, 0, 1, 12, 0, 1)),
    durationMs: 12,
    outcome: index < acknowledged ? "acknowledged" : "refused",
    status: index < acknowledged ? 200 : 500,
    error: undefined,
    answer: undefined,
  }));
}

/** The id of a claim's delivery, by its place in the run. */
export function deliveryIn({ kind, id, run }: Claim, index = 0): string {
  const { sequence } = run[index] ?? run[0];
  return deliveryIdOf(kind === "lane" ? { kind, lane: id, sequence } : { kind, id });
}

/** Everything that a list has, page by page. */
export async function listAll<T>(list: (page: Page) => Promise<Paged<T>>, limit: number): Promise<T[]> {
  const all: T[] = [];
  let page: Paged<T> | undefined;
  for (let turn = 0; turn < MOST_TURNS; turn++) {
    page = await list(page?.next === undefined ? { limit } : { limit, after: page.next });
    holds(page.items.length <= limit, `A page of ${limit} has ${page.items.length} items`);
    all.push(...page.items);
    if (page.next === undefined) return all;
  }
  throw new Error(`The list has no end after ${MOST_TURNS} pages.`);
}

/** The delivery's attempts as text: `round.number outcome`. */
export async function historyOf(bench: OutboxBench, deliveryId: string): Promise<string> {
  const attempts = await outboxOf(bench, 1).attempts(deliveryId);
  return attempts.map(({ round, number, outcome }) => `${round}.${number} ${outcome}`).join(", ");
}

function moment(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 2));
}

/** Without the mark that some stores give to each state of an endpoint. */
export function unmarked<T extends { readonly mark?: string | undefined }>(given: T): Omit<T, "mark"> {
  const { mark: _mark, ...rest } = given;
  return rest;
}

import { setTimeout as sleep } from "node:timers/promises";
import { createSender, generateSecret, standardWebhooks } from "posthorn";
import type { Receiver, ReceivedEvent, Sender } from "posthorn";
import { createAddressGuard, createDispatcher } from "posthorn/dispatch";
import { nodeListener } from "posthorn/node";
import { createFaultProxy } from "posthorn/testing";
import type { FaultProxy, OutboxUnderTest, ProxyFaults } from "posthorn/testing";
import { expect, onTestFinished } from "vitest";
import type { Chance } from "../chance.js";
import { createChance } from "../chance.js";
import { serve } from "./receiving-server.js";

const LOOPBACK = createAddressGuard({ allowHttp: true, allowAddresses: ["127.0.0.0/8"] });

/** What a handler has written, in the order of the commits. */
export interface Effect {
  readonly id: string;
  readonly key: string | undefined;
  readonly sequence: string | undefined;
  readonly after: string | undefined;
  /** Hexadecimal, as it was handled. */
  readonly body: string;
}

/** The receiving end: a receiver, and its effects as the database has them. */
export interface Landing {
  readonly receiver: Receiver;
  readonly effects: () => Promise<readonly Effect[]> | readonly Effect[];
}

export interface PassageOptions {
  readonly outbox: Omit<OutboxUnderTest<never>, "accept" | "apply">;
  /** Makes the receiving end; `source` holds what verifies the sender. */
  readonly land: (source: { readonly sender: ReturnType<typeof standardWebhooks> }) => Landing;
  readonly seed?: number;
}

/** An event on its way, as it was published. */
interface Sent {
  readonly id: string;
  readonly key: string | undefined;
  readonly body: string;
}

const RETRY = { firstMs: 20, factor: 2, capMs: 150, maxAttempts: 100, jitter: 0.2 };
// Short, so that a black hole is left soon; the lease is the least that goes with it.
const DEADLINE_MS = 400;
const LEASE_MS = 6000;
const KEYS = ["a", "b", "c", "d", "e"];
const PATIENCE_MS = 25_000;

/** From our sender over a network on which things go wrong to our receiver. */
export class Passage {
  readonly proxy: FaultProxy;
  readonly chance: Chance;
  readonly sent: Sent[] = [];
  /** How often each outcome of an attempt came. */
  readonly outcomes: Map<string, number>;
  readonly #outbox: Omit<OutboxUnderTest<never>, "accept" | "apply">;
  readonly #sender: Sender<never>;
  readonly #landing: Landing;

  private constructor(
    options: PassageOptions,
    landing: Landing,
    parts: Pick<Passage, "proxy" | "outcomes"> & { readonly sender: Sender<never> },
  ) {
    this.#outbox = options.outbox;
    this.#landing = landing;
    this.proxy = parts.proxy;
    this.#sender = parts.sender;
    this.outcomes = parts.outcomes;
    this.chance = createChance(options.seed ?? 1);
  }

  static async open(options: PassageOptions): Promise<Passage> {
    const secret = generateSecret();
    const landing = options.land({ sender: standardWebhooks({ secrets: secret }) });
    const { port } = await serve(nodeListener(landing.receiver, { source: "sender" }));
    const proxy = await createFaultProxy({ port });
    onTestFinished(() => proxy.close());
    const sender = createSender<never, "asynchronous">({
      store: options.outbox as OutboxUnderTest<never, "asynchronous">,
      guard: LOOPBACK,
    });
    const outcomes = new Map<string, number>();
    const dispatcher = createDispatcher({
      store: options.outbox,
      deadlineMs: DEADLINE_MS,
      leaseMs: LEASE_MS,
      pollMs: 50,
      guard: LOOPBACK,
      observer: (signal) => {
        if (signal.kind === "delivery_attempted")
          outcomes.set(signal.outcome, (outcomes.get(signal.outcome) ?? 0) + 1);
      },
    });
    await sender.endpoints.create({
      id: "ep_1",
      url: `http://127.0.0.1:${proxy.port}/`,
      secrets: secret,
      retry: RETRY,
    });
    await dispatcher.start();
    onTestFinished(() => dispatcher.stop());
    return new Passage(options, landing, { proxy, outcomes, sender });
  }

  /** Publishes so many events, of all keys and of none; some large, none that a parser would leave as it is. */
  async publish(events: number): Promise<void> {
    const batch = Array.from({ length: events }, () => {
      const id = `evt_${this.sent.length}`;
      const key = this.chance.below(6) === 0 ? undefined : this.chance.pick(KEYS);
      const filler = this.chance.bytes(this.chance.below(8) === 0 ? 20_000 : 40).toString("base64");
      const type = this.chance.pick(["steady", "steady", "steady", "flaky"]);
      const body = Buffer.from(`{ "type":"${type}", "odd":"\\u0000", "filler":"${filler}"}\r\n`);
      this.sent.push({ id, key, body: body.toString("hex") });
      return { id, type, body, ...(key === undefined ? {} : { key }) };
    });
    await this.#sender.publish(batch);
  }

  /** Publishes into a fault, and takes it away after some time. */
  async through(faults: ProxyFaults, events = 12): Promise<void> {
    this.proxy.set(faults);
    await this.publish(events);
    await sleep(this.chance.below(DEADLINE_MS));
    if (this.chance.below(3) === 0) this.proxy.cut();
    this.proxy.heal();
  }

  /** Waits until everything has landed, and holds it against what was published. */
  async expectAllLanded(): Promise<void> {
    const endsAt = performance.now() + PATIENCE_MS;
    while ((await this.#landing.effects()).length < this.sent.length && performance.now() < endsAt)
      await sleep(20);
    while ((await this.#outbox.untilDue({ kind: "endpoint" })) !== undefined && performance.now() < endsAt)
      await sleep(20);
    const effects = await this.#landing.effects();
    // One effect each, of exactly the bytes that were published.
    const plain = effects.map(({ id, key, body }) => ({ id, key, body }));
    expect(plain.toSorted(byId)).toEqual(this.sent.toSorted(byId));
    for (const key of KEYS) this.#expectInOrder(key, effects);
    expect((await this.#outbox.deadLetters({ limit: 10 })).items).toEqual([]);
    expect((await this.#outbox.blockedLanes({ limit: 10 })).items).toEqual([]);
    expect(await this.#outbox.untilDue({ kind: "endpoint" })).toBeUndefined();
  }

  #expectInOrder(key: string, effects: readonly Effect[]): void {
    const landed = effects.filter((effect) => effect.key === key);
    expect(landed.map(({ id }) => id)).toEqual(
      this.sent.filter((each) => each.key === key).map(({ id }) => id),
    );
    // Each says that it follows the one before it: a gap would be told here.
    const before = landed.map((_, index) => landed[index - 1]?.sequence);
    expect(landed.map(({ after }) => after)).toEqual(before);
  }
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id.localeCompare(b.id);
}

/** The faults of one run, each at bytes that chance chooses. */
export function everyFault(chance: Chance): readonly ProxyFaults[] {
  const bytes = (): number => chance.below(2000);
  return [
    { latencyMs: 5 + chance.below(40) },
    { resetAfter: { direction: "to_server", bytes: bytes() } },
    { resetAfter: { direction: "to_client", bytes: chance.below(200) } },
    { truncateAfter: { direction: "to_client", bytes: chance.below(150) } },
    { truncateAfter: { direction: "to_server", bytes: bytes() } },
    { blackHole: true },
    { bytesPerSecond: 20_000 },
    { latencyMs: 150, resetAfter: { direction: "to_client", bytes: 10 } },
  ];
}

/** What a handler writes of an event. */
export function effectOf({ id, body, stamp }: ReceivedEvent): Effect {
  const { lane } = stamp ?? {};
  return {
    id,
    key: lane?.key,
    sequence: lane?.sequence.toString(),
    after: lane?.after?.toString(),
    body: Buffer.from(body).toString("hex"),
  };
}

/** Says whether an event is to fail, which flaky ones do at their first run. */
export function createFlakiness(): (event: ReceivedEvent) => void {
  const failed = new Set<string>();
  return ({ id, type }) => {
    if (type !== "flaky" || failed.has(id)) return;
    failed.add(id);
    throw new Error("as asked");
  };
}

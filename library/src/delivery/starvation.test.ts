import { describe, expect, it } from "vitest";
import { createSender } from "../outbox/sender.js";
import { generateSecret } from "../signature/keys/secret.js";
import { memoryStore } from "../stores/memory/store.js";
import { createFakeClock } from "../testing/fake-clock.js";
import type { FakeClock } from "../testing/fake-clock.js";
import { checkDispatcher } from "./dispatcher-options.js";
import { DispatcherRun } from "./dispatcher.js";
import type { EgressAnswer, OutgoingRequest } from "./egress/egress.js";
import { createResolver } from "./egress/resolver.js";
import type { Resolve } from "./egress/resolver.js";

const secret = generateSecret();
const DEADLINE_MS = 15_000;

/** A memory outbox with endpoints that answer after a time of their own, and a log of who was tried, attempt by attempt. */
function setUp(resolverOf?: (clock: FakeClock) => Resolve) {
  const clock = createFakeClock({ at: Date.UTC(2026, 10, 16) });
  const store = memoryStore({ clock, environment: "test" });
  const sender = createSender({ store, clock });
  const tried: string[] = [];
  // What got as far as to be sent, and how many attempts of others had begun by then.
  const sent: { readonly name: string; readonly after: number }[] = [];
  const tookMs = new Map<string, number>();
  const resolve = resolverOf?.(clock);
  const egress = {
    async post({ url }: OutgoingRequest): Promise<EgressAnswer> {
      const name = new URL(url).hostname.split(".")[0] ?? "";
      tried.push(name);
      try {
        await resolve?.(new URL(url).hostname);
      } catch {
        return { outcome: { kind: "unreachable", reason: "dns" }, answer: undefined, durationMs: 9000 };
      }
      sent.push({ name, after: tried.filter((other) => other !== name).length });
      const durationMs = tookMs.get(name) ?? 5;
      await clock.sleep(durationMs);
      const hung = durationMs >= DEADLINE_MS;
      return {
        outcome: hung ? { kind: "unknown", reason: "timeout" } : { kind: "acknowledged", status: 200 },
        answer: undefined,
        durationMs,
      };
    },
    close: () => Promise.resolve(),
  };
  const until = async (isDone: () => boolean): Promise<void> => {
    for (let ms = 0; ms < 1000 && !isDone(); ms += 5) {
      await clock.advance(5);
      // Where nobody sleeps, time alone gives the loop no turn; and signing may take a thread's time.
      await new Promise((turn) => setTimeout(turn, 1));
    }
  };
  const begin = (slots = 128) => new DispatcherRun(store, egress, checkDispatcher({ store, clock, slots }));
  return {
    clock,
    store,
    tried,
    sent,
    begin,
    add: async (name: string, ms: number, tenant?: string): Promise<void> => {
      tookMs.set(name, ms);
      await sender.endpoints.create({
        ...(tenant === undefined ? {} : { tenant }),
        id: `ep_${name}`,
        url: `https://${name}.example.com/`,
        secrets: secret,
        types: [name],
      });
    },
    publish: async (name: string, lanes: number, each = 1, tenant?: string): Promise<void> => {
      for (let lane = 0; lane < lanes; lane++) {
        for (let n = 0; n < each; n++) {
          const event = { type: name, key: `k${lane}`, data: n };
          await sender.publish(tenant === undefined ? event : { ...event, tenant });
        }
      }
    },
    pass: async (ms: number): Promise<void> => {
      for (let n = 0; n < ms; n += 5) await clock.advance(5);
    },
    /** Lets time pass until so many attempts were made of it, or a second has gone by. */
    untilTried: (name: string, count: number): Promise<void> =>
      until(() => tried.filter((each) => each === name).length >= count),
    /** Lets time pass until so many were sent, or a second has gone by. */
    untilSent: (count: number): Promise<void> => until(() => sent.length >= count),
  };
}

/** How many attempts of others began before each attempt of this endpoint. */
function othersBefore(tried: readonly string[], name: string): number[] {
  return tried.flatMap((each, index) =>
    each === name ? [tried.slice(0, index).filter((other) => other !== name).length] : [],
  );
}

describe("an endpoint that answers", () => {
  it("makes its k-th attempt after at most 64 attempts of two endpoints that hang, for each of 50 events", async () => {
    const { clock, tried, begin, add, publish, pass, untilTried } = setUp();
    await add("hang1", DEADLINE_MS);
    await add("hang2", DEADLINE_MS);
    await add("well", 5);
    await publish("hang1", 200);
    await publish("hang2", 200);
    const run = begin();
    const ended = run.untilStopped();
    await pass(1000);
    for (let n = 1; n <= 50; n++) {
      await publish("well", 1);
      await untilTried("well", n);
      expect(othersBefore(tried, "well")).toHaveLength(n);
    }
    expect(Math.max(...othersBefore(tried, "well"))).toBeLessThanOrEqual(64);
    run.stop();
    await clock.until(ended, 500);
  });

  it("makes its k-th attempt after at most 96 attempts of forty endpoints that hang, once it is known to be quick", async () => {
    const { clock, tried, begin, add, publish, pass, untilTried } = setUp();
    await add("well", 5);
    await publish("well", 10);
    const run = begin();
    const ended = run.untilStopped();
    await pass(100);
    expect(tried).toHaveLength(10);
    for (let n = 0; n < 40; n++) await add(`hang${n}`, DEADLINE_MS);
    for (let n = 0; n < 40; n++) await publish(`hang${n}`, 20);
    await pass(1000);
    for (let n = 11; n <= 60; n++) {
      await publish("well", 1);
      await untilTried("well", n);
      expect(othersBefore(tried, "well")).toHaveLength(n);
    }
    expect(Math.max(...othersBefore(tried, "well"))).toBeLessThanOrEqual(96);
    run.stop();
    await clock.until(ended, 500);
  });

  it("makes its first attempt after at most 128 attempts of three whose lanes never end: one run of 8 in each of 16 slots", async () => {
    const { clock, tried, begin, add, publish, pass } = setUp();
    for (const name of ["busy1", "busy2", "busy3"]) {
      await add(name, 5);
      await publish(name, 8, 100);
    }
    await add("new", 5);
    const run = begin(16);
    const ended = run.untilStopped();
    await pass(200);
    const before = tried.length;
    await publish("new", 1);
    while (!tried.includes("new")) await pass(5);
    expect(tried.indexOf("new") - before).toBeLessThanOrEqual(16 * 8);
    run.stop();
    await clock.until(ended, 500);
  });

  it("gives slots back to others that wait, when it holds more than its share and has become slow", async () => {
    const { clock, tried, begin, add, publish, pass } = setUp();
    await add("slow", 2000);
    await publish("slow", 64, 3);
    const run = begin();
    const ended = run.untilStopped();
    await pass(1000);
    // Nobody waits: it holds half of the slots.
    expect(tried).toHaveLength(64);
    for (let n = 0; n < 20; n++) await add(`other${n}`, 2000);
    for (let n = 0; n < 20; n++) await publish(`other${n}`, 20);
    await pass(1500);
    const second = tried.slice(64);
    // Each of the twenty has begun, and the first one holds an eighth of what it had.
    expect(new Set(second).size).toBeGreaterThanOrEqual(20);
    expect(second.filter((name) => name === "slow").length).toBeLessThanOrEqual(8);
    run.stop();
    await clock.until(ended, 500);
  });
});

/** Fills a node of 16 slots with the long lanes of 40 endpoints, and lets them run for a while. */
async function backlog({ add, publish, pass, begin }: ReturnType<typeof setUp>) {
  for (let n = 0; n < 40; n++) {
    await add(`busy${n}`, 5);
    await publish(`busy${n}`, 1, 60);
  }
  const run = begin(16);
  const ended = run.untilStopped();
  await pass(200);
  return { run, ended };
}

describe("beside 40 endpoints whose lanes are long, on a node of 16 slots", () => {
  // One run of 8 in each slot, until one of eight results has given its slot up.
  const MOST = 16 * 8;

  it.each([
    { whose: "the same tenant", tenant: undefined },
    { whose: "another tenant", tenant: "small" },
  ])(
    "a newcomer of $whose makes its k-th attempt after at most 128 attempts of others, for each of 8",
    async (on) => {
      const world = setUp();
      const { clock, tried, add, publish, pass } = world;
      const { run, ended } = await backlog(world);
      await add("new", 5, on.tenant);
      const made = (): number => tried.filter((name) => name === "new").length;
      for (let k = 1; k <= 8; k++) {
        // Until the slot of its last event is another's.
        await pass(15 + 5 * k);
        const before = tried.length;
        await publish("new", 1, 1, on.tenant);
        while (made() < k && tried.length - before <= MOST) await pass(5);
        expect(made()).toBe(k);
        expect(tried.lastIndexOf("new") - before).toBeLessThanOrEqual(MOST);
      }
      run.stop();
      await clock.until(ended, 500);
    },
  );

  it("others of them get slots too, though brief lanes never end", async () => {
    const world = setUp();
    const { clock, tried, add, publish, pass } = world;
    for (let n = 0; n < 40; n++) await add(`brief${n}`, 5);
    const { run, ended } = await backlog(world);
    const before = tried.length;
    for (let round = 0; round < 10; round++) {
      for (let n = 0; n < 40; n++) await publish(`brief${n}`, 2);
      await pass(20);
    }
    const served = new Set(tried.slice(before));
    expect([...served].filter((name) => name.startsWith("brief")).length).toBeGreaterThan(16);
    // More than had a slot: those that are given up go to both in turn.
    expect([...served].filter((name) => name.startsWith("busy")).length).toBeGreaterThan(16);
    run.stop();
    await clock.until(ended, 500);
  });
});

describe("an endpoint whose name can be resolved", () => {
  it("is sent its k-th event after at most 12 attempts of six whose names are dead, for each of 50 events", async () => {
    const { clock, sent, begin, add, publish, pass, untilSent } = setUp((time) => {
      const slowly = silentFor(time, "dead");
      return createResolver({
        query: slowly,
        // As Node does it: four threads for all names.
        system: onThreads(4, slowly),
        inHostsFile: () => Promise.resolve(false),
        clock: time,
      });
    });
    for (let n = 1; n <= 6; n++) {
      await add(`dead${n}`, 5);
      await publish(`dead${n}`, 1);
    }
    await add("well", 5);
    const run = begin();
    const ended = run.untilStopped();
    await pass(100);
    for (let n = 1; n <= 50; n++) {
      await publish("well", 1);
      await untilSent(n);
      expect(sent).toHaveLength(n);
    }
    expect(Math.max(...sent.map(({ after }) => after))).toBeLessThanOrEqual(12);
    run.stop();
    await clock.until(ended, 500);
  });
});

/** Answers at once, and not for 9 s where the name begins so. */
function silentFor(clock: FakeClock, beginning: string): Resolve {
  return async (hostname) => {
    if (!hostname.startsWith(beginning)) return ["192.0.2.1"];
    await clock.sleep(9000);
    throw new Error("queryA ETIMEOUT");
  };
}

function onThreads(threads: number, resolve: Resolve): Resolve {
  let last: readonly Promise<unknown>[] = Array.from({ length: threads }, () => Promise.resolve());
  return (hostname) => {
    const [free = Promise.resolve(), ...others] = last;
    const asked = free.then(() => resolve(hostname));
    last = [...others, asked.catch(() => undefined)];
    return asked;
  };
}

describe("deliveries that must run alone", () => {
  it("are attempted at most twice before the healthy endpoint's 50th attempt, though twenty of them hang", async () => {
    const { clock, store, tried, begin, add, publish, pass } = setUp();
    await add("poison", DEADLINE_MS);
    await publish("poison", 20);
    const lease = {
      limit: 100,
      leaseMs: 1000,
      of: { kind: "endpoint" } as const,
      inFlight: new Map(),
      alone: false,
    };
    for (let lapse = 0; lapse < 3; lapse++) {
      await store.claim({ ...lease, worker: `dead ${lapse}`, run: { maxEvents: 1, maxBytes: 1 } });
      await clock.advance(2000);
    }
    await add("well", 5);
    const run = begin();
    const ended = run.untilStopped();
    for (let n = 1; n <= 50; n++) {
      await publish("well", 1);
      await pass(500);
    }
    expect(othersBefore(tried, "well")).toHaveLength(50);
    expect(Math.max(...othersBefore(tried, "well"))).toBeLessThanOrEqual(2);
    run.stop();
    await clock.until(ended, 500);
  });
});

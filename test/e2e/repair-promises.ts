import { createHmac } from "node:crypto";
import { createReceiver } from "posthorn";
import type { KeeperStore, Receiver } from "posthorn";
import { createEgress } from "posthorn/dispatch";
import { github, stripe } from "posthorn/providers";
import { createRepair, githubLog, stripeLog } from "posthorn/repair";
import type { CursorStore } from "posthorn/repair";
import { TEST_SECRETS } from "posthorn/testing";
import type { FakeClock } from "posthorn/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { githubApi, stripeApi } from "./provider-apis.js";
import type { Made } from "./provider-apis.js";

export const PATH = "/repos/posthorn/example/hooks/7/deliveries";
export const HOOK = { repository: "posthorn/example", id: 7 } as const;

/** A delivery of GitHub's; `exact` says whether the log has the bytes that were signed. */
export function delivery(n: number, at: number, exact = true): Made {
  const body = `{"action":"opened","issue":{"number":${n}}}`;
  const signed = exact ? body : `${body} `;
  const signature = createHmac("sha256", TEST_SECRETS.github.verifying).update(signed).digest("hex");
  return {
    id: `guid-${n}`,
    at: new Date(at),
    body,
    headers: {
      "X-GitHub-Delivery": `guid-${n}`,
      "X-GitHub-Event": "issues",
      "X-Hub-Signature-256": `sha256=${signature}`,
    },
  };
}

function stripeEvent(n: number, at: number): Made {
  const created = Math.floor(at / 1000);
  const object = { id: `in_${n}`, object: "invoice" };
  const body = JSON.stringify({
    id: `evt_${n}`,
    object: "event",
    created,
    type: "invoice.paid",
    data: { object },
  });
  return { id: `evt_${n}`, at: new Date(at), body };
}

/** What GitHub sends: the very bytes, signed. */
function receive(receiver: Receiver<"github">, { headers = {}, body }: Made, more = ""): Promise<unknown> {
  const text = body + more;
  const signature = createHmac("sha256", TEST_SECRETS.github.verifying).update(text).digest("hex");
  const sent = { ...headers, "X-Hub-Signature-256": `sha256=${signature}` };
  return receiver.receive("github", { headers: sent, body: Buffer.from(text) });
}

/** A receiver on some store, with the store's cursors. */
export interface RepairWorld {
  readonly clock: FakeClock;
  readonly store: CursorStore & KeeperStore;
  readonly receiver: Receiver<"github" | "stripe">;
  /** Ids of events in the order in which handlers applied them. */
  applied(): Promise<readonly string[]>;
}

export function sources(clock: FakeClock) {
  return {
    github: github({ secrets: TEST_SECRETS.github.verifying, clock }),
    stripe: stripe({ secrets: TEST_SECRETS.stripe.verifying, clock }),
  };
}

/** A way out that reaches the local servers which stand for providers. */
export function localEgress(): () => Egress {
  let egress: Egress | undefined;
  beforeAll(async () => {
    egress = await createEgress({ allowAddresses: ["127.0.0.1"], allowHttp: true });
  });
  afterAll(() => egress?.close());
  return () => egress as Egress;
}

type Egress = Awaited<ReturnType<typeof createEgress>>;

/** Declares what a repair promises of every store. The world begins empty; it is asked for inside of a test. */
export function promiseRepair(name: string, open: () => Promise<RepairWorld>): void {
  describe(`a receiver on ${name} that was down for an hour`, () => {
    const reach = localEgress();
    it("with 1,000 deliveries at GitHub, 300 of them seen before, applies 700 and doubles none", async () => {
      const world = await open();
      const { clock, receiver, store } = world;
      const log: Made[] = [];
      const api = await githubApi(PATH, () => log);
      const make = () =>
        createRepair({
          receiver,
          store,
          clock,
          logs: {
            github: githubLog({ egress: reach(), token: "ghp_test", hook: HOOK, baseUrl: api.baseUrl }),
          },
        });
      await make().once();
      // The hour before: 300 deliveries arrive by webhook, in the bytes that GitHub sent.
      for (let n = 0; n < 300; n++) {
        const made = delivery(n, clock.now());
        log.push(made);
        await receive(receiver, made);
        await clock.advance(1000);
      }
      expect(await world.applied()).toHaveLength(300);
      // Down: 700 more, of which nobody here knows. Every other one is logged in other bytes than were signed.
      for (let n = 300; n < 1000; n++) {
        log.push(delivery(n, clock.now(), n % 2 === 0));
        await clock.advance(5142);
      }
      expect(log).toHaveLength(1000);
      const [report] = await make().once();
      expect(report).toMatchObject({
        source: "github",
        read: 1000,
        applied: 700,
        duplicate: 300,
        unsettled: 0,
      });
      expect(await world.applied()).toHaveLength(1000);
      expect(new Set(await world.applied()).size).toBe(1000);
      // Oldest first, as they would have come.
      expect((await world.applied()).slice(300)).toEqual(log.slice(300).map(({ id }) => id));
      // Ten pages, and a request of its own for each of the 700, none for those that are known.
      expect(api.asked).toHaveLength(710);
      // Again at once: nothing is applied, and nothing is loaded.
      const [again] = await make().once();
      expect(again).toMatchObject({ applied: 0, unsettled: 0 });
      expect(await world.applied()).toHaveLength(1000);
      expect(api.asked.filter((each) => !each.includes("?")).length).toBe(700);
      // What a person lets GitHub send again is a duplicate, in whatever bytes the log had it.
      for (const made of [log[500], log[501]]) {
        expect(await receive(receiver, made as Made)).toMatchObject({ verdict: "duplicate" });
      }
      expect(await world.applied()).toHaveLength(1000);
    });

    it("stores 20 deliveries at GitHub for a worker, and loads none again while they wait", async () => {
      const { clock, store } = await open();
      const receiver = createReceiver({ mode: "store_first", store, clock, sources: sources(clock) });
      const log = Array.from({ length: 20 }, (_, n) => delivery(n, clock.now() - 60_000 + n * 1000));
      const api = await githubApi(PATH, () => log);
      const logs = {
        github: githubLog({ egress: reach(), token: "ghp_test", hook: HOOK, baseUrl: api.baseUrl }),
      };
      const since = new Date(clock.now() - 120_000);
      const repair = createRepair({ receiver, store, clock, logs, since });
      expect(await repair.once()).toMatchObject([{ read: 20, applied: 20, unsettled: 0 }]);
      expect(await repair.once()).toMatchObject([{ read: 20, duplicate: 20, unsettled: 0 }]);
      expect(api.asked.filter((each) => !each.includes("?"))).toHaveLength(20);
    });

    it("with 250 events at Stripe, 50 of them seen before, applies 200 and doubles none", async () => {
      const world = await open();
      const { clock, receiver, store } = world;
      const log: Made[] = [];
      const api = await stripeApi(() => log);
      const logs = {
        stripe: stripeLog({ egress: reach(), apiKey: "rk_test_fixture", baseUrl: api.baseUrl }),
      };
      await createRepair({ receiver, store, clock, logs }).once();
      for (let n = 0; n < 250; n++) {
        const made = stripeEvent(n, clock.now());
        log.push(made);
        if (n < 50) {
          const t = Math.floor(clock.now() / 1000);
          const mac = createHmac("sha256", TEST_SECRETS.stripe.verifying)
            .update(`${t}.${made.body}`)
            .digest("hex");
          const headers = { "stripe-signature": `t=${t},v1=${mac}` };
          await receiver.receive("stripe", { headers, body: Buffer.from(made.body) });
        }
        await clock.advance(14_400);
      }
      const [report] = await createRepair({ receiver, store, clock, logs }).once();
      expect(report).toMatchObject({ read: 250, applied: 200, duplicate: 50, unsettled: 0, more: false });
      expect(new Set(await world.applied()).size).toBe(250);
      expect(await world.applied()).toHaveLength(250);
      expect(api.asked).toHaveLength(3);
      expect(api.last()).toMatchObject({ authorization: "Bearer rk_test_fixture" });
    });
  });
}

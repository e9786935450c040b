import { utf8 } from "../../../../bytes.js";
import type { AttemptRecord } from "../../../../lanes/attempt-record.js";
import { alike, holds, same } from "../../expectation.js";
import type { OutboxPledge } from "../harness.js";
import {
  LEASE_TICKS,
  addEndpoint,
  attemptsOf,
  claim,
  claimOne,
  dateAfter,
  deliveryIn,
  heads,
  historyOf,
  outboxOf,
  passLease,
  passTicks,
  publish,
  settled,
  ticksMs,
} from "../steps.js";

/** What is kept of attempts, and what they count for. */
export const outboxAttempts: readonly OutboxPledge[] = [
  {
    name: "every attempt is kept with what it came to, and where it went, in order",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      await publish(bench, ["n1"], { key: undefined });
      for (const head of (await claim(bench)).claims) {
        const { sequence } = head.run[0];
        const attempts = ODD_ATTEMPTS.map((each): AttemptRecord => Object.assign({ sequence }, each));
        const rest = { state: "due", afterMs: 0, counts: true } as const;
        await settled(bench, head, { attempts, rest });
        alike(
          await outboxOf(bench, 1).attempts(deliveryIn(head)),
          attempts,
          `the attempts of ${heads([head])}`,
        );
      }
      const counted = (await claim(bench)).claims.map(({ attempts }) => attempts);
      alike(counted, [ODD_ATTEMPTS.length, ODD_ATTEMPTS.length], "how many attempts are counted");
      alike(await outboxOf(bench).attempts("dlv_999_999"), [], "attempts of an unknown delivery");
      alike(await outboxOf(bench).attempts("'; drop table attempt; --"), [], "attempts of no delivery");
    },
  },
  {
    name: "attempts and next state are written together: the attempt's number is the count of the next claim",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      const head = await claimOne(bench);
      const rest = { state: "due", afterMs: 0, counts: true } as const;
      await settled(bench, head, { rest, attempts: attemptsOf(head, { rest }) });
      const again = await claimOne(bench);
      const kept = await outboxOf(bench).attempts(deliveryIn(head));
      same(again.attempts, kept.length, "attempts of the claim");
    },
  },
  {
    name: "an attempt that is settled without a next state is counted, and its delivery is due at once",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1", "e2"]);
      await publish(bench, ["n1"], { key: undefined });
      for (const head of (await claim(bench)).claims) {
        const attempts = attemptsOf(head, { rest: { state: "due", afterMs: 0, counts: true } });
        same(await settled(bench, head, { attempts }), undefined, "the next head");
      }
      const { claims } = await claim(bench, { worker: "worker_2" });
      alike(claims.map((each) => heads([each])).toSorted(), ["e1", "n1"], "what is due");
      for (const each of claims) {
        alike([each.attempts, each.failures], [1, 0], `attempts and failures of ${heads([each])}`);
        same(await historyOf(bench, deliveryIn(each)), "1.1 refused", `attempts of ${heads([each])}`);
      }
    },
  },
  {
    name: "a lapsed attempt starts at its lease's start and lasts as long as the lease",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      await publish(bench, ["n1"], { key: undefined });
      const { claims } = await claim(bench);
      same(claims.length, 2, "how many are claimed");
      await passLease(bench);
      // Found late: the time between the end of a lease and the next claim is nobody's attempt.
      await passTicks(bench, 2);
      same((await claim(bench, { worker: "worker_2" })).claims.length, 2, "how many are claimed again");
      const leasedAt = await dateAfter(bench, -(LEASE_TICKS + 1 + 2));
      for (const each of claims) {
        const [attempt] = await outboxOf(bench).attempts(deliveryIn(each));
        holds(attempt !== undefined, `There is no attempt of ${heads([each])}`);
        const lateMs = attempt.startedAt.getTime() - leasedAt.getTime();
        const what = `The lapsed attempt of ${heads([each])} starts ${lateMs} ms after its lease`;
        holds(Math.abs(lateMs) < ticksMs(bench, 0.25), what);
        same(attempt.durationMs, ticksMs(bench, LEASE_TICKS), `how long that of ${heads([each])} lasted`);
      }
    },
  },
];

const AT = Date.UTC(2030, 5, 1, 12, 0, 0, 123);

const ODD_ATTEMPTS: readonly Omit<AttemptRecord, "sequence">[] = [
  {
    round: 1,
    number: 1,
    startedAt: new Date(AT),
    durationMs: 15_000,
    outcome: "unknown",
    status: undefined,
    error: "timeout",
    answer: undefined,
  },
  {
    round: 1,
    number: 2,
    startedAt: new Date(AT + 20_000),
    durationMs: 0,
    outcome: "refused",
    status: 503,
    error: undefined,
    answer: new Uint8Array([0, 255, 254, 39, 34, 92]),
    details: {
      url: "https://example.com/hooks?tenant=a%20b",
      address: "2001:db8::1",
      requestHeaders: { "webhook-id": "e1", "x-odd": '"é\\' },
      timings: { dnsMs: 1.5, connectMs: 2, tlsMs: 30, firstByteMs: 40.25, totalMs: 41 },
      fingerprint: "status 503",
    },
  },
  {
    round: 1,
    number: 3,
    startedAt: new Date(AT + 40_000),
    durationMs: 7,
    outcome: "unreachable",
    status: undefined,
    error: "dns",
    answer: utf8(""),
    details: {
      url: "https://example.com/",
      address: undefined,
      requestHeaders: undefined,
      timings: { totalMs: 7 },
      fingerprint: undefined,
    },
  },
];

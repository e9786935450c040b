import { describe, expect, it } from "vitest";
import type { AttemptOutcome, AttemptRecord } from "./attempt-record.js";
import {
  acknowledged,
  arms,
  claimed,
  fittingRun,
  isCurrent,
  LAPSES_BEFORE_ALONE,
  leased,
  redriven,
  retried,
  released,
  runsAlone,
  settled,
  skipped,
} from "./lane.js";
import { LANE_RULE } from "./lane-rule.js";
import { cancelledRange } from "./cancelled-range.js";
import type { Lane, LaneChange } from "./lane.js";
import type { ClaimedDelivery, NextState, Settlement } from "./lane-store.js";

// Each row is a row of spec/states.md: a lane as it is read, what happens to it, and what a store has to write. A change
// is shown by what differs from the lane, so that a row says everything and nothing else.

const STARTED = new Date("2026-11-18T00:00:00Z");

/** Three deliveries wait, the head is 7, nothing happened to it yet; 5 was acknowledged and 6 skipped. */
const WAITING: Lane = {
  kind: "lane",
  state: "flowing",
  epoch: 4n,
  head: 7n,
  end: 10n,
  last: 5n,
  round: 1,
  attempts: 0,
  failures: 0,
  lapses: 0,
  suspectUntil: undefined,
  skipIntended: false,
  blocked: false,
  lease: undefined,
};
const leaseOf = (run: number): Lane["lease"] => ({ startedAt: STARTED, durationMs: 30_000, run });
const LEASED: Lane = { ...WAITING, lease: leaseOf(1) };
const FAILING: Lane = { ...WAITING, attempts: 2, failures: 2, blocked: true };
/** The last delivery of its lane. */
const ONLY: Partial<Lane> = { end: 8n };
const LOOSE: Lane = { ...WAITING, kind: "loose", head: 0n, end: 1n, last: undefined };

/** What a head begins with that has just got its place. */
const FRESH = { attempts: 0, failures: 0, lapses: 0, skipIntended: false };

function differences(lane: Lane, change: LaneChange): Record<string, unknown> {
  const { tried, dead, cancelled, disabled, leasable, blocked, readyAfterMs, ...row } = change;
  const told: Record<string, unknown> = { readyAfterMs };
  for (const [name, value] of Object.entries(row)) {
    if (value !== lane[name as keyof Lane]) told[name] = value;
  }
  if (blocked !== "keep") told["blocked"] = blocked;
  if (tried.length > 0)
    told["tried"] = tried.map((each) => `${each.sequence} #${each.number} ${each.outcome}`);
  if (dead !== undefined) told["dead"] = dead;
  if (cancelled !== undefined) told["cancelled"] = cancelled;
  if (disabled !== undefined) told["disabled"] = disabled;
  if (leasable !== "nothing") told["leasable"] = leasable;
  return told;
}

function attemptOf(
  sequence: bigint,
  number: number,
  outcome: AttemptOutcome,
  status?: number,
): AttemptRecord {
  const rest = { startedAt: STARTED, durationMs: 5, status, error: undefined, answer: undefined };
  return { sequence, round: 1, number, outcome, ...rest };
}

type Made = Pick<Settlement, "attempts" | "acknowledged" | "rest" | "next">;
const UNTRIED: Made = { attempts: [], acknowledged: 0, rest: undefined, next: false };
const due: NextState = { state: "due", afterMs: 1000, counts: true };

/** One attempt of the head, and what comes of it. */
function failedWith(rest: NextState, status?: number, number = 1): Made {
  return { ...UNTRIED, attempts: [attemptOf(7n, number, "refused", status)], rest };
}

type Row = readonly [what: string, lane: Lane, made: Made, expected: Record<string, unknown>];

function rowsOf(rows: readonly Row[], active = true): void {
  it.each(rows)("%s", (_, lane, made, expected) => {
    expect(differences(lane, settled(lane, made, { active }))).toStrictEqual(expected);
  });
}

describe("a settlement of a delivery that is due", () => {
  rowsOf([
    [
      "acknowledged: delivered, and the next is the head",
      { ...LEASED, attempts: 2, failures: 2, lapses: 1, blocked: true, skipIntended: true },
      { ...UNTRIED, attempts: [attemptOf(7n, 3, "acknowledged", 200)], acknowledged: 1 },
      { ...FRESH, head: 8n, last: 7n, readyAfterMs: 0, blocked: "clear", tried: ["7 #3 acknowledged"] },
    ],
    [
      "acknowledged, the last of its lane: the lane is empty and not due",
      { ...LEASED, ...ONLY },
      { ...UNTRIED, attempts: [attemptOf(7n, 1, "acknowledged", 200)], acknowledged: 1 },
      { head: 8n, last: 7n, readyAfterMs: undefined, blocked: "clear", tried: ["7 #1 acknowledged"] },
    ],
    [
      "refused, unreachable or unknown: due later, one attempt and one failure more, blocked from now on",
      LEASED,
      failedWith(due, 503),
      { attempts: 1, failures: 1, readyAfterMs: 1000, blocked: "now", tried: ["7 #1 refused"] },
    ],
    [
      "refused again: blocked since its first failure",
      { ...FAILING, lease: leaseOf(1) },
      failedWith(due, 503, 3),
      { attempts: 3, failures: 3, readyAfterMs: 1000, tried: ["7 #3 refused"] },
    ],
    [
      "due again without a count: no failure more",
      LEASED,
      failedWith({ ...due, counts: false }, 503),
      { attempts: 1, readyAfterMs: 1000, blocked: "now", tried: ["7 #1 refused"] },
    ],
    [
      "410: due, its endpoint disabled, no failure more",
      LEASED,
      failedWith({ state: "disabled", because: "it answered 410" }, 410),
      { attempts: 1, disabled: "it answered 410", readyAfterMs: 0, blocked: "now", tried: ["7 #1 refused"] },
    ],
    [
      "expired: cancelled without an attempt, and its sequence is consumed",
      LEASED,
      { ...UNTRIED, rest: { state: "cancelled", because: "expired" } },
      { head: 8n, cancelled: { sequence: 7n, because: "expired" }, readyAfterMs: 0, blocked: "clear" },
    ],
    ["given back untried: due at once, nothing counted", LEASED, UNTRIED, { readyAfterMs: 0 }],
    [
      "an attempt without a next state: counted, and due at once",
      LEASED,
      { ...UNTRIED, attempts: [attemptOf(7n, 1, "unknown")] },
      { attempts: 1, readyAfterMs: 0, blocked: "now", tried: ["7 #1 unknown"] },
    ],
  ]);
});

describe("a settlement by which a delivery dies", () => {
  const last = { status: 413, error: undefined };
  const counted = { attempts: 1, failures: 1, tried: ["7 #1 refused"] };
  const dead = { sequence: 7n, because: "refused", attempts: 1, last } as const;
  rowsOf([
    [
      "halt: the lane waits for it, and shows the failure by which it died",
      LEASED,
      failedWith({ state: "dead", because: "refused", policy: "halt" }, 413),
      { ...counted, state: "halted", dead, readyAfterMs: undefined, blocked: "now" },
    ],
    [
      "park: the lane is set aside with it",
      LEASED,
      failedWith({ state: "dead", because: "refused", policy: "park" }, 413),
      { ...counted, state: "parked", dead, readyAfterMs: undefined, blocked: "now" },
    ],
    [
      "skip: the lane goes on past it, and the next begins at 0",
      { ...FAILING, lapses: 2, lease: leaseOf(1) },
      failedWith({ state: "dead", because: "refused", policy: "skip" }, 413, 3),
      {
        attempts: 0,
        failures: 0,
        lapses: 0,
        head: 8n,
        dead: { ...dead, attempts: 3 },
        tried: ["7 #3 refused"],
        readyAfterMs: 0,
        blocked: "clear",
      },
    ],
    [
      "without an attempt (unsendable): no failure more, and nothing is told of a last one",
      { ...FAILING, lease: leaseOf(1) },
      { ...UNTRIED, rest: { state: "dead", because: "unsendable", policy: "halt" } },
      {
        state: "halted",
        dead: { sequence: 7n, because: "unsendable", attempts: 2, last: undefined },
        readyAfterMs: undefined,
      },
    ],
  ]);
});

describe("a settlement of a run", () => {
  const run = { ...LEASED, lease: leaseOf(3) };
  const [first, second] = [attemptOf(7n, 1, "acknowledged", 200), attemptOf(8n, 1, "acknowledged", 200)];
  rowsOf([
    [
      "all acknowledged: the lane is empty",
      run,
      { ...UNTRIED, attempts: [first, second, attemptOf(9n, 1, "acknowledged", 200)], acknowledged: 3 },
      {
        head: 10n,
        last: 9n,
        readyAfterMs: undefined,
        blocked: "clear",
        tried: ["7 #1 acknowledged", "8 #1 acknowledged", "9 #1 acknowledged"],
      },
    ],
    [
      "the second fails: it is the head, with one attempt and one failure of its own",
      { ...run, attempts: 0 },
      { ...UNTRIED, attempts: [first, attemptOf(8n, 1, "refused", 500)], acknowledged: 1, rest: due },
      {
        head: 8n,
        last: 7n,
        attempts: 1,
        failures: 1,
        readyAfterMs: 1000,
        blocked: "now",
        tried: ["7 #1 acknowledged", "8 #1 refused"],
      },
    ],
    [
      "the rest untried: it waits, with nothing counted",
      run,
      { ...UNTRIED, attempts: [first], acknowledged: 1 },
      { head: 8n, last: 7n, readyAfterMs: 0, blocked: "clear", tried: ["7 #1 acknowledged"] },
    ],
  ]);
});

describe("a settlement of a head that an operator wants skipped", () => {
  const wanted = { ...FAILING, skipIntended: true, lease: leaseOf(1) };
  const cancelled = { sequence: 7n, because: "skipped" } as const;
  const gone = { ...FRESH, head: 8n, cancelled, readyAfterMs: 0, blocked: "clear", tried: ["7 #3 refused"] };
  const { lapses: _, ...counted } = gone;
  rowsOf([
    [
      "acknowledged: the skip is void",
      wanted,
      {
        ...UNTRIED,
        attempts: [attemptOf(7n, 3, "acknowledged", 200)],
        acknowledged: 1,
      },
      {
        attempts: 0,
        failures: 0,
        skipIntended: false,
        head: 8n,
        last: 7n,
        readyAfterMs: 0,
        blocked: "clear",
        tried: ["7 #3 acknowledged"],
      },
    ],
    ["a retry: skipped, and nothing waits", wanted, failedWith(due, 503, 3), counted],
    [
      "a death: skipped, and not dead",
      wanted,
      failedWith({ state: "dead", because: "exhausted", policy: "halt" }, 503, 3),
      counted,
    ],
    [
      "410: skipped, and its endpoint is disabled all the same",
      wanted,
      failedWith({ state: "disabled", because: "it answered 410" }, 410, 3),
      { ...counted, disabled: "it answered 410" },
    ],
    [
      "untried: skipped",
      { ...wanted, ...ONLY },
      UNTRIED,
      {
        attempts: 0,
        failures: 0,
        skipIntended: false,
        head: 8n,
        cancelled,
        readyAfterMs: undefined,
        blocked: "clear",
      },
    ],
  ]);
});

describe("a settlement of a delivery without a lane", () => {
  const leasedLoose = { ...LOOSE, lease: leaseOf(1) };
  rowsOf([
    [
      "acknowledged: nothing is left",
      leasedLoose,
      { ...UNTRIED, attempts: [attemptOf(0n, 1, "acknowledged", 200)], acknowledged: 1, next: true },
      { head: 1n, last: 0n, readyAfterMs: undefined, blocked: "clear", tried: ["0 #1 acknowledged"] },
    ],
    ...(["halt", "park", "skip"] as const).map((policy): Row => [
      `dead under ${policy}: it stays where it is, to be redriven`,
      leasedLoose,
      {
        ...UNTRIED,
        attempts: [attemptOf(0n, 1, "refused", 413)],
        rest: { state: "dead", because: "refused", policy },
      },
      {
        state: "halted",
        attempts: 1,
        failures: 1,
        dead: { sequence: 0n, because: "refused", attempts: 1, last: { status: 413, error: undefined } },
        readyAfterMs: undefined,
        blocked: "now",
        tried: ["0 #1 refused"],
      },
    ]),
  ]);
});

describe("what a settlement hands to its worker next", () => {
  const done: Made = {
    ...UNTRIED,
    attempts: [attemptOf(7n, 1, "acknowledged")],
    acknowledged: 1,
    next: true,
  };
  const next = (lane: Lane, made: Made, active = true) => settled(lane, made, { active }).leasable;

  it.each<[string, Lane, Made, LaneChange["leasable"]]>([
    ["a run from the next head on", LEASED, done, "run"],
    ["nothing where it asks for nothing", LEASED, { ...done, next: false }, "nothing"],
    ["nothing of an empty lane", { ...LEASED, ...ONLY }, done, "nothing"],
    ["nothing that is due later", LEASED, { ...failedWith(due, 503), next: true }, "nothing"],
    [
      "the head alone where it was tried before",
      { ...LEASED, attempts: 1 },
      { ...UNTRIED, next: true },
      "head",
    ],
    ["the head alone where a run that lapsed held it", { ...LEASED, suspectUntil: 9n }, done, "head"],
    ["a run again from where no lapsed run held it", { ...LEASED, suspectUntil: 8n }, done, "run"],
    [
      "nothing that must run alone",
      { ...LEASED, lapses: 3, attempts: 3 },
      { ...UNTRIED, next: true },
      "nothing",
    ],
    [
      "nothing of a lane that has stopped",
      LEASED,
      {
        ...failedWith({ state: "dead", because: "refused", policy: "halt" }, 413),
        next: true,
      },
      "nothing",
    ],
    [
      "nothing of an endpoint that it has just disabled",
      LEASED,
      {
        ...failedWith({ state: "disabled", because: "it answered 410" }, 410),
        next: true,
      },
      "nothing",
    ],
    [
      "nothing more of a loose delivery",
      { ...LOOSE, lease: leaseOf(1) },
      { ...UNTRIED, next: true },
      "nothing",
    ],
  ])("%s", (_, lane, made, leasable) => {
    expect(next(lane, made)).toBe(leasable);
  });

  it("nothing of an endpoint that is not active", () => {
    expect(next(LEASED, done, false)).toBe("nothing");
  });
});

describe("an endpoint that answers 410 while it is paused", () => {
  rowsOf(
    [
      [
        "is disabled",
        LEASED,
        failedWith({ state: "disabled", because: "it answered 410" }, 410),
        {
          attempts: 1,
          disabled: "it answered 410",
          readyAfterMs: 0,
          blocked: "now",
          tried: ["7 #1 refused"],
        },
      ],
    ],
    false,
  );
});

describe("an acknowledgement", () => {
  it("is decided by the claim alone: no field of the row is needed", () => {
    const expected = { state: "flowing", head: 10n, last: 9n, ...FRESH, blocked: "clear" };
    expect(acknowledged(7n, 3)).toStrictEqual(expected);
    for (const lane of [LEASED, { ...FAILING, lapses: 3, skipIntended: true, end: 20n, lease: leaseOf(3) }])
      expect(settled(lane, { ...UNTRIED, acknowledged: 3 }, { active: true })).toMatchObject(expected);
  });
});

describe("a claim", () => {
  const request = { alone: false, dead: undefined } as const;
  const rows: readonly (readonly [string, Lane, typeof request | Parameters<typeof claimed>[1], object])[] = [
    ["of a head that was never tried leases a run", WAITING, request, { readyAfterMs: 0, leasable: "run" }],
    ["of a head that was tried leases it alone", FAILING, request, { readyAfterMs: 0, leasable: "head" }],
    [
      "of a head that a lapsed run held leases it alone",
      { ...WAITING, suspectUntil: 8n },
      request,
      { readyAfterMs: 0, leasable: "head" },
    ],
    ["of a loose delivery leases one", LOOSE, request, { readyAfterMs: 0, leasable: "head" }],
    [
      "of what must run alone leases nothing beside others",
      { ...WAITING, lapses: 3, attempts: 3 },
      request,
      { readyAfterMs: 0 },
    ],
    [
      "that asks for what must run alone leases it",
      { ...WAITING, lapses: 3, attempts: 3 },
      { ...request, alone: true },
      { readyAfterMs: 0, leasable: "head" },
    ],
    [
      "that asks for what must run alone leases nothing else",
      WAITING,
      { ...request, alone: true },
      { readyAfterMs: 0 },
    ],
  ];
  it.each(rows)("%s", (_, lane, how, expected) => {
    expect(differences(lane, claimed(lane, how))).toStrictEqual(expected);
  });

  it("writes the epoch that is one more than the row's", () => {
    const identity = {
      kind: "lane",
      id: 12n,
      consumer: { id: "ep_1", version: 3 },
      lane: { generation: 1n, key: "k" },
    } as const;
    const delivery = { sequence: 7n, round: 1 } as ClaimedDelivery;
    expect(leased(identity, claimed(FAILING, request), [delivery])).toEqual({
      ...identity,
      epoch: 5n,
      after: 5n,
      run: [delivery],
      attempts: 2,
      failures: 2,
    });
  });
});

describe("a claim that finds a lease which has ended", () => {
  const lapsedOnce = { lapses: 1, attempts: 1, tried: ["7 #1 lapsed"], blocked: "now", readyAfterMs: 0 };
  const [beside, alone] = [
    { alone: false, dead: undefined },
    { alone: true, dead: undefined },
  ] as const;
  const third = { ...WAITING, lapses: 2, attempts: 2, blocked: true, lease: leaseOf(1) };
  const fourth = { ...third, lapses: 3, attempts: 3, failures: 1 };
  const dead = { sequence: 7n, because: "lease_expired", attempts: 4, last: undefined } as const;
  const killed = { lapses: 4, attempts: 4, tried: ["7 #4 lapsed"], dead, readyAfterMs: undefined };
  const rows: readonly (readonly [string, Lane, Parameters<typeof claimed>[1], object])[] = [
    [
      "records a lapsed attempt, which is no failure, and leases the head alone",
      LEASED,
      beside,
      { ...lapsedOnce, leasable: "head" },
    ],
    [
      "of a run records nothing and charges nobody, and up to its end each goes by itself",
      { ...LEASED, lease: leaseOf(3) },
      beside,
      { suspectUntil: 10n, readyAfterMs: 0, leasable: "head" },
    ],
    [
      "for the third time leaves it to a claim that runs alone",
      third,
      beside,
      { lapses: 3, attempts: 3, tried: ["7 #3 lapsed"], readyAfterMs: 0 },
    ],
    [
      "for the third time, asked alone, leases it",
      third,
      alone,
      { lapses: 3, attempts: 3, tried: ["7 #3 lapsed"], readyAfterMs: 0, leasable: "head" },
    ],
    ["for the fourth time kills it: its lane halts", fourth, alone, { ...killed, state: "halted" }],
    ["kills it also when another process looks", fourth, beside, { ...killed, state: "halted" }],
    ["kills it under park", fourth, { ...alone, dead: "park" }, { ...killed, state: "parked" }],
    [
      "kills it under skip, and leases the next head, but no run",
      fourth,
      { ...beside, dead: "skip" },
      {
        lapses: 0,
        attempts: 0,
        failures: 0,
        head: 8n,
        tried: ["7 #4 lapsed"],
        dead,
        blocked: "clear",
        readyAfterMs: 0,
        leasable: "head",
      },
    ],
    [
      "kills it under skip, and leases nothing to one who asked alone",
      fourth,
      { ...alone, dead: "skip" },
      {
        lapses: 0,
        attempts: 0,
        failures: 0,
        head: 8n,
        tried: ["7 #4 lapsed"],
        dead,
        blocked: "clear",
        readyAfterMs: 0,
      },
    ],
    [
      "kills a loose delivery, which stays where it is",
      { ...LOOSE, lapses: 3, attempts: 3, blocked: true, lease: leaseOf(1) },
      alone,
      {
        state: "halted",
        lapses: 4,
        attempts: 4,
        tried: ["0 #4 lapsed"],
        dead: { ...dead, sequence: 0n },
        readyAfterMs: undefined,
      },
    ],
    [
      "and a skip that was intended: records the lapse, skips, and leases the next head, but no run",
      { ...LEASED, skipIntended: true },
      beside,
      {
        head: 8n,
        skipIntended: false,
        tried: ["7 #1 lapsed"],
        cancelled: { sequence: 7n, because: "skipped" },
        blocked: "clear",
        readyAfterMs: 0,
        leasable: "head",
      },
    ],
    [
      "and a skip that was intended, for the fourth time: skipped, and not dead",
      { ...fourth, ...ONLY, skipIntended: true },
      alone,
      {
        head: 8n,
        lapses: 0,
        attempts: 0,
        failures: 0,
        skipIntended: false,
        tried: ["7 #4 lapsed"],
        cancelled: { sequence: 7n, because: "skipped" },
        blocked: "clear",
        readyAfterMs: undefined,
      },
    ],
  ];
  it.each(rows)("%s", (_, lane, how, expected) => {
    expect(differences(lane, claimed(lane, how))).toStrictEqual(expected);
  });

  it("records the lapsed attempt from the lease's start on, as long as the lease, in the head's round", () => {
    expect(claimed({ ...LEASED, round: 2 }, beside).tried).toEqual([
      {
        sequence: 7n,
        round: 2,
        number: 1,
        startedAt: STARTED,
        durationMs: 30_000,
        outcome: "lapsed",
        status: undefined,
        error: undefined,
        answer: undefined,
      },
    ]);
  });

  it("keeps the epoch: the lease that is given instead raises it", () => {
    expect(claimed(LEASED, beside).epoch).toBe(LEASED.epoch);
  });
});

describe("a settlement is current", () => {
  const run = [{ sequence: 7n }] as unknown as Settlement["claim"]["run"];
  it.each([
    ["under the epoch and the head of the lease", LEASED, 4n, true],
    ["not under an older epoch", LEASED, 3n, false],
    ["not when the lease was ended by somebody", WAITING, 4n, false],
    ["not when the head is another, as after a backup", { ...LEASED, head: 8n }, 4n, false],
  ])("%s", (_, lane, epoch, expected) => {
    expect(isCurrent(lane, { epoch, run })).toBe(expected);
  });
});

function skipOf(lane: Lane, head = 7n, leaseHasEnded = false) {
  return skipped(lane, { head, leaseHasEnded });
}

describe("a skip", () => {
  const cancelled = { sequence: 7n, because: "skipped" } as const;

  it("of another head than the lane's, or of an empty lane, changes nothing", () => {
    expect([skipOf(WAITING, 8n), skipOf(WAITING, 6n), skipOf({ ...WAITING, end: 7n })]).toEqual([
      "unknown",
      "unknown",
      "unknown",
    ]);
  });

  it("of a leased head is intended", () => {
    expect(skipOf(LEASED)).toBe("intended");
  });

  const rows: readonly (readonly [string, Lane, object])[] = [
    [
      "of a head that waits cancels it at once",
      WAITING,
      { head: 8n, cancelled, readyAfterMs: 0, blocked: "clear" },
    ],
    [
      "of a head that is due later makes the next one due now, with fresh numbers",
      FAILING,
      { head: 8n, attempts: 0, failures: 0, cancelled, readyAfterMs: 0, blocked: "clear" },
    ],
    [
      "of the last delivery leaves an empty lane",
      { ...WAITING, ...ONLY },
      { head: 8n, cancelled, readyAfterMs: undefined, blocked: "clear" },
    ],
    [
      "of a dead head leaves it a dead letter, and the lane goes on",
      { ...FAILING, state: "halted" },
      { state: "flowing", head: 8n, attempts: 0, failures: 0, readyAfterMs: 0, blocked: "clear" },
    ],
    [
      "of a head whose lease has ended takes effect under a new epoch, and records its lapsed attempt",
      { ...FAILING, lease: leaseOf(1) },
      {
        epoch: 5n,
        head: 8n,
        attempts: 0,
        failures: 0,
        cancelled,
        tried: ["7 #3 lapsed"],
        readyAfterMs: 0,
        blocked: "clear",
      },
    ],
    [
      "of the head of a run whose lease has ended records no attempt, and the others go one by one",
      { ...LEASED, lease: leaseOf(3) },
      { epoch: 5n, head: 8n, suspectUntil: 10n, cancelled, readyAfterMs: 0, blocked: "clear" },
    ],
  ];
  it.each(rows)("%s", (_, lane, expected) => {
    expect(differences(lane, skipOf(lane, 7n, true) as LaneChange)).toStrictEqual(expected);
  });
});

function cancelOf(lane: Lane, through: bigint, leaseHasEnded = false): unknown {
  const range = cancelledRange(lane, { through, leaseHasEnded });
  return typeof range === "string" ? range : { ...range, change: differences(lane, range.change) };
}

describe("a cancellation", () => {
  it("passes everything from the head to the sequence that is named; what waits behind it is due at once", () => {
    expect(cancelOf(FAILING, 8n)).toEqual({
      change: { head: 9n, attempts: 0, failures: 0, readyAfterMs: 0, blocked: "clear" },
      from: 7n,
      through: 8n,
      dead: undefined,
    });
  });

  it("ends at the end of the lane, which is empty then and not due", () => {
    expect(cancelOf(WAITING, 99n)).toMatchObject({
      change: { head: 10n, readyAfterMs: undefined },
      from: 7n,
      through: 9n,
    });
  });

  it("leaves the dead head to its dead letter, and names it", () => {
    const halted: Lane = { ...FAILING, state: "halted" };
    expect(cancelOf(halted, 9n)).toMatchObject({
      change: { state: "flowing" },
      from: 8n,
      through: 9n,
      dead: 7n,
    });
  });

  it("is only intended while a worker has the head under way, and takes effect under a new epoch once its lease has ended", () => {
    expect(cancelOf(LEASED, 9n)).toBe("intended");
    expect(cancelOf(LEASED, 9n, true)).toMatchObject({ change: { head: 10n, epoch: 5n } });
  });

  it("of what has left the lane, or of an empty lane, changes nothing", () => {
    expect([cancelOf(WAITING, 6n), cancelOf({ ...WAITING, head: 10n }, 12n)]).toEqual(["unknown", "unknown"]);
  });
});

describe("a redrive", () => {
  const deadHead: Lane = { ...FAILING, state: "halted", lapses: 1 };

  it.each<[string, Lane]>([
    ["halted", deadHead],
    ["parked", { ...deadHead, state: "parked" }],
    ["loose", { ...deadHead, kind: "loose" }],
  ])("of a dead head makes it due in its place, in the next round, with fresh numbers: %s", (_, lane) => {
    const change = redriven(lane, 7n);
    expect(change && differences(lane, change)).toEqual({
      state: "flowing",
      round: 2,
      attempts: 0,
      failures: 0,
      lapses: 0,
      readyAfterMs: 0,
      blocked: "clear",
    });
  });

  it("of what is not the dead head of its lane is another's: the delivery goes to the end", () => {
    expect([redriven(deadHead, 6n), redriven(WAITING, 7n)]).toEqual([undefined, undefined]);
  });
});

describe("a retry", () => {
  it.each<[string, Lane]>([
    ["lane", FAILING],
    ["loose", { ...LOOSE, attempts: 1, failures: 1 }],
  ])("of a head that has failed makes it due, with the failures that it has: %s", (_, lane) => {
    const change = retried(lane);
    expect(change && differences(lane, change)).toEqual({ readyAfterMs: 0 });
  });

  it.each<[string, Lane]>([
    ["was never tried", WAITING],
    ["is under way", { ...FAILING, lease: leaseOf(1) }],
    ["is dead", { ...FAILING, state: "halted" }],
    ["is none: the lane is empty", { ...FAILING, end: 7n }],
  ])("changes nothing where the head %s", (_, lane) => {
    expect(retried(lane)).toBeUndefined();
  });
});

describe("a release", () => {
  it("gives a lane back untried, under the next epoch", () => {
    expect(differences(LEASED, released(LEASED))).toEqual({ epoch: 5n, readyAfterMs: 0 });
  });

  it("skips a head that is to be skipped: nobody has it under way any more", () => {
    const lane = { ...FAILING, skipIntended: true, lease: leaseOf(1) };
    expect(differences(lane, released(lane))).toEqual({
      epoch: 5n,
      head: 8n,
      attempts: 0,
      failures: 0,
      skipIntended: false,
      cancelled: { sequence: 7n, because: "skipped" },
      readyAfterMs: 0,
      blocked: "clear",
    });
  });
});

describe("a delivery that is appended", () => {
  it.each([
    ["arms an empty lane", { ...WAITING, end: 7n }, true],
    ["waits behind another", WAITING, false],
    ["waits behind a dead head", { ...WAITING, state: "halted" }, false],
    ["is set aside in a parked lane", { ...WAITING, state: "parked" }, false],
  ] as const)("%s", (_, lane, expected) => {
    expect(arms(lane)).toBe(expected);
  });
});

describe("what has lapsed", () => {
  it("runs alone from the third time on", () => {
    expect(LAPSES_BEFORE_ALONE).toBe(3);
    expect([0, 1, 2, 3, 4].filter((lapses) => runsAlone({ lapses }))).toEqual([3, 4]);
  });
});

describe("a run", () => {
  it.each([
    ["holds as many events as it may", [1, 1, 1, 1], { maxEvents: 3, maxBytes: 100 }, 3],
    ["ends before the event that is too much", [40, 40, 40], { maxEvents: 8, maxBytes: 100 }, 2],
    ["may be filled to the last byte", [50, 50, 1], { maxEvents: 8, maxBytes: 100 }, 2],
    ["holds no small event behind one that is too much", [60, 60, 1], { maxEvents: 8, maxBytes: 100 }, 1],
    ["holds its head, however large that is", [200, 1], { maxEvents: 8, maxBytes: 100 }, 1],
    ["holds its head, whatever the limit of events", [1, 1], { maxEvents: 0, maxBytes: 100 }, 1],
    ["holds what there is", [1, 1], { maxEvents: 8, maxBytes: 100 }, 2],
  ] as const)("%s", (_, sizes, limits, expected) => {
    expect(fittingRun(sizes, limits)).toBe(expected);
  });

  it("is the head alone where the rule says so", () => {
    expect(fittingRun([1, 1, 1], { maxEvents: 3, maxBytes: 100 }, "head")).toBe(1);
  });
});

describe("the rule", () => {
  it("is a table of its decisions, so that a test can replace one", () => {
    expect(LANE_RULE).toEqual({ claimed, settled, isCurrent, skipped, redriven, retried, released, arms });
  });

  it("changes no lane that it is asked about", () => {
    const lane = Object.freeze({ ...FAILING, lease: Object.freeze(leaseOf(1)) }) as Lane;
    claimed(lane, { alone: false, dead: undefined });
    settled(lane, failedWith(due, 503, 3), { active: true });
    skipped(lane, { head: 7n, leaseHasEnded: true });
    released(lane);
    expect(lane).toEqual({ ...FAILING, lease: leaseOf(1) });
  });
});

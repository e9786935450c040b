import { describe, expect, it } from "vitest";
import { createFakeClock } from "../fake-clock.js";
import { checkHistory, createChecker } from "./checker.js";
import type { HistoryReport } from "./checker.js";
import { createHistory } from "./history.js";
import type { History } from "./history.js";
import type { Operations } from "./record.js";
import type { HistoryRecord } from "./record.js";
import { printViolations } from "./report.js";

const event = (id: string) => ({ tenant: "default", source: "app", id });
const hash = (body: string) => `hash of ${body}`;

type Publish = Partial<Operations["publish"]["invoke"]> & { readonly body?: string };
type Arrival = Partial<Operations["receipt"]["invoke"]> & { readonly body?: string };
type Attempt = Partial<Operations["attempt_row"]["ok"]>;
type Row = Partial<Operations["delivery_row"]["ok"]>;

/** Tells a run of one key at one endpoint in a few words. A number is a sequence, and names its event: e1 stands at 1. */
class Story {
  readonly records: HistoryRecord[] = [];
  readonly #history: History = createHistory({
    write: (record) => this.records.push(record),
    clock: createFakeClock(),
  });
  readonly #read = { events: 0, attempts: 0, deliveries: 0, business: 0 };
  #writers = 0;

  constructor(dead: "halt" | "skip" | "park" = "halt") {
    const fields = { endpoint: "ep", dead, maxAttempts: 3, leastWaitMs: 100 };
    this.#history.writer("tester").see("endpoint", fields);
  }

  published(id: string, end: "ok" | "rolled back" | "lost" = "ok", wish: Publish = {}): this {
    const { body = "a", ...rest } = wish;
    const fields = { ...event(id), bodyHash: hash(body), endpoints: ["ep"], beside: false, ...rest };
    const call = this.#writer().invoke("publish", fields);
    if (end === "ok") call.ok({});
    else if (end === "lost") call.unknown("reset");
    else call.fail("rolled back");
    return this;
  }

  /** A receipt at a place, and how it was answered: a status, or not at all. */
  arrived(sequence: number, status: number | "lost" = 200, wish: Arrival = {}): this {
    const { body = "a", ...rest } = wish;
    const call = this.#writer().invoke("receipt", {
      ...event(`e${sequence}`),
      bodyHash: hash(body),
      endpoint: "ep",
      wireId: `id of ${rest.id ?? `e${sequence}`}`,
      attempt: 1,
      replay: false,
      genuine: true,
      place: { key: "k", generation: "1", sequence: String(sequence) },
      after: sequence === 1 ? undefined : String(sequence - 1),
      ...rest,
    });
    if (status === "lost") call.unknown("closed");
    else call.ok({ status });
    return this;
  }

  killed(): this {
    this.#history.writer("tester").see("fault", { what: "kill" });
    return this;
  }

  operated(verb: string): this {
    this.#writer().invoke("operate", { verb, endpoint: "ep", key: "k" }).ok({ answer: "done" });
    return this;
  }

  business(id: string): this {
    this.#read.business++;
    this.#reader().see("business_row", event(id));
    return this;
  }

  stored(id: string, body = "a", wireId = `id of ${id}`): this {
    this.#read.events++;
    this.#reader().see("event_row", { ...event(id), bodyHash: hash(body), wireId });
    return this;
  }

  /** Attempts of an event, as the outbox keeps them: each by its outcome. */
  tried(id: string, outcomes: readonly string[], wish: Attempt = {}): this {
    outcomes.forEach((outcome, index) => {
      this.#read.attempts++;
      const startedAt = 1000 * (index + 1);
      const kept = { endpoint: "ep", round: 1, number: index + 1, outcome, startedAt, durationMs: 10 };
      this.#reader().see("attempt_row", { ...event(id), ...kept, ...wish });
    });
    return this;
  }

  /** A delivery of an event that ended otherwise, or has not ended. */
  left(sequence: number, state: "due" | "dead" | "redriven" | "cancelled", wish: Row = {}): this {
    this.#read.deliveries++;
    const place = { key: "k", generation: "1", sequence: String(sequence) };
    const fields = { ...event(`e${sequence}`), endpoint: "ep", round: 1, state, place, ...wish };
    this.#reader().see("delivery_row", fields);
    return this;
  }

  /** Published, stored, tried once and acknowledged: an event of which nothing is to be said. */
  delivered(...sequences: readonly number[]): this {
    for (const n of sequences) this.published(`e${n}`);
    for (const n of sequences) this.arrived(n);
    for (const n of sequences) this.stored(`e${n}`).tried(`e${n}`, ["acknowledged"]);
    return this;
  }

  check(): HistoryReport {
    this.#reader().see("outbox_read", this.#read);
    return checkHistory(this.records);
  }

  #writer() {
    return this.#history.writer(`writer-${++this.#writers}`);
  }

  #reader() {
    return this.#history.writer("reader");
  }
}

const AGAIN = ["refused", "acknowledged"];
const GIVEN_UP = ["refused", "refused", "refused"];

const kept: readonly (readonly [string, Story])[] = [
  ["nothing at all", new Story()],
  ["three events in order", new Story().delivered(1, 2, 3)],
  ["an event that was rolled back", new Story().published("e1", "rolled back")],
  ["a lost answer to a publication that was not committed", new Story().published("e1", "lost")],
  [
    "a lost answer to a publication that was committed",
    new Story().published("e1", "lost").arrived(1).stored("e1").tried("e1", ["acknowledged"]),
  ],
  [
    "rolled back, then published",
    new Story()
      .published("e1", "rolled back")
      .published("e1")
      .arrived(1)
      .stored("e1")
      .tried("e1", ["acknowledged"]),
  ],
  [
    "a business row beside its event",
    new Story()
      .published("e1", "lost", { beside: true })
      .arrived(1)
      .business("e1")
      .stored("e1")
      .tried("e1", ["acknowledged"]),
  ],
  ["neither a business row nor its event", new Story().published("e1", "lost", { beside: true })],
  [
    "refused at first",
    new Story()
      .published("e1")
      .arrived(1, 503)
      .arrived(1, 200, { attempt: 2 })
      .stored("e1")
      .tried("e1", AGAIN),
  ],
  [
    "sent again by the next worker after a kill, and taken twice",
    new Story()
      .published("e1")
      .arrived(1, 200)
      .killed()
      .arrived(1, 200)
      .stored("e1")
      .tried("e1", ["acknowledged"]),
  ],
  [
    "an attempt of a worker that stood still, after the next worker's next one",
    new Story()
      .published("e1")
      .arrived(1, 503)
      .killed()
      .arrived(1, 503, { attempt: 3 })
      .arrived(1, 200, { attempt: 2 })
      .stored("e1")
      .tried("e1", ["refused", "lapsed", "refused"])
      .tried("e1", ["acknowledged"], { number: 4, startedAt: 4000 }),
  ],
  [
    "an attempt that was given up, and lands after the next one",
    new Story()
      .published("e1")
      .arrived(1, 200, { attempt: 2 })
      .arrived(1, 200, { attempt: 1 })
      .stored("e1")
      .tried("e1", ["unknown", "acknowledged"]),
  ],
  [
    "a late repetition of an event that others have followed",
    new Story().delivered(1, 2).killed().arrived(1, 200, { attempt: 2 }),
  ],
  [
    "lapsed and delivered, without a wait",
    new Story()
      .published("e1")
      .arrived(1, "lost")
      .killed()
      .arrived(1, 200, { attempt: 2 })
      .stored("e1")
      .tried("e1", ["lapsed"], { startedAt: 1000, durationMs: 6000 })
      .tried("e1", ["acknowledged"], { number: 2, startedAt: 7001 }),
  ],
  [
    "dead under skip: its successor tells of the gap",
    new Story("skip")
      .delivered(1)
      .published("e2")
      .arrived(2, 500)
      .arrived(2, 500, { attempt: 2 })
      .arrived(2, 500, { attempt: 3 })
      .stored("e2")
      .tried("e2", GIVEN_UP)
      .left(2, "dead", { because: "exhausted" })
      .published("e3")
      .arrived(3, 200, { after: "1" })
      .stored("e3")
      .tried("e3", ["acknowledged"]),
  ],
  [
    "dead under halt: its successor waits",
    new Story()
      .published("e1")
      .arrived(1, 400)
      .stored("e1")
      .tried("e1", ["refused"])
      .left(1, "dead", { because: "refused" })
      .published("e2")
      .stored("e2")
      .left(2, "due", { because: "halted" }),
  ],
  [
    "dead under halt, and skipped by a person",
    new Story()
      .published("e1")
      .arrived(1, 400)
      .operated("skip")
      .stored("e1")
      .tried("e1", ["refused"])
      .left(1, "dead", { because: "refused" })
      .published("e2")
      .arrived(2, 200, { after: undefined })
      .stored("e2")
      .tried("e2", ["acknowledged"]),
  ],
  [
    "dead, redriven in place and delivered",
    new Story()
      .published("e1")
      .arrived(1, 400)
      .operated("redrive")
      .arrived(1, 200, { replay: true })
      .stored("e1")
      .tried("e1", ["refused"])
      .left(1, "redriven", { because: "refused" })
      .tried("e1", ["acknowledged"], { round: 2 }),
  ],
  [
    "expired: its sequence is passed over, and the gap told",
    new Story()
      .delivered(1)
      .published("e2")
      .stored("e2")
      .left(2, "cancelled", { because: "expired" })
      .published("e3")
      .arrived(3, 200, { after: "1" })
      .stored("e3")
      .tried("e3", ["acknowledged"]),
  ],
  [
    "an event that takes its place when it is due, behind others",
    new Story()
      .published("e2", "ok", { later: true })
      .published("e1")
      .arrived(1)
      .arrived(2)
      .stored("e1")
      .stored("e2")
      .tried("e1", ["acknowledged"])
      .tried("e2", ["acknowledged"]),
  ],
  [
    "events without a key, in any order",
    new Story()
      .published("e1")
      .published("e2")
      .arrived(2, 200, { place: undefined, after: undefined })
      .arrived(1, 200, { place: undefined, after: undefined })
      .stored("e1")
      .stored("e2")
      .tried("e1", ["acknowledged"])
      .tried("e2", ["acknowledged"]),
  ],
  [
    "sequences beyond what a number holds",
    new Story()
      .published("a")
      .published("b")
      .arrived(1, 200, {
        id: "a",
        place: { key: "k", generation: "1", sequence: "9007199254740992" },
      })
      .arrived(2, 200, {
        id: "b",
        place: { key: "k", generation: "1", sequence: "9007199254740993" },
        after: "9007199254740992",
      })
      .stored("a")
      .stored("b")
      .tried("a", ["acknowledged"])
      .tried("b", ["acknowledged"]),
  ],
  [
    "a lane that was made anew",
    new Story()
      .published("e7")
      .arrived(7, 200, { after: undefined })
      .stored("e7")
      .tried("e7", ["acknowledged"])
      .published("e3")
      .arrived(3, 200, { place: { key: "k", generation: "2", sequence: "3" }, after: undefined })
      .stored("e3")
      .tried("e3", ["acknowledged"]),
  ],
];

describe("a history of an outbox that keeps every promise", () => {
  it.each(kept)("passes: %s", (_name, story) => {
    expect(printViolations(story.check())).toBe("");
  });
});

const planted: readonly (readonly [string, string, Story])[] = [
  ["I1", "an event that nobody published", new Story().arrived(1)],
  [
    "I1",
    "an event that was sent before its transaction was rolled back",
    new Story().published("e1", "rolled back").arrived(1),
  ],
  [
    "I1",
    "a row of a transaction that was rolled back",
    new Story().published("e1", "rolled back").stored("e1"),
  ],
  [
    "I5",
    "an event without its business row",
    new Story()
      .published("e1", "lost", { beside: true })
      .arrived(1)
      .stored("e1")
      .tried("e1", ["acknowledged"]),
  ],
  [
    "I5",
    "a business row without its event",
    new Story().published("e1", "lost", { beside: true }).business("e1"),
  ],
  [
    "I5",
    "a business row of a transaction that was rolled back",
    new Story().published("e1", "rolled back", { beside: true }).business("e1"),
  ],
  ["I5", "an event that was published twice", new Story().delivered(1).stored("e1")],
  [
    "I5",
    "a business row that was written twice",
    new Story().published("e1", "ok", { beside: true }).business("e1").business("e1").stored("e1"),
  ],
  ["I6", "a confirmed publication that vanished", new Story().published("e1")],
  ["I6", "a cursor that has passed a late commit", new Story().published("e1", "lost").stored("e1")],
  [
    "I6",
    "an endpoint of two that got nothing",
    new Story()
      .published("e1", "ok", { endpoints: ["ep", "ep_2"] })
      .arrived(1)
      .stored("e1")
      .tried("e1", ["acknowledged"]),
  ],
  [
    "I6",
    "an attempt that failed, and nothing after it",
    new Story().published("e1").arrived(1, 500).stored("e1").tried("e1", ["refused"]),
  ],
  ["I6", "a delivery that waits for nothing", new Story().published("e1").stored("e1").left(1, "due")],
  [
    "I6",
    "delivered and dead at once",
    new Story().delivered(1).left(1, "dead", { because: "lease_expired" }),
  ],
  [
    "I6",
    "recorded as delivered before the endpoint had answered",
    new Story().published("e1").arrived(1, 500).stored("e1").tried("e1", ["acknowledged"]),
  ],
  [
    "I6",
    "an event that went where nobody wanted it",
    new Story()
      .delivered(1)
      .arrived(1, 200, { endpoint: "ep_2" })
      .tried("e1", ["acknowledged"], { endpoint: "ep_2" }),
  ],
  [
    "I7",
    "the second before the first",
    new Story()
      .published("e1")
      .published("e2")
      .arrived(2, 200, { after: undefined })
      .arrived(1)
      .stored("e1")
      .stored("e2")
      .tried("e1", ["acknowledged"])
      .tried("e2", ["acknowledged"]),
  ],
  [
    "I7",
    "a successor that was sent while the first was still refused",
    new Story()
      .published("e1")
      .published("e2")
      .arrived(1, 503)
      .arrived(2)
      .arrived(1, 200, { attempt: 2 })
      .stored("e1")
      .stored("e2")
      .tried("e1", AGAIN)
      .tried("e2", ["acknowledged"]),
  ],
  [
    "I7",
    "a gap of which nobody was told",
    new Story().delivered(1).published("e3").arrived(3).stored("e3").tried("e3", ["acknowledged"]),
  ],
  [
    "I7",
    "a gap that was told and is none",
    new Story()
      .delivered(1, 2)
      .published("e3")
      .arrived(3, 200, { after: "1" })
      .stored("e3")
      .tried("e3", ["acknowledged"]),
  ],
  [
    "I7",
    "a lane that is said to start where it does not",
    new Story()
      .delivered(1)
      .published("e2")
      .arrived(2, 200, { after: undefined })
      .stored("e2")
      .tried("e2", ["acknowledged"]),
  ],
  [
    "I7",
    "two events in one place",
    new Story()
      .delivered(1)
      .published("x")
      .arrived(1, 200, { id: "x" })
      .stored("x")
      .tried("x", ["acknowledged"]),
  ],
  [
    "I7",
    "a lane that did not halt",
    new Story()
      .published("e1")
      .arrived(1, 400)
      .stored("e1")
      .tried("e1", ["refused"])
      .left(1, "dead", { because: "refused" })
      .published("e2")
      .arrived(2, 200, { after: undefined })
      .stored("e2")
      .tried("e2", ["acknowledged"]),
  ],
  [
    "I7",
    "a lane that went on before the person said so",
    new Story()
      .published("e1")
      .arrived(1, 400)
      .stored("e1")
      .tried("e1", ["refused"])
      .left(1, "dead", { because: "refused" })
      .published("e2")
      .arrived(2, 200, { after: undefined })
      .operated("skip")
      .stored("e2")
      .tried("e2", ["acknowledged"]),
  ],
  [
    "I7",
    "an event in front of one that was committed before it was published",
    new Story()
      .published("e2")
      .published("e1")
      .arrived(1)
      .arrived(2)
      .stored("e1")
      .stored("e2")
      .tried("e1", ["acknowledged"])
      .tried("e2", ["acknowledged"]),
  ],
  [
    "I9",
    "two workers with one lease",
    new Story().published("e1").arrived(1).arrived(1).stored("e1").tried("e1", ["acknowledged"]),
  ],
  [
    "I9",
    "two workers with one lease, long after a kill",
    new Story().killed().published("e1").arrived(1).arrived(1).stored("e1").tried("e1", ["acknowledged"]),
  ],
  [
    "I10",
    "an attempt that is missing",
    new Story()
      .published("e1")
      .arrived(1, 500)
      .arrived(1, 200, { attempt: 3 })
      .stored("e1")
      .tried("e1", ["refused"])
      .tried("e1", ["acknowledged"], { number: 3, startedAt: 2000 }),
  ],
  [
    "I10",
    "a stale worker that wrote after the delivery",
    new Story()
      .published("e1")
      .arrived(1)
      .killed()
      .arrived(1, 200, { attempt: 2 })
      .stored("e1")
      .tried("e1", ["acknowledged", "acknowledged"]),
  ],
  [
    "I10",
    "more failures than the policy allows",
    new Story()
      .published("e1")
      .stored("e1")
      .tried("e1", [...GIVEN_UP, "refused"])
      .left(1, "dead"),
  ],
  [
    "I10",
    "an event that was given up too early",
    new Story()
      .published("e1")
      .stored("e1")
      .tried("e1", ["refused", "lapsed", "refused"])
      .left(1, "dead", { because: "exhausted" }),
  ],
  [
    "I10",
    "a retry storm",
    new Story()
      .published("e1")
      .arrived(1, 500)
      .arrived(1, 200, { attempt: 2 })
      .stored("e1")
      .tried("e1", ["refused"])
      .tried("e1", ["acknowledged"], { number: 2, startedAt: 1015 }),
  ],
  [
    "I12",
    "other bytes on the wire",
    new Story().published("e1").arrived(1, 200, { body: "b" }).stored("e1").tried("e1", ["acknowledged"]),
  ],
  [
    "I12",
    "other bytes in the outbox",
    new Story().published("e1").arrived(1).stored("e1", "b").tried("e1", ["acknowledged"]),
  ],
  [
    "I13",
    "a signature that does not hold",
    new Story()
      .published("e1")
      .arrived(1, 200, { genuine: false })
      .stored("e1")
      .tried("e1", ["acknowledged"]),
  ],
  [
    "I13",
    "an id that changes with the attempt",
    new Story()
      .published("e1")
      .arrived(1, 500)
      .arrived(1, 200, { attempt: 2, wireId: "another" })
      .stored("e1")
      .tried("e1", AGAIN),
  ],
];

describe("a history of an outbox that breaks a promise", () => {
  it.each(planted)("is caught by %s: %s", (name, _what, story) => {
    expect(story.check().violations.map(({ invariant }) => invariant)).toContain(name);
  });

  it("is told with the few records that prove it", () => {
    const story = new Story().delivered(1, 2, 3, 4);
    story.published("e5").published("e6").arrived(6, 200, { after: "4" }).arrived(5);
    for (const id of ["e5", "e6"]) story.stored(id).tried(id, ["acknowledged"]);
    const [violation, ...others] = story.check().violations;
    expect(others).toEqual([]);
    expect(violation?.invariant).toBe("I7");
    expect(violation?.witness.map(({ fields }) => "id" in fields && fields.id)).toEqual(["e6", "e5"]);
  });
});

describe("a broken history of an outbox", () => {
  it("is refused when the outbox was not read, or was read only in part", () => {
    const { records } = new Story().delivered(1);
    expect(() => checkHistory(records)).toThrow(/ends without effects_read/);
    const story = new Story().delivered(1);
    story.check();
    const lossy = story.records.filter(({ op }) => op !== "attempt_row");
    expect(() => checkHistory(lossy)).toThrow(/says 1 rows of attempt and follows 0/);
  });

  it("is refused when effects were read and the outbox was not", () => {
    const records: HistoryRecord[] = [];
    const history = createHistory({ write: (record) => records.push(record) });
    const fields = { ...event("e"), bodyHash: "h", endpoints: ["ep"], beside: false };
    history.writer("w").invoke("publish", fields).ok({});
    history.writer("reader").see("effects_read", { rows: 0, counted: 0 });
    expect(() => checkHistory(records)).toThrow(/ends without outbox_read/);
  });
});

/** Checks a history of so many events in ten lanes, and says how long it took. */
function timeOf(events: number): number {
  const checker = createChecker();
  const before = process.cpuUsage();
  const history = createHistory({ write: (record) => checker.observe(record) });
  const writer = history.writer("writer");
  const each = (work: (n: number) => void): void => {
    for (let n = 10; n < events + 10; n++) work(n);
  };
  each((n) => {
    const name = { ...event(`e-${n}`), bodyHash: "h" };
    writer.invoke("publish", { ...name, endpoints: ["ep"], beside: false }).ok({});
    const place = { key: String(n % 10), generation: "1", sequence: String(Math.floor(n / 10)) };
    const after = n < 20 ? undefined : String(Math.floor(n / 10) - 1);
    const wire = { wireId: "id", endpoint: "ep", attempt: 1, replay: false, genuine: true };
    writer.invoke("receipt", { ...name, ...wire, place, after }).ok({ status: 200 });
  });
  const made = { endpoint: "ep", round: 1, number: 1, outcome: "acknowledged", startedAt: 0, durationMs: 0 };
  each((n) => writer.see("event_row", { ...event(`e-${n}`), bodyHash: "h", wireId: "id" }));
  each((n) => writer.see("attempt_row", { ...event(`e-${n}`), ...made }));
  writer.see("outbox_read", { events, attempts: events, deliveries: 0, business: 0 });
  expect(checker.end().violations).toEqual([]);
  // Not by the clock on the wall: others may have the processor.
  return process.cpuUsage(before).user / 1000;
}

describe("the checker of an outbox", () => {
  it("takes time in proportion to the history", () => {
    timeOf(1000);
    const few = Math.min(timeOf(2000), timeOf(2000));
    // Quadratic would be 64 times; the rest is for a busy machine.
    expect(timeOf(16_000)).toBeLessThan(Math.max(few, 5) * 32);
  });
});

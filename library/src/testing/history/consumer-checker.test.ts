import { describe, expect, it } from "vitest";
import { createFakeClock } from "../fake-clock.js";
import { checkHistory, createChecker } from "./checker.js";
import { createHistory } from "./history.js";
import type { History } from "./history.js";
import type { HistoryRecord, Operations } from "./record.js";
import { printViolations } from "./report.js";

const event = (id: string) => ({ tenant: "default", source: "shop", id });
const hash = (body: string) => `hash of ${body}`;

type Sending = Partial<Operations["send"]["invoke"]> & { readonly body?: string };
type Effect = Partial<Operations["effect"]["ok"]> & { readonly body?: string };
type Row = Partial<Operations["handling_row"]["ok"]>;

/** Tells a run of one key at the consumers `books` and `crm` in a few words. */
class Story {
  readonly records: HistoryRecord[] = [];
  readonly #history: History = createHistory({
    write: (record) => this.records.push(record),
    clock: createFakeClock(),
  });
  #writers = 0;
  #effects = 0;
  #stored = 0;

  constructor(consumers: readonly string[] = ["books", "crm"], order: "key" | "none" = "key") {
    for (const consumer of consumers) this.registered(consumer, order);
  }

  registered(consumer: string, order: "key" | "none" = "key"): this {
    this.#history.writer("tester").see("consumer", { consumer, source: "shop", order });
    return this;
  }

  begin(id: string, { body = "a", ...wish }: Sending = {}) {
    const fields = { ...event(id), bodyHash: hash(body), genuine: true, key: "k", ...wish };
    return this.#writer().invoke("send", fields);
  }

  /** A request, and how it was answered: with a verdict, or not at all. */
  sent(
    id: string,
    end: "stored" | "duplicate" | "conflict" | "unavailable" | "lost" = "stored",
    wish: Sending = {},
  ): this {
    const call = this.begin(id, wish);
    if (end === "lost") call.unknown("reset");
    else call.ok({ status: end === "unavailable" ? 503 : 200, verdict: end });
    return this;
  }

  looked(id: string, effects: number): this {
    this.#writer().invoke("look", event(id)).ok({ effects });
    return this;
  }

  /** A person's wish, and what became of it. */
  replayed(id: string, answer = "staged", round = 2, consumer = "books"): this {
    const call = this.#writer().invoke("replay", { ...event(id), consumer, round });
    if (answer === "lost") call.unknown("reset");
    else call.ok({ answer });
    return this;
  }

  /** An effect at a consumer. */
  did(consumer: string, id: string, { body = "a", ...wish }: Effect = {}): this {
    this.#effects++;
    this.#history.writer("reader").see("effect", { ...event(id), bodyHash: hash(body), consumer, ...wish });
    return this;
  }

  /** Effects at both consumers, in this order. */
  both(...ids: readonly string[]): this {
    for (const consumer of ["books", "crm"]) for (const id of ids) this.did(consumer, id);
    return this;
  }

  left(consumer: string, id: string, state: Operations["handling_row"]["ok"]["state"], wish: Row = {}): this {
    this.#history.writer("reader").see("handling_row", { ...event(id), consumer, state, ...wish });
    return this;
  }

  /** A row of the inbox. */
  row(consumer: string, id: string, round = 1, outcome = "success"): this {
    this.#stored++;
    const bytes = { bodyHash: hash("a"), hashColumn: hash("a") };
    this.#history.writer("reader").see("stored", { ...event(id), ...bytes, consumer, round, outcome });
    return this;
  }

  rowsRead(): this {
    this.#history.writer("reader").see("inbox_read", { rows: this.#stored, sources: ["shop"] });
    return this;
  }

  broken(): readonly string[] {
    this.#history.writer("reader").see("effects_read", { rows: this.#effects, counted: this.#effects });
    const report = checkHistory(this.records);
    expect(printViolations(report) === "").toBe(report.violations.length === 0);
    return report.violations.map(({ invariant, found }) => `${invariant}: ${found}`);
  }

  #writer() {
    return this.#history.writer(`writer-${++this.#writers}`);
  }
}

const at = (sequence: number): Sending => ({ sequence: String(sequence) });

describe("a history of stored events that keeps every promise", () => {
  it.each([
    ["nothing at all", new Story()],
    ["two consumers have each event", new Story().sent("e1").sent("e2").both("e1", "e2")],
    ["a duplicate", new Story().sent("e").sent("e", "duplicate").both("e")],
    ["a lost answer, and nothing was stored", new Story().sent("e", "lost")],
    ["a lost answer, and it was stored", new Story().sent("e", "lost").both("e")],
    [
      "a 503 that was stored after all",
      new Story().sent("e", "unavailable").sent("e", "duplicate").both("e"),
    ],
    ["a conflict", new Story().sent("e").sent("e", "conflict", { body: "b" }).both("e")],
    ["an effect long after the reply", new Story().sent("e").looked("e", 0).both("e")],
    [
      "a consumer that was registered later has what came later",
      new Story(["books"]).sent("e1").registered("crm").sent("e2").did("books", "e1").both("e2"),
    ],
    ["a dead letter at one consumer", new Story().sent("e").did("books", "e").left("crm", "e", "dead")],
    ["no handler for its type", new Story().sent("e").did("books", "e").left("crm", "e", "skipped")],
    ["dropped as stale", new Story().sent("e").did("books", "e").left("crm", "e", "dropped")],
    ["it was set aside", new Story().sent("e").left("books", "e", "set_aside").left("crm", "e", "set_aside")],
    [
      "it waits behind a dead letter",
      new Story()
        .sent("e1")
        .sent("e2")
        .did("books", "e1")
        .did("books", "e2")
        .left("crm", "e1", "dead")
        .left("crm", "e2", "due", { because: "halted" }),
    ],
    ["a replay", new Story().sent("e").both("e").replayed("e").did("books", "e", { round: 2 })],
    [
      "a replay whose answer was lost, and that was staged",
      new Story()
        .sent("e")
        .both("e")
        .replayed("e", "lost")
        .replayed("e", "before")
        .did("books", "e", { round: 2 }),
    ],
    [
      "a replay whose answer was lost, and that was not staged",
      new Story().sent("e").both("e").replayed("e", "lost"),
    ],
    [
      "a replay of what waits already, which is promised to nobody",
      new Story().sent("e").both("e").replayed("e", "not_applied"),
    ],
    [
      "a replay that ended as a dead letter",
      new Story().sent("e").both("e").replayed("e").left("books", "e", "dead", { round: 2 }),
    ],
    [
      "a replay comes behind the end of its lane",
      new Story().sent("e1").sent("e2").both("e1", "e2").replayed("e1").did("books", "e1", { round: 2 }),
    ],
    [
      "no order, where none was asked for",
      new Story(["books", "crm"], "none").sent("e1").sent("e2").both("e2", "e1"),
    ],
    ["another order of events that were sent at the same time", atOnce().both("e2", "e1")],
    [
      "another order of an event whose answers were all lost",
      new Story().sent("e1", "lost").sent("e2").both("e2", "e1"),
    ],
    [
      "no order of events without a key",
      new Story()
        .sent("e1", "stored", { key: undefined })
        .sent("e2", "stored", { key: undefined })
        .both("e2", "e1"),
    ],
    [
      "no order among keys",
      new Story().sent("e1", "stored", { key: "a" }).sent("e2", "stored", { key: "b" }).both("e2", "e1"),
    ],
    [
      "another place of an event that was skipped, and redriven",
      new Story(["books"])
        .sent("e1")
        .sent("e2")
        .did("books", "e2")
        .did("books", "e1")
        .left("books", "e1", "cancelled"),
    ],
    [
      "the order of sequences, where it is not that of storing",
      new Story().sent("e2", "stored", at(2)).sent("e1", "stored", at(1)).both("e1", "e2"),
    ],
    [
      "late behind one that was stored before it",
      new Story(["books"])
        .sent("e2", "stored", at(2))
        .sent("e1", "stored", at(1))
        .did("books", "e2")
        .did("books", "e1", { late: true }),
    ],
    [
      "each effect has its row, and rounds before the last are over",
      new Story(["books"])
        .sent("e")
        .replayed("e")
        .did("books", "e")
        .did("books", "e", { round: 2 })
        .row("books", "e", 2)
        .rowsRead(),
    ],
    [
      "a replay that waits",
      new Story(["books"])
        .sent("e")
        .replayed("e")
        .did("books", "e")
        .row("books", "e", 2, "pending")
        .left("books", "e", "due", { round: 2, because: "paused" })
        .rowsRead(),
    ],
  ])("passes: %s", (_name, story) => {
    expect(story.broken()).toEqual([]);
  });
});

/** Two events of a key, each sent before the other was answered. */
function atOnce(): Story {
  const story = new Story();
  const calls = [story.begin("e1"), story.begin("e2")];
  for (const call of calls) call.ok({ status: 200, verdict: "stored" });
  return story;
}

describe("a history of stored events that breaks a promise", () => {
  it.each([
    [
      "I1: an effect at books, which was not to have it",
      new Story(["crm"]).sent("e").did("crm", "e").did("books", "e"),
    ],
    [
      "I1: an effect in round 2 at books, for which nobody has asked",
      new Story().sent("e").both("e").did("books", "e", { round: 2 }),
    ],
    ["I1: an effect of bytes that nobody with the secret has sent", new Story().both("e")],
    ["I2: its work was done twice, at crm", new Story().sent("e").both("e").did("crm", "e")],
    [
      "I2: its work was done twice, at books in round 2",
      new Story()
        .sent("e")
        .both("e")
        .replayed("e")
        .did("books", "e", { round: 2 })
        .did("books", "e", { round: 2 }),
    ],
    [
      "I4: it was refused, and left an effect",
      (() => {
        const story = new Story();
        story.begin("e").ok({ status: 401 });
        return story.both("e");
      })(),
    ],
    [
      "I5: its effect stands without its row, at books",
      new Story(["books"]).sent("e").did("books", "e").rowsRead(),
    ],
    [
      "I5: its effect stands without its row, at books",
      new Story().sent("e").both("e").row("crm", "e").rowsRead(),
    ],
    [
      "I5: its row says success, and its effect is not there, at books in round 2",
      new Story(["books"])
        .sent("e")
        .replayed("e")
        .did("books", "e")
        .row("books", "e", 2)
        .left("books", "e", "due", { round: 2, because: "paused" })
        .rowsRead(),
    ],
    ["I6: it is stored, and crm never had it", new Story().sent("e").did("books", "e")],
    ["I6: it is stored, and books never had it", new Story().sent("e")],
    [
      "I6: it is stored, and books never had it",
      new Story().sent("e", "lost").sent("e", "duplicate").did("crm", "e"),
    ],
    ["I6: it is stored, and crm never had it", new Story().sent("e", "lost").did("books", "e")],
    [
      "I6: it still waits at crm, for nothing",
      new Story().sent("e").did("books", "e").left("crm", "e", "due"),
    ],
    [
      "I6: its replay was granted, and books never had it in round 2",
      new Story().sent("e").both("e").replayed("e"),
    ],
    [
      "I8: it was stored before another of its key was sent, and was applied after that",
      new Story(["books"]).sent("e1").sent("e2").did("books", "e2").did("books", "e1"),
    ],
    [
      "I8: it was stored before another of its key was sent, and was applied after that",
      new Story()
        .sent("e1")
        .sent("e2")
        .sent("e3")
        .did("books", "e1")
        .did("books", "e2")
        .did("books", "e3")
        .did("crm", "e1")
        .did("crm", "e3")
        .did("crm", "e2"),
    ],
    [
      "I8: it was stored before another of its key was sent, and was applied after that",
      new Story(["books"])
        .sent("e2", "lost")
        .sent("e1")
        .sent("e3")
        .did("books", "e3")
        .did("books", "e2")
        .did("books", "e1"),
    ],
    [
      "I8: it was applied after one of a higher sequence, and was not told that it is late",
      new Story(["books"])
        .sent("e1", "stored", at(1))
        .sent("e2", "stored", at(2))
        .did("books", "e2")
        .did("books", "e1"),
    ],
    [
      "I8: it was applied after one of a higher sequence, and was not told that it is late",
      new Story(["books"])
        .sent("e9", "stored", at(9))
        .sent("e10", "stored", at(10))
        .did("books", "e10")
        .did("books", "e9"),
    ],
    [
      "I8: it is told that it is late, and nothing of a higher sequence was sent before it was stored",
      new Story(["books"])
        .sent("e1", "stored", at(1))
        .sent("e2", "stored", at(2))
        .did("books", "e2")
        .did("books", "e1", { late: true }),
    ],
    [
      "I12: other bytes were acknowledged than were handled",
      new Story().sent("e").sent("e", "duplicate", { body: "b" }).both("e"),
    ],
    [
      "I12: its handler got other bytes than were stored",
      new Story(["books"])
        .sent("e", "lost", { body: "b" })
        .sent("e", "lost")
        .did("books", "e", { body: "b" })
        .row("books", "e")
        .rowsRead(),
    ],
  ])("is caught: %s", (found, story) => {
    expect(story.broken()).toEqual([found]);
  });

  it("is refused where events were stored, and nobody is known who was to have them", () => {
    expect(() => new Story([]).sent("e").did("books", "e").broken()).toThrow(/without a consumer of shop/);
  });

  it("is counted: what was replayed, and how", () => {
    const checker = createChecker();
    const story = new Story().sent("e").both("e").replayed("e", "lost").replayed("e", "before");
    for (const record of story.records) checker.observe(record);
    const history = createHistory({ write: (record) => checker.observe({ ...record, n: record.n + 100 }) });
    history.writer("reader").see("effects_read", { rows: 2, counted: 2 });
    expect(Object.fromEntries(checker.end().counts)).toMatchObject({
      "replay.ok.before": 1,
      "replay.unknown": 1,
    });
  });
});

import { describe, expect, it } from "vitest";
import { createFakeClock } from "../fake-clock.js";
import { checkHistory, createChecker } from "./checker.js";
import type { HistoryReport } from "./checker.js";
import { createHistory } from "./history.js";
import type { History } from "./history.js";
import type { HistoryRecord } from "./record.js";
import { printViolations } from "./report.js";

const event = (id: string) => ({ tenant: "default", source: "shop", id });
const hash = (body: string) => `hash of ${body}`;

/** Tells a run in a few words; each request has a sender of its own unless one is named. */
class Story {
  readonly records: HistoryRecord[] = [];
  readonly #history: History = createHistory({
    write: (record) => this.records.push(record),
    clock: createFakeClock(),
  });
  #senders = 0;

  /** A request, and how it ended: a verdict, a status, lost, or never sent. */
  sent(id: string, end: string | number, body = "a", genuine = true): this {
    const call = this.begin(id, body, genuine);
    if (end === "lost") call.unknown("reset");
    else if (end === "unsent") call.fail("refused");
    else if (typeof end === "number") call.ok({ status: end });
    else call.ok({ status: STATUS[end] ?? 200, verdict: end });
    return this;
  }

  begin(id: string, body = "a", genuine = true) {
    const fields = { ...event(id), bodyHash: hash(body), genuine };
    return this.#history.writer(`sender-${++this.#senders}`).invoke("send", fields);
  }

  looked(id: string, effects: number): this {
    this.#history
      .writer(`look-${++this.#senders}`)
      .invoke("look", event(id))
      .ok({ effects });
    return this;
  }

  killed(): this {
    this.#history.writer("parent").see("fault", { what: "kill" });
    return this;
  }

  /** The end of the run: the effect table and the inbox as they were read, each row as `id` or `id=body`. */
  ends(effects: readonly string[], stored?: readonly string[], counted = effects.length): this {
    const reader = this.#history.writer("reader");
    for (const row of effects) reader.see("effect", nameAndHash(row));
    reader.see("effects_read", { rows: effects.length, counted });
    for (const row of stored ?? []) {
      const [name = "", outcome = "success"] = row.split(":");
      const named = nameAndHash(name);
      reader.see("stored", { ...named, outcome, hashColumn: named.bodyHash });
    }
    if (stored) reader.see("inbox_read", { rows: stored.length, sources: ["shop"] });
    return this;
  }

  check(): HistoryReport {
    return checkHistory(this.records);
  }
}

const STATUS: Readonly<Record<string, number>> = { failed: 500, busy: 503, saturated: 503, unavailable: 503 };

function nameAndHash(row: string) {
  const [id = "", body = "a"] = row.split("=");
  return { ...event(id), bodyHash: hash(body) };
}

const broken = (story: Story) =>
  story.check().violations.map(({ invariant, found }) => `${invariant}: ${found}`);

describe("a history that keeps every promise", () => {
  it.each([
    ["applied at once", new Story().sent("e", "applied").ends(["e"], ["e"])],
    [
      "lost answer, then a duplicate",
      new Story().sent("e", "lost").sent("e", "duplicate").ends(["e"], ["e"]),
    ],
    ["lost answer to a request that was applied", new Story().sent("e", "lost").ends(["e"], ["e"])],
    ["lost answer to a request that was not applied", new Story().sent("e", "lost").ends([], [])],
    [
      "killed again and again",
      new Story().sent("e", "lost").killed().sent("e", "unsent").sent("e", "applied").ends(["e"], ["e"]),
    ],
    ["failed, and never came again", new Story().sent("e", "failed").ends([], ["e:failed"])],
    ["failed, then applied", new Story().sent("e", 500).sent("e", "applied").ends(["e"], ["e"])],
    [
      "a commit whose answer was lost: 503, and yet done",
      new Story().sent("e", "unavailable").ends(["e"], ["e"]),
    ],
    ["refused and gone", new Story().sent("e", 401, "a", false).ends([], [])],
    [
      "too large, then sent smaller",
      new Story().sent("e", 413).sent("e", "applied", "b").ends(["e=b"], ["e=b"]),
    ],
    [
      "forged in the name of an event that is applied",
      new Story().sent("e", "applied").sent("e", 401, "x", false).ends(["e"], ["e"]),
    ],
    ["a 429 that was applied after all", new Story().sent("e", 429).ends(["e"], ["e"])],
    ["an event without a handler", new Story().sent("e", "skipped").ends([], ["e:skipped"])],
    ["a conflict", new Story().sent("e", "applied", "a").sent("e", "conflict", "b").ends(["e=a"], ["e=a"])],
    [
      "a body that failed, and another that succeeds",
      new Story().sent("e", "failed", "a").sent("e", "applied", "b").ends(["e=b"], ["e=b"]),
    ],
    [
      "a look before the acknowledgement",
      new Story().looked("e", 0).sent("e", "applied").looked("e", 1).ends(["e"], ["e"]),
    ],
    [
      "no inbox at all, as with dedup in a host's transaction",
      new Story().sent("e", 200).sent("e", 200).ends(["e"]),
    ],
    ["nothing at all", new Story().ends([], [])],
  ])("passes: %s", (_name, story) => {
    expect(broken(story)).toEqual([]);
    expect(printViolations(story.check())).toBe("");
  });

  it("passes: the same id of two sources and two tenants", () => {
    const story = new Story();
    const history = createHistory({ write: (record) => story.records.push(record) });
    const names = [
      { tenant: "a", source: "b", id: "c" },
      { tenant: "a", source: "x", id: "c" },
      { tenant: "x", source: "b", id: "c" },
    ];
    names.forEach((name, index) => {
      const call = history.writer(`s${index}`).invoke("send", { ...name, bodyHash: "h", genuine: true });
      call.ok({ status: 200, verdict: "applied" });
    });
    const reader = history.writer("reader");
    for (const name of names) reader.see("effect", { ...name, bodyHash: "h" });
    reader.see("effects_read", { rows: 3, counted: 3 });
    expect(broken(story)).toEqual([]);
  });

  it("passes: a look that began before the acknowledgement and ended after it", () => {
    const records: HistoryRecord[] = [];
    const history = createHistory({ write: (record) => records.push(record) });
    const send = history.writer("s").invoke("send", { ...event("e"), bodyHash: hash("a"), genuine: true });
    const look = history.writer("l").invoke("look", event("e"));
    send.ok({ status: 200, verdict: "applied" });
    look.ok({ effects: 0 });
    history.writer("reader").see("effect", { ...event("e"), bodyHash: hash("a") });
    history.writer("reader").see("effects_read", { rows: 1, counted: 1 });
    expect(checkHistory(records).violations).toEqual([]);
  });
});

describe("a history that breaks a promise", () => {
  it.each([
    ["I1", "bytes that nobody sent", new Story().sent("e", "applied", "a").ends(["e", "f"], ["e", "f"])],
    ["I1", "an effect of other bytes", new Story().sent("e", "lost", "a").ends(["e=b"])],
    ["I1", "an effect of a forged request", new Story().sent("e", 401, "a", false).ends(["e"])],
    [
      "I1",
      "a forged request was acknowledged",
      new Story().sent("e", "applied", "a").sent("e", "duplicate", "a", false).ends(["e"], ["e"]),
    ],
    [
      "I2",
      "applied twice after a lost answer",
      new Story().sent("e", "lost").sent("e", "applied").ends(["e", "e"], ["e"]),
    ],
    ["I2", "counted twice, with one row", new Story().sent("e", "applied").ends(["e"], ["e"], 2)],
    ["I2", "a row without its increment", new Story().sent("e", "applied").ends(["e"], ["e"], 0)],
    ["I3", "acknowledged and lost", new Story().sent("e", "applied").killed().ends([], [])],
    [
      "I3",
      "called a duplicate of what was never done",
      new Story().sent("e", "lost").sent("e", "duplicate").ends([], []),
    ],
    ["I3", "a success without a verdict, and nothing done", new Story().sent("e", 204).ends([])],
    [
      "I3",
      "acknowledged before the commit",
      new Story().sent("e", "applied").looked("e", 0).ends(["e"], ["e"]),
    ],
    ["I4", "refused, with an effect", new Story().sent("e", 401).ends(["e"])],
    ["I4", "refused, with a row", new Story().sent("e", 413).sent("e", 413).ends([], ["e:failed"])],
    ["I5", "an effect without its row", new Story().sent("e", "lost").ends(["e"], [])],
    ["I5", "a row without its effect", new Story().sent("e", "lost").ends([], ["e"])],
    ["I12", "stored with other bytes", new Story().sent("e", "failed", "a").ends([], ["e=b:failed"])],
    [
      "I12",
      "handled with other bytes than stored",
      new Story().sent("e", "lost", "a").sent("e", "lost", "b").ends(["e=a"], ["e=b"]),
    ],
    [
      "I12",
      "another body called a duplicate",
      new Story().sent("e", "applied", "a").sent("e", "duplicate", "b").ends(["e=a"], ["e=a"]),
    ],
  ])("is caught by %s: %s", (name, _what, story) => {
    expect(story.check().violations.map(({ invariant }) => invariant)).toContain(name);
  });

  it("is caught by I12: a hash beside bytes that have another", () => {
    const story = new Story().sent("e", "applied");
    const n = story.records.length;
    const at = { proc: "reader", incarnation: 0, mono: 0, wall: 0, phase: "ok" } as const;
    const named = { ...event("e"), bodyHash: hash("a") };
    story.records.push(
      { ...at, n: n + 1, op: "effect", fields: named },
      { ...at, n: n + 2, op: "effects_read", fields: { rows: 1, counted: 1 } },
      { ...at, n: n + 3, op: "stored", fields: { ...named, outcome: "success", hashColumn: "other" } },
    );
    expect(broken(story)).toEqual(["I12: its row holds other bytes than its hash says"]);
  });

  it("is told with the event's name and the few records that prove it, in their order", () => {
    const story = new Story();
    for (let other = 0; other < 50; other++)
      story.sent(`other-${other}`, "lost").sent(`other-${other}`, "failed");
    story.sent("e", "lost").sent("e", "applied").sent("e", "duplicate").ends([], []);
    const report = story.check();
    expect(report.violations).toHaveLength(1);
    expect(report.violations[0]?.witness.map(({ op, phase }) => `${op}.${phase}`)).toEqual([
      "send.invoke",
      "send.ok",
    ]);
    expect(printViolations(report).split("\n")).toEqual([
      "1 violations in 208 records",
      "",
      "I3 (an event that was acknowledged has its effect, from before the reply on)",
      "default/shop/e: it was acknowledged and is lost",
      expect.stringMatching(/^ {2}#203 sender-102\/0 \+0\.0 ms send\.invoke \{"tenant":"default"/) as string,
      expect.stringMatching(
        /^ {2}#204 sender-102\/0 .* send\.ok \{"status":200,"verdict":"applied"\}$/,
      ) as string,
    ]);
  });

  it("is told in short where it is broken a thousand times", () => {
    const story = new Story();
    for (let n = 0; n < 1000; n++) story.sent(`e-${n}`, "applied");
    const report = story.ends([], []).check();
    expect(report.violations).toHaveLength(100);
    expect(printViolations(report)).toContain("and 95 more");
  });

  it("is not told where its invariant was not asked for", () => {
    const { records } = new Story().sent("e", "applied").ends([]);
    expect(checkHistory(records, { invariants: ["I1", "I2"] }).violations).toEqual([]);
  });
});

describe("a broken history", () => {
  it("is refused when it goes back", () => {
    const { records } = new Story().sent("e", "applied").ends(["e"]);
    expect(() => checkHistory([...records, ...records])).toThrow(/broken at record 1/);
  });

  it("is refused when something ends that had not begun, or begins twice", () => {
    const { records } = new Story().sent("e", "applied").sent("e", "applied").ends(["e"]);
    expect(() => checkHistory(records.slice(1))).toThrow(/ends what sender-1 had not begun/);
    const [first, , second] = records;
    if (first === undefined || second === undefined) throw new Error("the story is empty");
    expect(() => checkHistory([first, { ...second, proc: "sender-1" }])).toThrow(
      /begins while sender-1 does something else/,
    );
  });

  it("is refused when its end was not read, or was read only in part", () => {
    const story = new Story().sent("e", "applied");
    expect(() => story.check()).toThrow(/ends without effects_read/);
    const { records } = story.ends(["e"], ["e"]);
    expect(() => checkHistory(records.filter(({ op }) => op !== "effect"))).toThrow(
      /says 1 rows and follows 0/,
    );
    expect(() => checkHistory(records.filter(({ op }) => op !== "stored"))).toThrow(
      /says 1 rows and follows 0/,
    );
  });

  it("is not written: a writer has one operation under way, and ends it once", () => {
    const writer = createHistory({ write: () => undefined }).writer("sender");
    const fields = { ...event("e"), bodyHash: "h", genuine: true };
    const call = writer.invoke("send", fields);
    expect(() => writer.invoke("look", event("e"))).toThrow(/has an operation under way/);
    call.unknown("timeout");
    expect(() => call.ok({ status: 200 })).toThrow(/ended twice/);
  });
});

/** Checks a history of so many events with three deliveries each, and says how long it took. */
function timeOf(events: number): number {
  const checker = createChecker();
  const before = process.cpuUsage();
  const history = createHistory({ write: (record) => checker.observe(record) });
  const sender = history.writer("sender");
  const reader = history.writer("reader");
  for (let n = 0; n < events; n++) {
    const name = { ...event(`e-${n}`), bodyHash: "h" };
    for (let delivery = 0; delivery < 3; delivery++)
      sender.invoke("send", { ...name, genuine: true }).ok({ status: 200, verdict: "duplicate" });
  }
  for (let n = 0; n < events; n++) reader.see("effect", { ...event(`e-${n}`), bodyHash: "h" });
  reader.see("effects_read", { rows: events, counted: events });
  expect(checker.end().violations).toEqual([]);
  // Not by the clock on the wall: others may have the processor.
  return process.cpuUsage(before).user / 1000;
}

describe("the checker", () => {
  it("counts what happened, so that a test can tell that it did", () => {
    const story = new Story()
      .sent("e", "lost")
      .killed()
      .sent("e", "unsent")
      .sent("e", "duplicate")
      .ends(["e"], ["e"]);
    expect(Object.fromEntries(story.check().counts)).toMatchObject({
      "send.invoke": 3,
      "send.unknown": 1,
      "send.fail": 1,
      "send.ok.duplicate": 1,
      "fault.kill": 1,
      "effect.ok": 1,
    });
  });

  it("takes requests that are still under way at the end for unanswered", () => {
    const story = new Story();
    story.begin("e");
    expect(broken(story.ends(["e"], ["e"]))).toEqual([]);
  });

  it("takes time in proportion to the history", () => {
    timeOf(2000);
    const few = Math.min(timeOf(4000), timeOf(4000));
    // Quadratic would be 64 times; the rest is for a busy machine.
    expect(timeOf(32_000)).toBeLessThan(Math.max(few, 5) * 32);
  });
});

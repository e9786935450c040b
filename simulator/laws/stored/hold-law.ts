import type { Report } from "../violation.js";
import { called } from "./stored-facts.js";
import type { Fate, KeptEvent, StoredFacts } from "./stored-facts.js";

type Order = NonNullable<Fate["effects"][number]["order"]>;
interface Applied {
  readonly fate: Fate;
  readonly version: number;
  readonly index: number;
  readonly at: number;
  readonly order: Order;
}

/** Events of a key wait for their turn, up to the limits; what was given up is told, and not too soon (W5). */
export class HoldLaw {
  readonly #facts: StoredFacts;
  readonly #report: Report;

  constructor(facts: StoredFacts, report: Report) {
    this.#facts = facts;
    this.#report = report;
  }

  judge(): void {
    if (this.#facts.script.hold === undefined) return;
    for (const consumer of this.#facts.script.consumers) {
      for (const key of this.#facts.keys) {
        const applied = this.#appliedOf(this.#facts.laneOf(consumer.name, key));
        if (consumer.order === "key") this.#judgeOrder(key, applied);
        for (const each of applied) this.#judgeGap(key, each);
        this.#judgeReleases(applied, consumer.order === "key");
      }
    }
  }

  /** What is released lets those go first that are held before it, and they come in time. */
  #judgeReleases(applied: readonly Applied[], isOrdered: boolean): void {
    const byNumber = new Map(applied.map((each) => [each.fate.kept.event.number, each]));
    for (const { record, index } of this.#facts.records) {
      const released = record.kind === "released" ? byNumber.get(record.number) : undefined;
      if (record.kind !== "released" || released === undefined || released.index < index) continue;
      for (const each of record.before.flatMap((number) => byNumber.get(number) ?? [])) {
        const isOvertaken = each.order.late || (isOrdered && each.index > released.index);
        if (isOvertaken)
          this.#report(
            "W5 hold",
            `${called(released.fate)} was released, and has overtaken ${called(each.fate)}, which was held before it`,
          );
      }
    }
  }

  /** First effects, in the order of their commits; of events that stand where they were put first. */
  #appliedOf(lane: readonly Fate[]): readonly Applied[] {
    const applied = lane.flatMap((fate) => {
      const [first] = fate.effects;
      if (first === undefined || fate.isMoved) return [];
      if (first.order === undefined) {
        this.#report("W5 hold", `${called(fate)} was applied without being told its place`);
        return [];
      }
      const { index, at, order } = first;
      return [{ fate, version: fate.kept.event.version, index, at, order }];
    });
    return applied.toSorted((a, b) => a.index - b.index);
  }

  #judgeOrder(key: string, applied: readonly Applied[]): void {
    let highest: number | undefined;
    for (const each of applied) {
      const { fate, version, order } = each;
      const isBehind = highest !== undefined && version < highest;
      if (isBehind && !order.late)
        this.#report(
          "W5 hold",
          `${called(fate)} was applied after ${highest}, and is not told that it is late`,
        );
      if (order.late && !this.#wasPassed(key, each))
        this.#report(
          "W5 hold",
          `${called(fate)} is told that it is late, and none above it was stored before`,
        );
      if (!isBehind && !order.late && highest !== undefined) this.#judgeWait(key, each, highest);
      highest = Math.max(highest ?? 0, version);
    }
  }

  #wasPassed(key: string, { fate, version }: Applied): boolean {
    return this.#keptOf(key).some(({ event, index }) => event.version > version && index < fate.kept.index);
  }

  /** What lies between was stored by then, or given up before this event or before one that has no row. */
  #judgeWait(key: string, { fate, version, index, order }: Applied, from: number): void {
    for (let missing = from + 1; missing < version; missing++) {
      const kept = this.#keptOf(key);
      const isThere = kept.some(({ event, index: at }) => event.version === missing && at < index);
      const isGivenUp = order.gap !== undefined && order.gap.from <= missing && missing <= order.gap.to;
      const isHidden = kept.some(({ event }) => event.version > missing && event.version < version);
      if (isThere || isGivenUp || isHidden) continue;
      this.#report("W5 hold", `${called(fate)} was applied after ${from}, and did not wait for ${missing}`);
    }
  }

  /** Nothing is given up before an event has waited for its time, or as many wait as may. */
  #judgeGap(key: string, { fate, version, at, index, order: { gap } }: Applied): void {
    const { hold } = this.#facts.script;
    if (gap === undefined || hold === undefined) return;
    const kept = this.#keptOf(key);
    for (let missing = Number(gap.from); missing <= Number(gap.to); missing++) {
      const came = kept.find(({ event }) => event.version === missing);
      const boundary = Math.min(at, came?.at ?? Infinity);
      const waiting = kept.filter((each) => each.event.version >= version && each.at < boundary);
      const isTime = waiting.some((each) => each.at + hold.maxMs <= boundary);
      const isNumber = kept.filter((each) => each.event.version > missing && each.at < boundary);
      const isReleased = this.#releasedOf(key, version).some((each) => each < index);
      const isRight =
        gap.because === "operator"
          ? isReleased
          : gap.because === "time"
            ? isTime
            : isNumber.length > hold.maxEvents;
      if (!isRight)
        this.#report("W5 hold", `${called(fate)} did not wait long enough for ${missing}: ${gap.because}`);
    }
  }

  /** When this version of a key, or one behind it, was released. */
  #releasedOf(key: string, version: number): readonly number[] {
    const behind = new Set(
      this.#keptOf(key)
        .filter(({ event }) => event.version >= version)
        .map(({ event }) => event.number),
    );
    return this.#facts.records.flatMap(({ record, index }) =>
      record.kind === "released" && behind.has(record.number) ? [index] : [],
    );
  }

  #keptOf(key: string): readonly KeptEvent[] {
    return this.#facts.kept.filter(({ event }) => event.key === key);
  }
}

import type { Claim, Settled, Settlement } from "../../library/src/lanes/lane-store.js";
import { LAPSES_BEFORE_ALONE } from "../../library/src/lanes/lane.js";
import { parseDeliveryId } from "../../library/src/lanes/delivery-id.js";
import { LaneView } from "./lane-view.js";
import type { Holder } from "./lane-view.js";
import type { Places } from "./places.js";
import { judgeRest } from "./rest-law.js";
import type { EndpointLaw } from "./rest-law.js";
import type { LogRecord, SightingOf } from "../world/run-log.js";
import type { Who } from "../world/who.js";
import type { Report } from "./violation.js";
import type { WireFacts } from "./wire-facts.js";

/** Two instants of a run are the same when they are this close: the steps of virtual time are no whole milliseconds. */
const CLOSE_MS = 0.001;

export interface LaneLawParts {
  readonly report: Report;
  readonly endpoints: ReadonlyMap<string, EndpointLaw>;
  readonly wire: WireFacts;
  readonly places: Places;
}

interface Grant extends Who {
  readonly at: number;
  readonly worker: string;
  readonly leaseMs: number;
  readonly alone: boolean;
}

/** Replays what a database answered, and reports where it broke the laws of leases, order and counting (I7, I9, I10, I11). */
export class LaneLaw {
  readonly #parts: LaneLawParts;
  readonly #lanes = new Map<string, LaneView>();
  readonly #byPlace = new Map<string, LaneView>();
  readonly #states = new Map<string, string>();

  constructor(parts: LaneLawParts) {
    this.#parts = parts;
  }

  get lanes(): Iterable<LaneView> {
    return this.#lanes.values();
  }

  /** The lane of an endpoint and a key, or of an event without one, once it was claimed. */
  laneAt(endpoint: string, key: string | undefined, number: number): LaneView | undefined {
    return this.#byPlace.get(placeName(endpoint, key, number));
  }

  observe(record: LogRecord): void {
    switch (record.kind) {
      case "claim":
        return this.#claim(record, record.at);
      case "settle":
        return this.#settle(record, record.at);
      case "release":
        return this.#release(record);
      case "redrive":
        return this.#redrive(record);
      case "skip":
        return this.#skip(record, record.at);
      case "endpoint":
        this.#states.set(record.id, record.state);
        return;
      case "named":
      case "publish":
      case "published":
      case "post":
      case "arrival":
      case "reply":
      case "answer":
      case "unsent":
      case "fault":
      // What is stored first is judged by laws of its own.
      case "acknowledged":
      case "begun":
      case "over":
      case "threw":
      case "effect":
      case "kept":
      case "leased":
      case "applied":
      case "paused":
      case "resumed":
      case "staged":
      case "redriven":
      case "passed_over":
      case "posted":
      case "acting":
      case "acted":
      case "stepped":
      case "ruled":
      case "forgotten":
      case "released":
      case "marked":
      case "removed":
      case "cancelled":
      case "vanished":
      case "made_by_hand":
      case "reconciled":
    }
  }

  #view(database: number, claim: Pick<Claim, "kind" | "id">): LaneView {
    const name = `${database} ${claim.kind} ${claim.id}`;
    const known = this.#lanes.get(name) ?? new LaneView(database, claim);
    this.#lanes.set(name, known);
    return known;
  }

  #claim({ database, request, claims, node, life }: SightingOf<"claim">, at: number): void {
    const { worker, leaseMs, alone } = request;
    for (const claim of claims) this.#grant(database, claim, { at, worker, leaseMs, alone, node, life });
  }

  #grant(database: number, claim: Claim, grant: Grant): void {
    const view = this.#view(database, claim);
    view.endpoint = claim.consumer.id;
    view.key = claim.lane?.key;
    this.#judgeLease(view, claim, grant);
    this.#judgeHead(view, claim);
    this.#judgeCounters(view, claim, grant);
    for (const { sequence, round, event } of claim.run) {
      const number = this.#parts.places.see({ view, sequence, round, event });
      this.#byPlace.set(placeName(view.endpoint, view.key, number), view);
    }
    const { at, worker, leaseMs, node, life } = grant;
    view.epoch = claim.epoch;
    view.holder = {
      worker,
      node,
      life,
      epoch: claim.epoch,
      grantedAt: at,
      endsAt: at + leaseMs,
      run: claim.run,
    };
  }

  #judgeLease(view: LaneView, claim: Claim, { at }: Grant): void {
    const { report } = this.#parts;
    if (claim.epoch <= view.epoch)
      report("I9", `${view.name} was leased under epoch ${claim.epoch} after ${view.epoch}`);
    if ((this.#states.get(view.endpoint) ?? "active") !== "active") {
      report("I11", `${view.name} was leased while its endpoint was ${this.#states.get(view.endpoint)}`);
    }
    const { holder } = view;
    if (holder === undefined) return;
    if (at < holder.endsAt - CLOSE_MS) {
      report("I9", `${view.name} was leased ${holder.endsAt - at} ms before the end of another's lease`);
    }
    this.#lapse(view, holder.run.length);
  }

  #lapse(view: LaneView, run: number): void {
    const wasAlone = view.lapses >= LAPSES_BEFORE_ALONE;
    if (run > 1) view.suspectUntil = (view.head ?? 0n) + BigInt(run);
    else {
      view.lapses += 1;
      view.attempts += 1;
    }
    view.notBefore = 0;
    if (view.intended) view.passHead();
    else if (wasAlone && this.#parts.endpoints.get(view.endpoint)?.dead === "skip" && view.kind === "lane")
      view.passHead();
    else if (wasAlone) view.standsStill = true;
  }

  #judgeHead(view: LaneView, { run: [head], after }: Claim): void {
    const { report } = this.#parts;
    const { sequence } = head;
    view.head ??= sequence;
    if (sequence < view.head) report("I7", `${view.name} went back from ${view.head} to ${sequence}`);
    if (view.standsStill) {
      const how = sequence === view.head ? "tried again" : "passed over";
      report("I7", `the dead head ${view.head} of ${view.name} was ${how} without an operator`);
    }
    for (; view.head < sequence; view.moveTo(view.head + 1n)) {
      report("I7", `${view.head} of ${view.name} was passed over, and nothing tells why`);
      view.passed.add(view.head);
    }
    if (view.kind === "lane" && view.acknowledged.size > 0 && after !== view.lastAcknowledged) {
      report(
        "I7",
        `${sequence} of ${view.name} says that it comes after ${after}; the last before was ${view.lastAcknowledged}`,
      );
    }
    if (head.round !== (view.round ?? head.round)) {
      report("I11", `${sequence} of ${view.name} is in round ${head.round}; expected ${view.round}`);
    }
    view.round = head.round;
  }

  #judgeCounters(view: LaneView, claim: Claim, { at, alone }: Grant): void {
    const { report } = this.#parts;
    const { run, attempts, failures } = claim;
    const what = `${view.head} of ${view.name}`;
    if (at < view.notBefore - CLOSE_MS)
      report("I10", `${what} was leased ${view.notBefore - at} ms before it was due`);
    if (attempts !== view.attempts)
      report("I10", `${what} has ${attempts} attempts by its claim, ${view.attempts} were made`);
    if (failures !== view.failures)
      report("I10", `${what} has ${failures} failures by its claim, ${view.failures} were spent`);
    if (view.lapses >= LAPSES_BEFORE_ALONE !== alone) {
      report(
        "I9",
        `${what} has lapsed ${view.lapses} times, and was leased ${alone ? "alone" : "beside others"}`,
      );
    }
    run.forEach(({ sequence }, index) => {
      if (sequence !== (view.head ?? 0n) + BigInt(index))
        report("I7", `a run of ${what} holds ${sequence} in place ${index}`);
    });
    // A lapse may have been ended before, by a claim that handed out nothing of this lane.
    const isLapsed = view.holder?.run.some(({ sequence }) => sequence === view.head) ?? false;
    if (run.length > 1 && (attempts > 0 || isLapsed || (view.head ?? 0n) < view.suspectUntil)) {
      report(
        "I9",
        `${what} was leased with ${run.length - 1} others, though it ${attempts > 0 ? "was tried before" : "may have killed its process"}`,
      );
    }
  }

  #settle({ database, request, answers, node, life }: SightingOf<"settle">, at: number): void {
    request.settlements.forEach((settlement, index) => {
      const answer = answers[index] as Settled;
      const view = this.#view(database, settlement.claim);
      const isHolders =
        view.holder?.epoch === settlement.claim.epoch && view.epoch === settlement.claim.epoch;
      if (answer.kind === "stale") {
        if (isHolders && !mayHaveLapsed(view, at))
          this.#parts.report("I9", `${view.name} refused the settlement of the one who has it`);
        return;
      }
      if (!isHolders)
        this.#parts.report(
          "I9",
          `${view.name} took a settlement of epoch ${settlement.claim.epoch}, which had passed`,
        );
      this.#apply(view, settlement, { at, node, life });
      const { worker, leaseMs } = request;
      if (answer.next) this.#grant(database, answer.next, { at, worker, leaseMs, alone: false, node, life });
    });
  }

  #apply(view: LaneView, settlement: Settlement, who: Who & { readonly at: number }): void {
    const { places, report, wire, endpoints } = this.#parts;
    const { attempts, acknowledged, claim, rest } = settlement;
    view.holder = undefined;
    wire.judgeAttempts(view, settlement, who);
    for (const { sequence, event } of claim.run.slice(0, acknowledged)) {
      places.end(view.endpoint, event, "delivered");
      view.acknowledge(sequence);
    }
    const left = claim.run[acknowledged];
    if (left === undefined) return;
    const tried = attempts.filter(({ sequence }) => sequence === left.sequence);
    view.attempts += tried.length;
    // What has returned kills no process.
    if (tried.length > 0) view.lapses = 0;
    if (rest?.state === "disabled") this.#states.set(view.endpoint, "disabled");
    const law = endpoints.get(view.endpoint);
    if (law !== undefined && rest !== undefined) {
      judgeRest({
        view,
        rest,
        law,
        last: tried.length > 0 ? wire.answerOf(left.event.id, who, view.endpoint) : undefined,
        report,
      });
    }
    if (view.intended) view.passHead();
    else if (rest?.state === "due") {
      if (rest.counts) view.failures += 1;
      view.notBefore = who.at + rest.afterMs;
    } else if (rest?.state === "cancelled") view.passHead();
    else if (rest?.state === "dead") {
      if (view.kind === "lane" && rest.policy === "skip") view.passHead();
      else view.standsStill = true;
    }
  }

  #release({ database, worker, held }: SightingOf<"release">): void {
    for (const view of this.#lanes.values()) {
      if (view.database !== database || view.holder?.worker !== worker) continue;
      if (held.some((claim) => this.#view(database, claim) === view)) continue;
      view.holder = undefined;
      view.notBefore = 0;
      if (view.intended) view.passHead();
    }
  }

  #redrive({ database, delivery, answer }: SightingOf<"redrive">): void {
    const place = parseDeliveryId(delivery);
    if (answer === "unknown" || place === undefined) return;
    const id = place.kind === "lane" ? place.lane : place.id;
    const view = this.#view(database, { kind: place.kind, id });
    const isInPlace = answer === "in_place" || place.kind === "loose";
    if (isInPlace) {
      if (!view.standsStill && !mayHaveLapsed(view, Infinity))
        this.#parts.report("I11", `${delivery} was redriven in place, and was not dead`);
      view.startAgain();
      view.holder = undefined;
      if (view.round !== undefined) view.round += 1;
      return;
    }
    if (place.kind === "lane") this.#parts.places.mayComeAgain(view, place.sequence);
  }

  #skip({ database, lane, head, answer }: SightingOf<"skip">, at: number): void {
    if (answer === "unknown") return;
    const view = this.#view(database, { kind: "lane", id: lane });
    view.head ??= head;
    if (head !== view.head && view.holder !== undefined && mayHaveLapsed(view, at)) {
      this.#lapse(view, view.holder.run.length);
      view.holder = undefined;
    }
    if (head !== view.head)
      this.#parts.report("I11", `${head} of ${view.name} was skipped, and ${view.head} was its head`);
    if (answer === "intended") return this.#intend(view, at);
    if (view.holder !== undefined) this.#skipEnded(view, view.holder, at);
    view.notBefore = 0;
    view.passHead();
  }

  #intend(view: LaneView, at: number): void {
    const { holder, head, name } = view;
    if (holder === undefined || at > holder.endsAt + CLOSE_MS)
      this.#parts.report("I11", `the skip of ${head} of ${name} waits, and nobody has it under way`);
    view.intended = true;
  }

  /** A skip that takes effect at once ends the lease of a worker whose time was over. */
  #skipEnded(view: LaneView, holder: Holder, at: number): void {
    const { head = 0n, name } = view;
    if (at < holder.endsAt - CLOSE_MS)
      this.#parts.report(
        "I9",
        `${head} of ${name} was skipped ${holder.endsAt - at} ms before its lease ended`,
      );
    if (holder.run.length > 1) view.suspectUntil = head + BigInt(holder.run.length);
    view.holder = undefined;
  }
}

/** No observer sees a lapse after which nothing is leased: the third, the fourth, and one with a skip intended. */
function mayHaveLapsed({ holder, intended, lapses }: LaneView, at: number): boolean {
  if (holder === undefined || at < holder.endsAt - CLOSE_MS) return false;
  return intended || lapses + 1 >= LAPSES_BEFORE_ALONE;
}

function placeName(endpoint: string, key: string | undefined, number: number): string {
  return key === undefined ? `${endpoint} event ${number}` : `${endpoint} key ${key}`;
}

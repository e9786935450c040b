import type { BlockedLane } from "../../library/src/operator/operator-store.js";
import type { Database } from "../world/database.js";
import { businessRow, effectRow, PASSED_ON_FROM } from "../world/handler.js";
import type { Places } from "./places.js";
import type { PublishedEvent, Publications } from "./publications.js";
import { takes } from "./receipt-law.js";
import type { LogRecord } from "../world/run-log.js";
import type { EndpointPlan, Script } from "../script/script.js";
import type { Report } from "./violation.js";
import { numberOf } from "../world/wire-event.js";

export interface EndLawParts {
  readonly script: Script;
  readonly databases: readonly Database[];
  readonly publications: Publications;
  readonly places: Places;
  readonly report: Report;
}

/** Judges what is left when a run has come to rest: nothing lost, nothing done twice, nothing torn (I2, I3, I5, I6). */
export class EndLaw {
  readonly #parts: EndLawParts;

  constructor(parts: EndLawParts) {
    this.#parts = parts;
  }

  async judge(records: readonly LogRecord[]): Promise<void> {
    this.#effects(records);
    this.#atomicity();
    for (const [index, database] of this.#parts.databases.entries()) {
      const lanes = await this.#standing(database);
      if (index === 0)
        for (const endpoint of this.#parts.script.endpoints) this.#nothingLost(endpoint, lanes);
      else this.#passedOn(lanes);
    }
  }

  /** Notes how deliveries ended by the database's own lists, and returns the lanes that wait for an operator. */
  async #standing({ store, index }: Database): Promise<readonly BlockedLane[]> {
    const { places, report } = this.#parts;
    const { items: dead } = await store.outbox.deadLetters({ limit: 1000 });
    for (const { endpointId, eventId } of dead) places.end(endpointId, { id: eventId }, "dead");
    for (const { endpointId, eventId } of store.cancelled())
      places.end(endpointId, { id: eventId }, "cancelled");
    for (const { database, delivery, endpoint, number } of places.deliveries()) {
      if (database === index && (await store.isPassedOver(delivery))) places.endOf(endpoint, number, "dead");
    }
    const { items: lanes } = await store.outbox.blockedLanes({ limit: 1000 });
    for (const { id, state } of lanes) {
      if (state !== "halted" && state !== "parked")
        report("I6", `lane ${id} of database ${index} is ${state} at the end`);
    }
    return lanes;
  }

  #effects(records: readonly LogRecord[]): void {
    const { databases, report, script } = this.#parts;
    const plain = new Set(script.endpoints.flatMap((endpoint) => (endpoint.plain ? [endpoint.name] : [])));
    const events = new Map<number, { readonly source: string; readonly number: number }>();
    const acknowledged = new Set<string>();
    const received = new Set<string>();
    for (const record of records) {
      if (record.kind === "arrival" && !plain.has(record.endpoint)) {
        const event = { source: record.endpoint, number: numberOf(record.body) };
        events.set(record.post, event);
        received.add(effectRow(event.source, event.number));
      } else if (record.kind === "reply" && record.status >= 200 && record.status <= 299) {
        const event = events.get(record.post);
        if (event === undefined) continue;
        if (record.verdict === "conflict")
          report("I12", `event ${event.number} was received with two bodies`);
        acknowledged.add(effectRow(event.source, event.number));
      }
    }
    for (const { store } of databases) {
      for (const [row, times] of store.written()) {
        if (!row.startsWith("effect ")) continue;
        if (times > 1) report("I2", `${row} happened ${times} times`);
        if (!received.has(row)) report("I1", `${row} happened, and nobody sent it`);
        acknowledged.delete(row);
      }
    }
    for (const row of acknowledged) report("I3", `${row} was acknowledged, and is not there`);
  }

  #atomicity(): void {
    const { databases, publications, places, report, script } = this.#parts;
    const rows = databases[0]?.store.written() ?? new Map<string, number>();
    for (const event of publications.events.values()) {
      const { plan, how, result } = event;
      const hasRow = rows.has(businessRow(plan.number));
      if (how === "commit" && result === "ok" && !hasRow)
        report("I5", `event ${plan.number} was committed, and its host's row is not there`);
      if (result === "fail" && hasRow)
        report("I5", `event ${plan.number} was rolled back, and its host's row is there`);
      if (publications.isCommitted(event, rows) !== false) continue;
      const where = script.endpoints.find(({ name }) => places.wasSeen(name, plan.number));
      if (where !== undefined)
        report("I5", `event ${plan.number} was never committed, and came to ${where.name}`);
    }
  }

  #nothingLost(endpoint: EndpointPlan, lanes: readonly BlockedLane[]): void {
    const { databases, publications } = this.#parts;
    const rows = databases[0]?.store.written() ?? new Map<string, number>();
    const missing = new Map<string, { readonly sure: number[]; perhaps: number }>();
    for (const event of publications.events.values()) {
      const committed = publications.isCommitted(event, rows);
      if (committed === false || !takes(endpoint.types, event.plan)) continue;
      if (this.#parts.places.hasEnded(endpoint.name, event.plan.number)) continue;
      const key = laneKeyOf(endpoint, event);
      const those = missing.get(key) ?? { sure: [], perhaps: 0 };
      missing.set(key, those);
      if (committed === true) those.sure.push(event.plan.number);
      else those.perhaps += 1;
    }
    for (const [key, those] of missing) this.#mustWait(endpoint.name, { key, lanes, ...those });
  }

  /** What has not ended waits behind a dead head, and nothing else. */
  #mustWait(
    endpoint: string,
    {
      key,
      lanes,
      sure,
      perhaps,
    }: { key: string; lanes: readonly BlockedLane[]; sure: readonly number[]; perhaps: number },
  ): void {
    const lane = lanes.find((each) => each.endpointId === endpoint && each.key === key);
    const waiting = lane === undefined ? 0 : Number(lane.depth) - 1;
    if (waiting >= sure.length && waiting <= sure.length + perhaps) return;
    const { report } = this.#parts;
    report(
      "I6",
      `events ${sure.join(", ")} have not ended at ${endpoint}; ${waiting} wait in their lane ${key}`,
    );
  }

  /** What a handler passes on is there exactly when its effect is. */
  #passedOn(lanes: readonly BlockedLane[]): void {
    const { databases, places, publications, report, script } = this.#parts;
    const rows = databases[1]?.store.written() ?? new Map<string, number>();
    for (const { plan } of publications.events.values()) {
      if (plan.handler !== "passes_on") continue;
      const passed = plan.number + PASSED_ON_FROM;
      const happened = script.endpoints.some(({ name }) => rows.has(effectRow(name, plan.number)));
      if (!happened && places.wasSeen("passed", passed))
        report("I5", `event ${passed} was passed on by a handler that was rolled back`);
      if (!happened || places.hasEnded("passed", passed)) continue;
      const waits = lanes.some(({ key }) => key === plan.key);
      if (!waits)
        report("I5", `event ${plan.number} had its effect, and what its handler published is not there`);
    }
  }
}

function laneKeyOf({ name, order }: EndpointPlan, { plan }: PublishedEvent): string {
  if (order === "endpoint") return name;
  return order === "key" && plan.key !== undefined ? plan.key : "";
}

import type { Finding } from "./finding.js";
import type { LaneFacts } from "./lane-facts.js";
import { noLaneFacts, noteArrival, placeOf } from "./lane-facts.js";
import type { EndpointFacts, OutboxFacts, Published, Receipt } from "./outbox-facts.js";
import { deliveryOf, noOutboxFacts, notePublished, noteReceipt, noteRow } from "./outbox-facts.js";
import type { OutboxInvariant } from "./outbox-invariants.js";
import type { OutboxOperations, SeenPlace } from "./outbox-record.js";
import type { EventName, HistoryRecord, Operations, RecordOf } from "./record.js";
import { keyOf } from "./record.js";

type RecordsOf<Op extends keyof Operations> = {
  [Each in Op]: { [P in keyof Operations[Each]]: RecordOf<Each, P> }[keyof Operations[Each]];
}[Op];

export type OutboxRecord = RecordsOf<keyof OutboxOperations>;
type Begun = Extract<OutboxRecord, { phase: "invoke" }>;
type Ended = Extract<
  OutboxRecord,
  { op: "publish" | "receipt" | "operate"; phase: "ok" | "fail" | "unknown" }
>;

const OPERATIONS: ReadonlySet<string> = new Set<keyof OutboxOperations>([
  "endpoint",
  "publish",
  "receipt",
  "operate",
  "business_row",
  "event_row",
  "attempt_row",
  "delivery_row",
  "outbox_read",
]);

export function isOutboxRecord(record: HistoryRecord): record is OutboxRecord {
  return OPERATIONS.has(record.op);
}

/** What a history says of an outbox. */
export class OutboxLedger {
  readonly #events = new Map<string, OutboxFacts>();
  readonly #lanes = new Map<string, LaneFacts>();
  readonly #endpoints = new Map<string, EndpointFacts>();
  #interruptedAt = -Infinity;

  /** Takes what was seen and is over. */
  see(record: Exclude<OutboxRecord, Begun | Ended>): void {
    switch (record.op) {
      case "endpoint":
        return void (this.#endpointOf(record.fields.endpoint).seen = record);
      case "business_row":
        return noteRow(this.#factsOf(record.fields).business, record);
      case "event_row":
        return noteRow(this.#factsOf(record.fields).rows, record);
      case "attempt_row":
        return void deliveryOf(this.#factsOf(record.fields), record.fields.endpoint).attempts.push(record);
      case "delivery_row": {
        const { endpoint, place } = record.fields;
        deliveryOf(this.#factsOf(record.fields), endpoint).rows.push(record);
        if (place !== undefined) placeOf(this.#laneOf(endpoint, place), place).rows.push(record);
        return;
      }
      case "outbox_read":
    }
  }

  /** Takes what begins, and returns what its end is to be told to. */
  begin(record: Begun): (ended: HistoryRecord) => void {
    switch (record.op) {
      case "publish":
        return this.#publish(record);
      case "receipt":
        return this.#receive(record);
      case "operate":
        this.#interruptedAt = record.n;
        this.#endpointOf(record.fields.endpoint).operated.push(record);
        return () => undefined;
    }
  }

  /** Takes what was done to the system. */
  interrupted(record: HistoryRecord): void {
    this.#interruptedAt = record.n;
  }

  *judge({ judge, judgeLane }: OutboxInvariant): Generator<Finding & { event: EventName | undefined }> {
    const endpointOf = (endpoint: string): EndpointFacts => this.#endpointOf(endpoint);
    for (const facts of this.#events.values()) {
      const finding = judge?.(facts, endpointOf);
      if (finding !== undefined) yield { event: facts.name, ...finding };
    }
    for (const lane of this.#lanes.values()) {
      const finding = judgeLane?.(lane, endpointOf(lane.endpoint));
      if (finding !== undefined) yield { event: undefined, ...finding };
    }
  }

  #publish(record: Published): (ended: HistoryRecord) => void {
    const facts = this.#factsOf(record.fields);
    facts.published.push(record);
    return (ended) => {
      if (ended.op === "publish" && ended.phase !== "invoke") notePublished(facts, record, ended);
    };
  }

  #receive(record: Receipt): (ended: HistoryRecord) => void {
    const facts = this.#factsOf(record.fields);
    noteReceipt(facts, record, this.#interruptedAt);
    const { endpoint, place: seen } = record.fields;
    const place = seen && noteArrival(this.#laneOf(endpoint, seen), { receipt: record, seen, event: facts });
    return (ended) => {
      if (ended.op !== "receipt" || ended.phase !== "ok") return;
      if (ended.fields.status < 200 || ended.fields.status > 299) return;
      if (place !== undefined) place.acknowledged = true;
      deliveryOf(facts, endpoint).taken ??= { receipt: record, answer: ended };
    };
  }

  #factsOf(name: EventName): OutboxFacts {
    const key = keyOf(name);
    const known = this.#events.get(key);
    if (known !== undefined) return known;
    const facts = noOutboxFacts(name);
    this.#events.set(key, facts);
    return facts;
  }

  #endpointOf(endpoint: string): EndpointFacts {
    const known = this.#endpoints.get(endpoint);
    if (known !== undefined) return known;
    const facts: EndpointFacts = { seen: undefined, operated: [] };
    this.#endpoints.set(endpoint, facts);
    return facts;
  }

  #laneOf(endpoint: string, { key, generation }: SeenPlace): LaneFacts {
    const name = `${endpoint.length}:${generation}:${endpoint}${key}`;
    const known = this.#lanes.get(name);
    if (known !== undefined) return known;
    const lane = noLaneFacts(endpoint, key);
    this.#lanes.set(name, lane);
    return lane;
  }
}

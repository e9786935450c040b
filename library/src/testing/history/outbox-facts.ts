import type { Finding } from "./finding.js";
import type { EventName, HistoryRecord, RecordOf } from "./record.js";

export type Published = RecordOf<"publish", "invoke">;
export type Receipt = RecordOf<"receipt", "invoke">;
export type Operated = RecordOf<"operate", "invoke">;
export type EventRow = RecordOf<"event_row", "ok">;
export type AttemptRow = RecordOf<"attempt_row", "ok">;
export type DeliveryRow = RecordOf<"delivery_row", "ok">;

/** A receipt and its answer. */
export interface Taken {
  readonly receipt: Receipt;
  readonly answer: RecordOf<"receipt", "ok">;
}

/** What a history says of one event at one endpoint. */
export interface DeliveryFacts {
  readonly endpoint: string;
  /** The first receipt of each attempt, by its number. */
  readonly received: Map<number, Receipt>;
  latest: Receipt | undefined;
  /** The first that was answered with success. */
  taken: Taken | undefined;
  /** Attempts that came out of turn, though nothing had happened. */
  readonly outOfTurn: (Finding & { readonly attempt: number })[];
  readonly attempts: AttemptRow[];
  readonly rows: DeliveryRow[];
}

/** What a history says of one event on its way out. */
export interface OutboxFacts {
  readonly name: EventName;
  /** Publications that may have been committed: those that certainly were not are taken out. */
  readonly published: Published[];
  /** The first that certainly was not. */
  rolledBack: Published | undefined;
  /** The first that certainly was, and its answer. */
  committed: readonly [Published, HistoryRecord] | undefined;
  /** The first receipt that came though nobody had published the event. */
  phantom: Receipt | undefined;
  /** The first receipt with other bytes than were published. */
  altered: Receipt | undefined;
  /** The first receipt that nobody with the secret has signed, or whose id had changed. */
  unsigned: Finding | undefined;
  firstReceipt: Receipt | undefined;
  /** The first two of each; a third proves nothing more. */
  readonly rows: EventRow[];
  readonly business: RecordOf<"business_row", "ok">[];
  readonly deliveries: Map<string, DeliveryFacts>;
}

/** What a history says of one endpoint. */
export interface EndpointFacts {
  /** Undefined where nobody has told of it. */
  seen: RecordOf<"endpoint", "ok"> | undefined;
  readonly operated: Operated[];
}

export function noOutboxFacts({ tenant, source, id }: EventName): OutboxFacts {
  return {
    name: { tenant, source, id },
    published: [],
    rolledBack: undefined,
    committed: undefined,
    phantom: undefined,
    altered: undefined,
    unsigned: undefined,
    firstReceipt: undefined,
    rows: [],
    business: [],
    deliveries: new Map(),
  };
}

export function deliveryOf({ deliveries }: OutboxFacts, endpoint: string): DeliveryFacts {
  const known = deliveries.get(endpoint);
  if (known !== undefined) return known;
  const facts: DeliveryFacts = {
    endpoint,
    received: new Map(),
    latest: undefined,
    taken: undefined,
    outOfTurn: [],
    attempts: [],
    rows: [],
  };
  deliveries.set(endpoint, facts);
  return facts;
}

/** Notes that a publication ended: one that failed counts as never made. */
export function notePublished(
  facts: OutboxFacts,
  invoked: Published,
  ended: RecordOf<"publish", "ok"> | RecordOf<"publish", "fail"> | RecordOf<"publish", "unknown">,
): void {
  if (ended.phase === "ok") facts.committed ??= [invoked, ended];
  if (ended.phase !== "fail") return;
  facts.rolledBack ??= invoked;
  facts.published.splice(facts.published.indexOf(invoked), 1);
}

/** Notes a receipt. `interruptedAt` is the place in the history of the last fault or operator's act. */
export function noteReceipt(facts: OutboxFacts, receipt: Receipt, interruptedAt: number): void {
  const { bodyHash, genuine, wireId } = receipt.fields;
  if (facts.published.length === 0) facts.phantom ??= receipt;
  else if (!facts.published.some(({ fields }) => fields.bodyHash === bodyHash)) facts.altered ??= receipt;
  const first = (facts.firstReceipt ??= receipt);
  if (!genuine) facts.unsigned ??= { found: "its signature does not hold", witness: [receipt] };
  if (first.fields.wireId !== wireId)
    facts.unsigned ??= { found: "its id has changed", witness: [first, receipt] };
  noteAttempt(facts, receipt, interruptedAt);
}

/**
 * Attempts come one after the other. Whoever makes one that is not the next must have begun before something happened:
 * a worker that died has not told what it sent, and one that stood still sends what another has sent meanwhile.
 */
function noteAttempt(facts: OutboxFacts, receipt: Receipt, interruptedAt: number): void {
  const { endpoint, attempt } = receipt.fields;
  const delivery = deliveryOf(facts, endpoint);
  const { latest, received } = delivery;
  if (latest !== undefined && attempt <= latest.fields.attempt) {
    // It cannot have begun before the one in front of it had come.
    const began = received.get(attempt - 1)?.n ?? facts.published[0]?.n ?? receipt.n;
    const found = `attempt ${attempt} was made again, though nothing had happened to whoever made it`;
    if (interruptedAt < began) delivery.outOfTurn.push({ attempt, found, witness: [latest, receipt] });
  }
  if (!received.has(attempt)) received.set(attempt, receipt);
  delivery.latest = receipt;
}

export function noteRow<Row>(rows: Row[], row: Row): void {
  if (rows.length < 2) rows.push(row);
}

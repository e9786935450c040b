import type { Finding } from "./finding.js";
import type { InvariantName } from "./invariants.js";
import type { LaneFacts, PassedOver } from "./lane-facts.js";
import { overtakingAtPublish } from "./lane-facts.js";
import type { AttemptRow, DeliveryFacts, DeliveryRow, EndpointFacts, OutboxFacts } from "./outbox-facts.js";
import type { HistoryRecord } from "./record.js";

type EndpointOf = (endpoint: string) => EndpointFacts;

/** A promise of the outbox, judged by what is known of one event or of one lane. */
export interface OutboxInvariant {
  readonly name: InvariantName;
  readonly promise: string;
  readonly judge?: (facts: OutboxFacts, endpointOf: EndpointOf) => Finding | undefined;
  readonly judgeLane?: (lane: LaneFacts, endpoint: EndpointFacts) => Finding | undefined;
}

/** A publication whose answer was lost counts as made: it may have been committed. One that failed counts as nothing. */
const noPhantom: OutboxInvariant = {
  name: "I1",
  promise: "nothing is delivered that was not published, or whose transaction was rolled back",
  judge({ phantom, published, rolledBack, rows: [row] }) {
    const known = rolledBack ? [rolledBack] : [];
    if (phantom) return { found: "it came, and nobody had published it", witness: [...known, phantom] };
    if (row === undefined || published.length > 0) return undefined;
    return { found: "it is in the outbox, and nobody has published it", witness: [...known, row] };
  },
};

/** Lost answers do not matter: whatever became of the commit, it became of both. */
const atomic: OutboxInvariant = {
  name: "I5",
  promise: "a business row and the event of its transaction are both there, or neither",
  judge({ published, rolledBack, rows, business }) {
    if (rows.length > 1) return { found: "it was published twice", witness: rows };
    if (business.length > 1) return { found: "its business row was written twice", witness: business };
    const beside = published.find(({ fields }) => fields.beside) ?? rolledBack;
    if (beside?.fields.beside !== true || rows.length === business.length) return undefined;
    const found =
      rows.length > 0 ? "it stands without its business row" : "its business row stands without it";
    return { found, witness: [beside, ...rows, ...business] };
  },
};

/** A publication whose answer was lost is held to this only when it is in the outbox. */
const noLoss: OutboxInvariant = {
  name: "I6",
  promise: "every published event has one end at each of its endpoints, or waits there for a reason",
  judge({ committed, published, rows: [row], deliveries }) {
    const proof: readonly HistoryRecord[] = row ? [row] : (committed ?? []);
    if (proof.length === 0) return undefined;
    if (row === undefined) return { found: "its publication was confirmed, and it is lost", witness: proof };
    const endpoints = new Set(published.flatMap(({ fields }) => fields.endpoints));
    for (const endpoint of endpoints) {
      const delivery = deliveries.get(endpoint);
      if (delivery === undefined) return { found: `nothing of it went to ${endpoint}`, witness: proof };
      const finding = endOf(delivery, proof);
      if (finding) return finding;
    }
    const astray = [...deliveries.values()].find(({ endpoint }) => !endpoints.has(endpoint));
    if (astray === undefined || published.length === 0) return undefined;
    const witness = [...proof, ...recordsOf(astray).slice(0, 1)];
    return { found: `it went to ${astray.endpoint}, which does not want it`, witness };
  },
};

function recordsOf({ latest, attempts, rows }: DeliveryFacts): readonly HistoryRecord[] {
  return [...rows, ...attempts, ...(latest ? [latest] : [])];
}

/** In its newest round a delivery has one end; `redriven` is how an older one ended. */
function endOf(delivery: DeliveryFacts, proof: readonly HistoryRecord[]): Finding | undefined {
  const { endpoint, attempts, rows, taken } = delivery;
  const round = Math.max(...[...attempts, ...rows].map(({ fields }) => fields.round));
  const acknowledged = attempts.filter(
    ({ fields }) => fields.round === round && fields.outcome === "acknowledged",
  );
  const others = rows.filter(({ fields }) => fields.round === round && fields.state !== "redriven");
  const [end, another] = [...acknowledged, ...others];
  if (end === undefined)
    return { found: `it has no end at ${endpoint}`, witness: [...proof, ...recordsOf(delivery).slice(0, 1)] };
  if (another !== undefined) return { found: `it has two ends at ${endpoint}`, witness: [end, another] };
  if (end.op === "delivery_row" && end.fields.state === "due" && end.fields.because === undefined)
    return { found: `it still waits at ${endpoint}, for nothing`, witness: [...proof, end] };
  if (end.op === "attempt_row" && taken === undefined)
    return { found: `it is called delivered, and ${endpoint} never took it`, witness: [...proof, end] };
  return undefined;
}

/** Where nobody was told how a place ended, nothing may have passed it. */
const inOrder: OutboxInvariant = {
  name: "I7",
  promise: "the events of a key arrive in order, and nothing is passed over without a word",
  judgeLane(lane, endpoint) {
    if (lane.disorder) return lane.disorder;
    for (const passed of lane.passedOver) {
      const finding = unlawful(lane, passed, endpoint);
      if (finding) return finding;
    }
    return overtakingAtPublish(lane);
  },
};

function unlawful(
  { key }: LaneFacts,
  { place, by }: PassedOver,
  { seen, operated }: EndpointFacts,
): Finding | undefined {
  const before = place.first ? [place.first] : [];
  const ended = place.rows.find(({ fields }) => fields.state !== "due");
  if (ended === undefined)
    return { found: `it passed ${place.sequence}, which had not ended`, witness: [...before, by] };
  // An expired one is passed by itself; a dead one only where its lane does not wait for it.
  if (ended.fields.state === "cancelled" && ended.fields.because !== "skipped") return undefined;
  if (ended.fields.state !== "cancelled" && seen?.fields.dead === "skip") return undefined;
  const allowed = operated.some(({ n, fields }) => n < by.n && (fields.key ?? key) === key);
  if (allowed) return undefined;
  return { found: `it passed ${place.sequence}, for which its lane waits`, witness: [ended, by] };
}

/**
 * Where a worker died or was stopped, or a person stepped in, an attempt may be made again; and one that was given up
 * without an answer may land late.
 */
const singleFlight: OutboxInvariant = {
  name: "I9",
  promise: "an attempt is made by one worker alone, while nothing happens to it",
  judge({ deliveries }) {
    for (const { outOfTurn, attempts } of deliveries.values()) {
      const finding = outOfTurn.find(({ attempt }) => !attempts.some((row) => isGivenUp(row, attempt)));
      if (finding) return { found: finding.found, witness: finding.witness };
    }
    return undefined;
  },
};

function isGivenUp({ fields: { number, outcome } }: AttemptRow, attempt: number): boolean {
  return number === attempt && outcome === "unknown";
}

const attemptLaw: OutboxInvariant = {
  name: "I10",
  promise: "attempts are numbered without a gap, keep to the retry policy, and end with the delivery",
  judge({ deliveries }, endpointOf) {
    for (const { endpoint, attempts, rows } of deliveries.values()) {
      for (const [round, made] of roundsOf(attempts)) {
        const dead = rows.find(({ fields }) => fields.round === round && fields.because === "exhausted");
        const ordered = made.toSorted((a, b) => a.fields.number - b.fields.number);
        const finding = brokenLaw(ordered, endpointOf(endpoint), dead);
        if (finding) return finding;
      }
    }
    return undefined;
  },
};

function roundsOf(attempts: readonly AttemptRow[]): ReadonlyMap<number, readonly AttemptRow[]> {
  const rounds = new Map<number, AttemptRow[]>();
  for (const attempt of attempts) {
    const known = rounds.get(attempt.fields.round);
    if (known === undefined) rounds.set(attempt.fields.round, [attempt]);
    else known.push(attempt);
  }
  return rounds;
}

// Two clocks that are read in whole milliseconds.
const ROUNDING_MS = 2;
// Attempts that spend nothing of the retry budget.
const UNCOUNTED: ReadonlySet<string> = new Set(["acknowledged", "lapsed", "postponed"]);

function brokenLaw(
  attempts: readonly AttemptRow[],
  { seen }: EndpointFacts,
  dead: DeliveryRow | undefined,
): Finding | undefined {
  const { maxAttempts = Infinity, leastWaitMs = 0 } = seen?.fields ?? {};
  let failures = 0;
  for (const [index, attempt] of attempts.entries()) {
    const { number, outcome, startedAt } = attempt.fields;
    const last = attempts[index - 1];
    const witness = last ? [last, attempt] : [attempt];
    if (number !== index + 1) return { found: `attempt ${number} stands where ${index + 1} should`, witness };
    if (last?.fields.outcome === "acknowledged")
      return { found: "it was tried again after it was delivered", witness };
    if (!UNCOUNTED.has(outcome)) failures++;
    if (failures > maxAttempts) return { found: `${failures} attempts failed, of ${maxAttempts}`, witness };
    if (last === undefined || last.fields.outcome === "lapsed" || outcome === "lapsed") continue;
    const waitedMs = startedAt - last.fields.startedAt - last.fields.durationMs;
    if (waitedMs < leastWaitMs - ROUNDING_MS)
      return { found: `it was tried again after ${waitedMs} ms, not ${leastWaitMs}`, witness };
  }
  if (dead === undefined || failures >= maxAttempts || maxAttempts === Infinity) return undefined;
  const found = `it was given up after ${failures} failures, of ${maxAttempts}`;
  return { found, witness: [...attempts.slice(-1), dead] };
}

/** Every observer has hashed the bytes that it saw itself. */
const sameBytes: OutboxInvariant = {
  name: "I12",
  promise: "the bytes of an event are the same when published, stored and delivered",
  judge({ published, altered, rows: [row] }) {
    if (altered)
      return { found: "other bytes came than were published", witness: [...published.slice(0, 1), altered] };
    const fits = published.some(({ fields }) => fields.bodyHash === row?.fields.bodyHash);
    if (row === undefined || published.length === 0 || fits) return undefined;
    return { found: "the outbox holds other bytes than were published", witness: [...published, row] };
  },
};

const signed: OutboxInvariant = {
  name: "I13",
  promise: "every attempt is signed, and carries the same id",
  judge({ unsigned, firstReceipt, rows: [row] }) {
    if (unsigned) return unsigned;
    if (!row || !firstReceipt || row.fields.wireId === firstReceipt.fields.wireId) return undefined;
    return { found: "it came under another id than it has", witness: [firstReceipt, row] };
  },
};

export const OUTBOX_INVARIANTS: readonly OutboxInvariant[] = [
  noPhantom,
  atomic,
  noLoss,
  inOrder,
  singleFlight,
  attemptLaw,
  sameBytes,
  signed,
];

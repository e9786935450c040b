import type { Reply, Scheme } from "../signature/scheme.js";

/** What became of one event. `applied` by a handler, `dropped` because a newer version of its resource was handled, `stored` for a worker or for its endpoints. */
export type Verdict =
  | "applied"
  | "stored"
  | "skipped"
  | "dropped"
  | "duplicate"
  | "conflict"
  | "stale"
  | "busy"
  | "saturated"
  | "failed"
  | "unavailable";

/** The header that tells a curious sender what became of its event. */
export const VERDICT_HEADER = "posthorn-verdict";

// From the best to the worst: one reply stands for all events of a request, and it must not promise more
// than was kept for the worst of them.
const RANK: Readonly<Record<Verdict, number>> = {
  applied: 0,
  stored: 1,
  skipped: 2,
  dropped: 3,
  duplicate: 4,
  stale: 5,
  conflict: 6,
  saturated: 7,
  busy: 8,
  unavailable: 9,
  failed: 10,
};

/** Whether the reply has to speak of `left` rather than of `right`. */
export function isWorse(left: Verdict, right: Verdict): boolean {
  return RANK[left] > RANK[right];
}

/** The verdict that the reply has to speak of; a request without events is skipped. */
export function worstOf(verdicts: readonly Verdict[]): Verdict {
  const [first = "skipped", ...others] = verdicts;
  return others.reduce((worst, verdict) => (isWorse(verdict, worst) ? verdict : worst), first);
}

/** What a reply tells beside the verdict. */
export interface ReplyFacts {
  /** The id under which the event is stored. */
  readonly event?: string | undefined;
  /** Its canonical form should name it, and it has none: its exact bytes name it. */
  readonly fellBack?: boolean;
}

const NO_FACTS: ReplyFacts = {};

/** What to answer. Never 409 or 410: some senders stop on the first, all disable the endpoint on the second. */
export function replyTo(verdict: Verdict, scheme: Scheme, facts: ReplyFacts = NO_FACTS): Reply {
  const { success, stopEvent, slowDown } = scheme.replies;
  switch (verdict) {
    case "applied":
    case "stored":
    case "skipped":
    case "dropped":
    case "duplicate":
      return tell(success, verdict, facts);
    case "conflict":
    case "stale":
      // A request that carries many events must not be stopped for one of them.
      return tell(scheme.batch ? success : (stopEvent ?? success), verdict, facts);
    case "saturated":
      return tell(slowDown ?? retryIn(1), verdict, facts);
    case "busy":
      return tell(retryIn(1), verdict, facts);
    case "unavailable":
      return UNAVAILABLE;
    case "failed":
      return tell({ status: 500 }, verdict, facts);
  }
}

/** The store did not take it, or its source cannot be read: the sender must come again. */
export const UNAVAILABLE: Reply = Object.freeze(tell(retryIn(5), "unavailable", NO_FACTS));

function retryIn(seconds: number): Reply {
  return { status: 503, headers: { "retry-after": String(seconds) } };
}

// Field by field: every event is answered here, and on Node 20 a spread costs fifty times as much.
function tell(reply: Reply, verdict: Verdict, { event, fellBack }: ReplyFacts): Reply {
  const headers: Record<string, string> = reply.headers === undefined ? {} : { ...reply.headers };
  headers[VERDICT_HEADER] = verdict;
  if (event !== undefined) headers["posthorn-event"] = event;
  if (fellBack === true) headers["posthorn-content"] = "raw";
  return reply.body === undefined ? { status: reply.status, headers } : { ...reply, headers };
}

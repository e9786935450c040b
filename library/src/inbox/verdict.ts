import type { Reply, Scheme } from "../signature/scheme.js";

/** What the inbox made of one event. */
export type Verdict =
  | "applied"
  | "skipped"
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
const RANK: readonly Verdict[] = [
  "applied",
  "skipped",
  "duplicate",
  "stale",
  "conflict",
  "saturated",
  "busy",
  "unavailable",
  "failed",
];

/** The verdict that the reply has to speak of; a request without events is skipped. */
export function worstOf(verdicts: readonly Verdict[]): Verdict {
  const [first = "skipped", ...others] = verdicts;
  return others.reduce(
    (worst, verdict) => (RANK.indexOf(verdict) > RANK.indexOf(worst) ? verdict : worst),
    first,
  );
}

/** What to answer. Never 409 or 410: some senders stop on the first, all disable the endpoint on the second. */
export function replyTo(verdict: Verdict, scheme: Scheme): Reply {
  const { success, stopEvent, slowDown } = scheme.replies;
  switch (verdict) {
    case "applied":
    case "skipped":
    case "duplicate":
      return tell(success, verdict);
    case "conflict":
    case "stale":
      // A request that carries many events must not be stopped for one of them.
      return tell(scheme.batch ? success : (stopEvent ?? success), verdict);
    case "saturated":
      return tell(slowDown ?? retryIn(1), verdict);
    case "busy":
      return tell(retryIn(1), verdict);
    case "unavailable":
      return tell(retryIn(5), verdict);
    case "failed":
      return tell({ status: 500 }, verdict);
  }
}

function retryIn(seconds: number): Reply {
  return { status: 503, headers: { "retry-after": String(seconds) } };
}

function tell(reply: Reply, verdict: Verdict): Reply {
  return { ...reply, headers: { ...reply.headers, [VERDICT_HEADER]: verdict } };
}

import type { Ingested, Reply, Scheme } from "posthorn";

export type Verdict = Ingested["kind"];

// From the best to the worst: one reply stands for all events of a request, and must not promise more than was kept for
// the worst of them.
const RANK: Readonly<Record<Verdict, number>> = { stored: 0, duplicate: 1, conflict: 2 };

/** What the reply has to speak of; undefined for a request without events. */
export function worstOf(all: readonly Ingested[]): Ingested | undefined {
  let worst = all[0];
  for (const each of all) if (worst === undefined || RANK[each.kind] > RANK[worst.kind]) worst = each;
  return worst;
}

/** What to answer when everything is durable. Never 409 or 410: some senders stop on the first, all disable the endpoint on the second. */
export function replyTo(ingested: Ingested | undefined, scheme: Scheme, fellBack: boolean): Reply {
  const { success, stopEvent } = scheme.replies;
  if (ingested === undefined) return success;
  // A request that carries many events must not be stopped for one of them.
  const reply = ingested.kind === "conflict" && !scheme.batch ? (stopEvent ?? success) : success;
  const headers: Record<string, string> = reply.headers === undefined ? {} : { ...reply.headers };
  headers["posthorn-verdict"] = ingested.kind;
  headers["posthorn-event"] = ingested.id;
  // Told, because what should be known by its canonical form is known by its exact bytes alone.
  if (fellBack) headers["posthorn-content"] = "raw";
  return reply.body === undefined ? { status: reply.status, headers } : { ...reply, headers };
}

/** The store did not take it: the sender must come again. */
export const UNAVAILABLE: Reply = Object.freeze({
  status: 503,
  headers: Object.freeze({ "retry-after": "5", "posthorn-verdict": "unavailable" }),
});

/** More is under way than the store keeps up with. */
export const SATURATED: Reply = Object.freeze({
  status: 503,
  headers: Object.freeze({ "retry-after": "1", "posthorn-verdict": "saturated" }),
});

export const NOT_FOUND: Reply = Object.freeze({ status: 404 });

// What is wrong on our side must be retried by the sender; what is wrong with the request must not tell an attacker why.
const OUR_FAULT: Readonly<Record<string, number>> = {
  body_not_raw: 500,
  url_required: 500,
  signature_unverifiable: 503,
};

/** The reply to a request that could not prove where it comes from. */
export function refusalOf(code: string): Reply {
  return { status: OUR_FAULT[code] ?? 401 };
}

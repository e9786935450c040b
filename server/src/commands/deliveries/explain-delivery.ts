import { DEAD_REASONS } from "posthorn/operator";
import type { Attempt, Delivery, Endpoint, Lane } from "posthorn/client";
import { isHandlerId } from "posthorn/gateway";
import { count, due, duration } from "../../terminal/for-people.js";

/** What became of a delivery, and what a person can do about it. */
export interface Explanation {
  readonly says: string;
  readonly todo: string | undefined;
}

type Facts = Pick<
  Delivery,
  "id" | "endpointId" | "laneId" | "state" | "because" | "attempts" | "lastStatus" | "lastError" | "dueInMs"
>;

/** What else is known of a delivery that waits without a time. */
export interface Surroundings {
  readonly endpoint?: Pick<Endpoint, "state" | "because"> | undefined;
  readonly lane?: Pick<Lane, "headId"> | undefined;
}

/** Puts a delivery's state into words. Pure. */
export function explainDelivery(delivery: Facts, around: Surroundings = {}): Explanation {
  switch (delivery.state) {
    case "delivered":
      return { says: deliveredWords(delivery), todo: undefined };
    case "under_way":
      return { says: "An attempt is under way right now.", todo: undefined };
    case "waiting":
      return waiting(delivery, around);
    case "retrying":
      return retrying(delivery, around);
    case "dead":
      return dead(delivery);
    case "cancelled":
      return {
        says: `It was cancelled: ${delivery.because ?? "the reason is not known"}. It will not be sent.`,
        todo: "Publish the event again if it is still wanted: `posthorn send`.",
      };
  }
  // A newer server may know more states than we do.
  return { says: `It is ${String(delivery.state)}.`, todo: undefined };
}

function deliveredWords({ endpointId, lastStatus }: Facts): string {
  return isHandlerId(endpointId)
    ? "Its handler applied it."
    : `The endpoint acknowledged it with ${lastStatus ?? "2xx"}.`;
}

function kindOf(endpointId: string): string {
  return isHandlerId(endpointId) ? "handler" : "endpoint";
}

/** The command that ends a pause. */
export function resumeLine(endpointId: string): string {
  return `posthorn ${isHandlerId(endpointId) ? "consumers" : "endpoint"} resume ${endpointId}`;
}

function retrying(delivery: Facts, { endpoint }: Surroundings): Explanation {
  const { attempts, dueInMs, endpointId } = delivery;
  const failed = `${count(attempts, "attempt")} failed: ${explainAnswer(delivery)}`;
  // An endpoint that is stopped has no next attempt: it would be told as "tried again –".
  const stopped = endpoint?.state ?? (dueInMs === null ? "stopped" : "active");
  if (dueInMs === null || stopped !== "active") {
    return {
      says: `${failed} It waits, because its ${kindOf(endpointId)} is ${stopped}.`,
      todo: `When ${isHandlerId(endpointId) ? "it may go on" : "the receiver is back"}, go on with: ${resumeLine(endpointId)}`,
    };
  }
  return { says: `${failed} It is tried again ${due(dueInMs)}.`, todo: retryAfter(delivery) };
}

function waiting({ id, laneId, dueInMs, endpointId }: Facts, { endpoint, lane }: Surroundings): Explanation {
  const { state = "active", because = null } = endpoint ?? {};
  if (state !== "active") {
    return {
      says: `It has not been tried: its ${kindOf(endpointId)} is ${state}${because === null ? "" : ` (${because})`}.`,
      todo: `Let everything that waits there go on with: ${resumeLine(endpointId)}`,
    };
  }
  if (dueInMs !== null) return { says: `It has not been tried; it is due ${due(dueInMs)}.`, todo: undefined };
  if (laneId === null || lane?.headId === id) return { says: "It has not been tried.", todo: undefined };
  return {
    says: "Others of its lane are before it; it waits for them, so that the order is kept.",
    todo: `See what the lane waits for: posthorn lanes show ${laneId}`,
  };
}

function retryAfter(delivery: Facts): string {
  const first = cureOf(delivery);
  const retry = `try it now with: posthorn retry ${delivery.id}`;
  return first === undefined ? sentence(retry) : `${first} Then ${retry}`;
}

function dead(delivery: Facts): Explanation {
  const { because, id, attempts } = delivery;
  const reason = reasonOf(because);
  const answered =
    attempts > 0 ? ` The last of ${count(attempts, "attempt")}: ${explainAnswer(delivery)}` : "";
  const first = cureOf(delivery);
  const redrive = `send it again with: posthorn redrive ${id}`;
  return {
    says: `It was given up: ${reason}${answered}`,
    todo: first === undefined ? sentence(redrive) : `${first} Then ${redrive}`,
  };
}

function reasonOf(because: string | null): string {
  if (because === null) return "the reason is not known.";
  return Object.hasOwn(DEAD_REASONS, because)
    ? DEAD_REASONS[because as keyof typeof DEAD_REASONS]
    : `${because}.`;
}

/** What the last answer, or the lack of one, means. */
export function explainAnswer(of: {
  readonly lastStatus: number | null;
  readonly lastError: string | null;
}): string {
  if (of.lastStatus !== null) return statusMeaning(of.lastStatus);
  return ERRORS[of.lastError ?? ""]?.says ?? `it failed (${of.lastError ?? "no answer is known"}).`;
}

function statusMeaning(status: number): string {
  const known = STATUSES[status];
  if (known !== undefined) return `the endpoint answered ${status}, ${known}.`;
  if (status >= 200 && status < 300) return `the endpoint answered ${status}: it has it.`;
  if (status >= 300 && status < 400)
    return `the endpoint answered ${status}, a redirect, which is never followed.`;
  if (status >= 500) return `the endpoint answered ${status}: it failed while it handled the event.`;
  return `the endpoint answered ${status}: it does not take the event as it is.`;
}

const STATUSES: Readonly<Record<number, string>> = {
  400: "which says that it cannot read the request",
  401: "which says that it does not believe the signature: its secret is likely another one",
  403: "which says that something in front of it, or itself, forbids the request",
  404: "which says that there is nothing at this address",
  405: "which says that nothing at this address takes a POST",
  408: "which says that it waited too long for the request",
  410: "which says that it is gone for good; the endpoint is disabled",
  413: "which says that the body is too large for it",
  415: "which says that it does not take this content type",
  429: "which says that it gets too many requests",
  502: "which a proxy in front of it says when the application is not there",
  503: "which says that it is not available for now",
  504: "which a proxy in front of it says when the application takes too long",
};

interface ErrorMeaning {
  readonly says: string;
  readonly cure: string;
}

const REACHABLE = "Check that the application runs and that a firewall lets the requests through.";
const ALLOW =
  "Give the endpoint a public https address, or allow the range with the server's --allow-addresses.";

const ERRORS: Readonly<Record<string, ErrorMeaning>> = {
  dns: { says: "the endpoint's name could not be resolved.", cure: "Check the name in the endpoint's URL." },
  connect: { says: "no connection could be made.", cure: REACHABLE },
  tls: {
    says: "the endpoint's certificate was not accepted, or TLS could not be spoken.",
    cure: "Check that the certificate is valid, complete and for this name.",
  },
  timeout: {
    says: "it was sent, and no answer came in time: it may have landed.",
    cure: "Let the receiver answer first and work afterwards, and apply each id once.",
  },
  reset: {
    says: "it was sent, and the connection broke before an answer: it may have landed.",
    cure: "Look into the receiver's log for a crash at that time.",
  },
  bad_answer: {
    says: "what came back was no HTTP answer.",
    cure: "Check that the port in the endpoint's URL speaks HTTP.",
  },
  private_address: { says: "its address is a private one, to which nothing is sent.", cure: ALLOW },
  scheme: { says: "its URL is not https.", cure: ALLOW },
  port: { says: "its port is one to which nothing is sent.", cure: ALLOW },
  name: { says: "its name is one to which nothing is sent.", cure: ALLOW },
  url: { says: "its URL cannot be used.", cure: "Correct it with: posthorn endpoint update" },
  credentials: { says: "its URL holds a password, which is never sent.", cure: "Remove it from the URL." },
};

function cureOf({ endpointId, lastStatus, lastError, because }: Facts): string | undefined {
  if (because === "event_missing") return "Nothing can be sent any more: skip it, if its lane waits for it.";
  if (because === "lease_expired") return "Look into the server's log for what ended the process.";
  if (because === "error_rule") return "Mend what its handler threw, or the rule for it, and redrive it.";
  if (lastStatus === 401) {
    return `Compare secrets; \`posthorn endpoint test ${endpointId}\` shows whether it believes ours.`;
  }
  if (lastStatus === 410) return `If it is back, go on with: posthorn endpoint resume ${endpointId}.`;
  if (lastStatus === 404 || lastStatus === 405) {
    return `Check the address, and correct it with: posthorn endpoint update ${endpointId} --to URL.`;
  }
  if (lastStatus !== null) return "Look into the receiver's log for the time of the last attempt.";
  return ERRORS[lastError ?? ""]?.cure;
}

/** One attempt in a few words. */
export function attemptWords(attempt: Attempt): string {
  const answer = attempt.status === null ? (attempt.error ?? attempt.outcome) : String(attempt.status);
  return `${answer} after ${duration(attempt.durationMs)}`;
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

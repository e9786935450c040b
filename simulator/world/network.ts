import type { Egress, EgressAnswer, OutgoingRequest } from "../../library/src/delivery/egress/egress.js";
import type { Outcome } from "../../library/src/delivery/outcome.js";
import { parseRetryAfter } from "../../library/src/delivery/egress/exchange.js";
import { VERDICT_HEADER } from "../../library/src/inbox/verdict.js";
import type { Reply, SignedRequest } from "../../library/src/signature/scheme.js";
import type { Life } from "./life.js";
import type { RunLog, WireEvent } from "./run-log.js";
import type { Who } from "./who.js";
import type { Scheduler } from "./scheduler.js";
import type { WireFault } from "../script/script.js";
import { addressOf, wireEventOf } from "./wire-event.js";

/** A process that takes requests. */
export interface Door {
  readonly life: Life;
  receive(source: string, request: SignedRequest): Promise<Reply>;
}

/** A process that sends them. */
export interface Poster {
  readonly who: Who;
  readonly life: Life;
  /** The fault that its next request meets, if any. */
  readonly faultOf: () => WireFault | undefined;
}

export interface NetworkParts {
  readonly scheduler: Scheduler;
  readonly log: RunLog;
  /** The process at which a request for this host arrives; undefined when none runs, or the network is cut. */
  readonly doorOf: (host: string, from: Poster) => Door | undefined;
  /** Called for every request before it leaves. */
  readonly onPost: (seen: WireEvent, who: Who) => void;
  /** What the poster takes an answer for; a planted bug lies here. */
  readonly outcomeOf: (outcome: Outcome) => Outcome;
  /** How much time a request is believed to have that was held up; a planted bug lies here. */
  readonly leftMs: (leftMs: number) => number;
  /** What the receiver's host sends in place of a reply; a planted bug lies here. */
  readonly replyOf: (reply: Reply) => Reply;
}

/** One request on its way. */
interface Trip {
  readonly poster: Poster;
  readonly request: OutgoingRequest;
  readonly seen: WireEvent;
  readonly fault: WireFault | undefined;
  /** Tells the poster, who believes the first word. */
  readonly end: (outcome: Outcome) => void;
}

/** One of which no byte has left. */
type Held = Pick<Trip, "poster" | "request" | "fault">;

const STATUSES: Partial<Record<WireFault, number>> = {
  status_500: 500,
  status_429: 429,
  status_413: 413,
  status_410: 410,
};

const UNREACHABLE: Outcome = { kind: "unreachable", reason: "connect" };
const RESET: Outcome = { kind: "unknown", reason: "reset" };

/** Everything between the nodes: it delays, drops, doubles and reorders, and loses answers to what was done. */
export class Network {
  readonly #parts: NetworkParts;
  #posts = 0;
  #underWay = 0;

  constructor(parts: NetworkParts) {
    this.#parts = parts;
  }

  /** How many requests may still arrive, or are being handled. */
  get underWay(): number {
    return this.#underWay;
  }

  egressOf(poster: Poster): Egress {
    return { post: (request) => this.#post(poster, request), close: () => Promise.resolve() };
  }

  #post(poster: Poster, request: OutgoingRequest): Promise<EgressAnswer> {
    const { life } = poster;
    const fault = poster.faultOf();
    if (fault !== undefined) this.#parts.log.fault(`wire.${fault}`);
    return life.ask((resolve) => {
      const trip = { poster, request, fault };
      if (fault === "held") this.#hold(life, request);
      if (life.isStopped) life.do(() => this.#begin(trip, resolve));
      else this.#begin(trip, resolve);
    });
  }

  /** Stops the process where it has looked at its lease and not yet written a byte. */
  #hold(life: Life, { deadlineMs }: OutgoingRequest): void {
    life.stop();
    // Mostly past the lease: that is when somebody else may have sent it, or what comes after it.
    this.#parts.scheduler.after(12 * deadlineMs * life.random.next(), () => life.goOn());
  }

  #begin(trip: Held, resolve: (answer: EgressAnswer) => void): void {
    const { poster, request } = trip;
    if (this.#parts.leftMs(request.leftMs?.() ?? Infinity) > 0) return this.#write(trip, resolve);
    const { endpoint, eventId } = wireEventOf(request, 0);
    this.#parts.log.add({ kind: "unsent", endpoint, eventId, outcome: UNREACHABLE, ...poster.who });
    resolve({ outcome: UNREACHABLE, answer: undefined, durationMs: request.deadlineMs });
  }

  /** From here on its bytes may arrive. */
  #write(held: Held, resolve: (answer: EgressAnswer) => void): void {
    const { log, scheduler, outcomeOf } = this.#parts;
    const { poster, request } = held;
    const { life, who } = poster;
    const seen = wireEventOf(request, ++this.#posts);
    log.count("posts");
    log.add({ kind: "post", ...seen, ...who });
    const startedAt = scheduler.now;
    let open = true;
    const end = (outcome: Outcome): void => {
      if (!open) return;
      open = false;
      deadline.action = undefined;
      life.do(() => {
        log.add({ kind: "answer", post: seen.post, outcome });
        const durationMs = scheduler.now - startedAt;
        resolve({ outcome: outcomeOf(outcome), answer: undefined, durationMs });
      });
    };
    this.#parts.onPost(seen, who);
    if (!life.isAlive) return;
    const leftMs = Math.max(0, Math.min(request.deadlineMs, request.leftMs?.() ?? Infinity));
    const deadline = scheduler.after(leftMs, () => end({ kind: "unknown", reason: "timeout" }));
    this.#send({ ...held, seen, end });
  }

  #send(trip: Trip): void {
    const { scheduler } = this.#parts;
    const { poster, fault, end } = trip;
    const hopMs = this.#hopMs(poster.life);
    const status = fault && STATUSES[fault];
    if (status !== undefined) {
      const retryAfterMs = status === 429 ? 300 : undefined;
      scheduler.after(2 * hopMs, () => end({ kind: "refused", status, retryAfterMs }));
    } else if (fault === "refused") {
      scheduler.after(hopMs, () => end(UNREACHABLE));
    } else if (fault !== "lost_request") {
      const lateMs = fault === "late" ? trip.request.deadlineMs + 1500 * poster.life.random.next() : 0;
      const heard = fault === "lost_answer" ? { ...trip, end: () => end(RESET) } : trip;
      this.#arriveAfter(hopMs + lateMs, heard);
      // No sender waits for the answer to a copy.
      if (fault === "duplicate")
        this.#arriveAfter(hopMs + this.#copyMs(poster.life), { ...trip, end: nobody });
    }
  }

  #arriveAfter(ms: number, trip: Trip): void {
    this.#underWay++;
    this.#parts.scheduler.after(ms, () => this.#arrive(trip));
  }

  #arrive({ poster, request, seen, end }: Trip): void {
    const { doorOf, log, replyOf, scheduler } = this.#parts;
    const { host, source } = addressOf(request.url);
    const door = doorOf(host, poster);
    let open = true;
    const finish = (outcome: Outcome): void => {
      if (!open) return;
      open = false;
      this.#underWay--;
      scheduler.after(this.#hopMs(poster.life), () => end(outcome));
    };
    if (door === undefined) return finish(UNREACHABLE);
    door.life.whenEnded(() => finish(RESET));
    const receive = async (): Promise<void> => {
      log.add({ kind: "arrival", ...seen });
      const { headers: sent, body, url } = request;
      const { status, headers } = replyOf(await door.receive(source, { headers: sent, body, url }));
      const verdict = headers?.[VERDICT_HEADER];
      log.count(`verdict.${verdict ?? status}`);
      log.add({ kind: "reply", post: seen.post, status, verdict });
      finish(answerOf(status, headers?.["retry-after"], poster.life.now()));
    };
    door.life.do(() => void receive());
  }

  /** At the same moment, or when the first is long forgotten. */
  #copyMs({ random }: Life): number {
    return (random.chance(0.5) ? 4 : 1200) * random.next();
  }

  #hopMs({ random }: Life): number {
    return 1 + 5 * random.next();
  }
}

function answerOf(status: number, retryAfter: string | undefined, nowMs: number): Outcome {
  if (status >= 200 && status <= 299) return { kind: "acknowledged", status };
  return { kind: "refused", status, retryAfterMs: parseRetryAfter(retryAfter, nowMs) };
}

function nobody(): void {
  // A copy has no sender who waits.
}

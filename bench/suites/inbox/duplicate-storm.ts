import { once, EventEmitter } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Receiver, Reply } from "posthorn";
import { bodyOf, expectVerdict, signedEvent, SOURCE } from "./signed-events.js";
import type { EventRequest } from "./signed-events.js";

const DUPLICATES = 200;
const HANDLER_MS = 10_000;
export const SLOW_TYPE = "report.asked";

/** A handler that keeps its transaction open for 10 s. */
export class SlowHandler {
  readonly #began = new EventEmitter();
  #runs = 0;
  #running = false;

  /** How often it was run, over all storms. */
  get runs(): number {
    return this.#runs;
  }

  get running(): boolean {
    return this.#running;
  }

  async run(): Promise<void> {
    this.#runs += 1;
    this.#running = true;
    this.#began.emit("began");
    await sleep(HANDLER_MS);
    this.#running = false;
  }

  async hasBegun(): Promise<void> {
    await once(this.#began, "began");
  }
}

/** One slow event and 200 duplicates of it, each sent again when it was told to come later. */
export class DuplicateStorm {
  readonly #receiver: Receiver;
  readonly #slow: SlowHandler;
  #underWay: Promise<unknown> = Promise.resolve();
  #runsBefore = 0;

  constructor(receiver: Receiver, slow: SlowHandler) {
    this.#receiver = receiver;
    this.#slow = slow;
  }

  /** Resolves when the handler runs and all duplicates are on their way. */
  async begin(eventId: string): Promise<void> {
    const request = signedEvent(eventId, bodyOf(SLOW_TYPE));
    this.#runsBefore = this.#slow.runs;
    const begun = this.#slow.hasBegun();
    const first = this.#receiver.receive(SOURCE, request).then((reply) => expectVerdict(reply, "applied"));
    await Promise.race([begun, first]);
    const duplicates = Array.from({ length: DUPLICATES }, () => this.#sendUntilTaken(request));
    this.#underWay = Promise.all([first, ...duplicates]);
    // Told by `end`; until then nobody awaits it.
    this.#underWay.catch(() => undefined);
  }

  /** Waits until every duplicate was answered with success. */
  async end(): Promise<void> {
    if (!this.#slow.running)
      throw new Error("The slow handler ended before the turn did: nothing was under way.");
    await this.#underWay;
    const runs = this.#slow.runs - this.#runsBefore;
    if (runs !== 1) throw new Error(`The slow handler was run ${runs} times for one event.`);
  }

  async #sendUntilTaken(request: EventRequest): Promise<void> {
    for (;;) {
      const reply = await this.#receiver.receive(SOURCE, request);
      if (reply.status !== 503) return expectVerdict(reply, "duplicate");
      await sleep(retryAfterMs(reply) * (0.8 + 0.4 * Math.random()));
    }
  }
}

function retryAfterMs(reply: Reply): number {
  const seconds = Number(reply.headers?.["retry-after"]);
  if (!(seconds > 0)) throw new Error(`Answered ${reply.status} without saying when to come again.`);
  return seconds * 1000;
}

import { createSigner, signSync } from "../../library/src/signature/sign.js";
import type { Signer } from "../../library/src/signature/sign.js";
import type { Random } from "../world/random.js";
import type { RunLog } from "../world/run-log.js";
import type { Scheduler } from "../world/scheduler.js";
import type { Receiver } from "../../library/src/inbox/receiver.js";
import type { Life } from "../world/life.js";
import { conflictOf, eventId } from "./names.js";
import { SECRET, SOURCE } from "./node.js";
import type { StreamedEvent, Trip } from "./script.js";

export interface ProviderParts {
  readonly scheduler: Scheduler;
  readonly log: RunLog;
  readonly random: Random;
  /** By a clock that is right. */
  readonly nowMs: () => number;
  /** A process that takes requests; undefined where none runs. */
  readonly doorOf: () => { readonly life: Life; readonly receiver: Receiver } | undefined;
}

const HOPS_MS = [1, 8] as const;
const LATE_MS = [100, 2500] as const;
const AGAIN_MS = [80, 400] as const;
const PATIENCE_MS = 1500;

/** The provider of a stream: it sends each event until it is acknowledged, over a network that loses, doubles and delays. */
export class Provider {
  readonly #parts: ProviderParts;
  readonly #signer: Signer;
  readonly #waiting = new Set<number>();
  readonly #acknowledged = new Set<number>();
  /** To be sent again when they are acknowledged. */
  readonly #onceMore = new Set<number>();
  #underWay = 0;

  constructor(parts: ProviderParts) {
    this.#parts = parts;
    this.#signer = createSigner({ secrets: SECRET, clock: { now: parts.nowMs } });
  }

  /** Whether it waits for no acknowledgement, and no copy of a request may still arrive. */
  get isDone(): boolean {
    return this.#waiting.size === 0 && this.#underWay === 0;
  }

  send(event: StreamedEvent, trips: readonly Trip[]): void {
    const { log } = this.#parts;
    this.#waiting.add(event.number);
    log.count("events");
    this.#try(event, trips);
  }

  /** Sends an event once more. Where it is not acknowledged yet, that is done after its acknowledgement, which may be of a request from before. */
  sendAgain(event: StreamedEvent): void {
    if (this.#waiting.has(event.number)) {
      this.#onceMore.add(event.number);
      return;
    }
    this.#waiting.add(event.number);
    this.#parts.scheduler.after(this.#between(AGAIN_MS), () => this.#try(event, []));
  }

  /** Sends another body under the id of an event, once that was acknowledged. */
  sendConflict(event: StreamedEvent, of: number): void {
    if (!this.#acknowledged.has(of)) return;
    this.#parts.log.count("conflicts");
    this.#waiting.add(event.number);
    this.#try(event, []);
  }

  #try(event: StreamedEvent, trips: readonly Trip[]): void {
    if (!this.#waiting.has(event.number)) return;
    const { log, scheduler } = this.#parts;
    const [trip = "arrives", ...later] = trips;
    if (trip !== "arrives") log.fault(`trip.${trip}`);
    let open = true;
    const again = (): void => {
      if (!open) return;
      open = false;
      log.count("sent.again");
      scheduler.after(this.#between(AGAIN_MS), () => this.#try(event, later));
    };
    const heard = (status: number, verdict: string | undefined): void => {
      if (!open) return;
      if (status < 200 || status > 299) return again();
      open = false;
      this.#waiting.delete(event.number);
      this.#acknowledged.add(event.number);
      log.add({ kind: "acknowledged", number: event.number, verdict });
      if (this.#onceMore.delete(event.number)) this.sendAgain(event);
    };
    scheduler.after(PATIENCE_MS, again);
    if (trip === "lost_request") return;
    const lateMs = trip === "late" ? this.#between(LATE_MS) : 0;
    this.#arriveAfter(lateMs + this.#between(HOPS_MS), event, trip === "lost_answer" ? ignored : heard);
    if (trip === "doubled") this.#arriveAfter(this.#between(LATE_MS) / 2, event, ignored);
  }

  #arriveAfter(ms: number, event: StreamedEvent, heard: Heard): void {
    this.#underWay++;
    this.#parts.scheduler.after(ms, () => this.#arrive(event, heard));
  }

  #arrive(event: StreamedEvent, heard: Heard): void {
    const { doorOf, log, scheduler } = this.#parts;
    const door = doorOf();
    let open = true;
    const answer = (status: number, verdict?: string): void => {
      if (!open) return;
      open = false;
      this.#underWay--;
      scheduler.after(this.#between(HOPS_MS), () => heard(status, verdict));
    };
    if (door === undefined) return answer(502);
    door.life.whenEnded(() => answer(502));
    const receive = async (): Promise<void> => {
      const body = bodyOf(event);
      const { number } = event;
      const headers = signSync(this.#signer, { id: eventId(conflictOf(number) ?? number), body });
      const { status, verdict } = await door.receiver.receive(SOURCE, { headers, body });
      log.count(`verdict.${verdict ?? status}`);
      answer(status, verdict);
    };
    door.life.do(() => void receive());
  }

  #between([least, most]: readonly [number, number]): number {
    return least + (most - least) * this.#parts.random.next();
  }
}

type Heard = (status: number, verdict: string | undefined) => void;

function bodyOf({ type, number, key, version }: StreamedEvent): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ type, number, key, n: version }));
}

function ignored(): void {
  // Nobody waits for this answer.
}

import type { AttemptRecord } from "../../delivery/attempt-record.js";
import type {
  Claim,
  ClaimAnswer,
  ClaimRequest,
  SequenceReport,
  Settled,
  SettleRequest,
} from "../../delivery/delivery-store.js";
import type {
  BlockedLane,
  DeadLetter,
  Page,
  Paged,
  Redriven,
  Skipped,
} from "../../operator/operator-store.js";
import type { Outbox } from "../../operator/outbox.js";
import type { Endpoint, EndpointChange } from "../../outbox/endpoint.js";
import type { Written } from "../../outbox/outbox-store.js";
import type { OutgoingEvent } from "../../outbox/outgoing-event.js";
import type { StoreCapabilities } from "../../store-capabilities.js";
import { Wake } from "../../work/wake.js";
import type { Line } from "./line.js";
import type { Sighting, Who } from "./run-log.js";
import { numberOf, textOf } from "./wire-event.js";

/** The outbox of a database, at the other end of a line. What the database did is seen where it did it. */
export class LineOutbox implements Outbox<unknown, "asynchronous"> {
  readonly transactions = "asynchronous";
  /** Of this process alone: hints of other processes do not reach it. */
  readonly wake: Wake = new Wake();
  readonly #line: Line;
  readonly #who: Who;
  readonly #outbox: Outbox<unknown, "asynchronous">;

  constructor(line: Line, who: Who) {
    this.#line = line;
    this.#who = who;
    this.#outbox = line.database.store.outbox;
  }

  get capabilities(): StoreCapabilities {
    return this.#outbox.capabilities;
  }

  write(events: readonly OutgoingEvent[], tx: unknown): Promise<readonly Written[]> {
    this.#name(events);
    return this.#line.ask("write", () => this.#outbox.write(events, tx));
  }

  async append(events: readonly OutgoingEvent[]): Promise<readonly Written[]> {
    this.#name(events);
    const written = await this.#line.ask("append", () => this.#outbox.append(events));
    this.wake.ring("committed");
    return written;
  }

  addEndpoint(endpoint: Endpoint): Promise<boolean> {
    return this.#line.ask("add_endpoint", () => this.#outbox.addEndpoint(endpoint));
  }

  changeEndpoint(id: string, change: EndpointChange): Promise<Endpoint | undefined> {
    return this.#seen(
      "change_endpoint",
      () => this.#outbox.changeEndpoint(id, change),
      () => ({ kind: "endpoint", database: this.#database, id, state: change.state ?? "active" }),
    );
  }

  removeEndpoint(id: string): Promise<boolean> {
    return this.#line.ask("remove_endpoint", () => this.#outbox.removeEndpoint(id));
  }

  readEndpoints(ids: readonly string[]): Promise<readonly Endpoint[]> {
    return this.#line.ask("read_endpoints", () => this.#outbox.readEndpoints(ids));
  }

  listEndpoints(page: Parameters<Outbox<unknown>["listEndpoints"]>[0]): Promise<readonly Endpoint[]> {
    return this.#line.ask("list_endpoints", () => this.#outbox.listEndpoints(page));
  }

  sequence(): Promise<SequenceReport> {
    return this.#line.ask("sequence", () => this.#outbox.sequence());
  }

  claim(request: ClaimRequest): Promise<ClaimAnswer> {
    return this.#seen(
      "claim",
      () => this.#outbox.claim(request),
      ({ claims }) => ({ kind: "claim", database: this.#database, request, claims, ...this.#who }),
    );
  }

  settle(request: SettleRequest): Promise<readonly Settled[]> {
    return this.#seen(
      "settle",
      () => this.#outbox.settle(request),
      (answers) => ({ kind: "settle", database: this.#database, request, answers, ...this.#who }),
    );
  }

  release(worker: string, held: readonly Pick<Claim, "kind" | "id">[]): Promise<number> {
    // As they are when it is asked: what the worker holds may change while the call is on its way.
    const sent = held.map(({ kind, id }) => ({ kind, id }));
    return this.#seen(
      "release",
      () => this.#outbox.release(worker, sent),
      () => ({ kind: "release", database: this.#database, worker, held: sent }),
    );
  }

  untilDue(): Promise<number | undefined> {
    return this.#line.ask("until_due", () => this.#outbox.untilDue());
  }

  blockedLanes(page: Page): Promise<Paged<BlockedLane>> {
    return this.#line.ask("blocked_lanes", () => this.#outbox.blockedLanes(page));
  }

  deadLetters(page: Page): Promise<Paged<DeadLetter>> {
    return this.#line.ask("dead_letters", () => this.#outbox.deadLetters(page));
  }

  redrive(delivery: string): Promise<Redriven> {
    return this.#seen(
      "redrive",
      () => this.#outbox.redrive(delivery),
      (answer) => ({ kind: "redrive", database: this.#database, delivery, answer }),
    );
  }

  skip(lane: bigint): Promise<Skipped> {
    return this.#seen(
      "skip",
      () => this.#outbox.skip(lane),
      (answer) => ({ kind: "skip", database: this.#database, lane, answer }),
    );
  }

  attempts(deliveryId: string): Promise<readonly AttemptRecord[]> {
    return this.#line.ask("attempts", () => this.#outbox.attempts(deliveryId));
  }

  #name(events: readonly OutgoingEvent[]): void {
    const names = new Map(events.map(({ id, body }) => [id, numberOf(textOf(body))]));
    this.#line.log.add({ kind: "named", names });
  }

  get #database(): number {
    return this.#line.database.index;
  }

  #seen<T>(call: string, apply: () => Promise<T>, sighting: (answer: T) => Sighting): Promise<T> {
    return this.#line.ask(call, async () => {
      const answer = await apply();
      this.#line.log.add(sighting(answer));
      return answer;
    });
  }
}

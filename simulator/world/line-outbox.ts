import type { AttemptRecord } from "../../library/src/lanes/attempt-record.js";
import type {
  Claim,
  Claimable,
  ClaimAnswer,
  ClaimRequest,
  SequenceReport,
  Settled,
  SettleRequest,
} from "../../library/src/lanes/lane-store.js";
import type {
  BlockedLane,
  DeadLetter,
  Page,
  Paged,
  Redriven,
  RetryTarget,
  Skipped,
} from "../../library/src/operator/operator-store.js";
import type { SimulatedOutbox } from "./simulated-store.js";
import type { Endpoint, EndpointChange } from "../../library/src/outbox/endpoint.js";
import type { Written } from "../../library/src/outbox/outbox-store.js";
import type { OutgoingEvent } from "../../library/src/outbox/outgoing-event.js";
import type { StoreCapabilities } from "../../library/src/store-capabilities.js";
import { Wake } from "../../library/src/work/wake.js";
import type { Line } from "./line.js";
import type { RunLog, Sighting, SightingOf } from "./run-log.js";
import type { Who } from "./who.js";
import { numberOf, textOf } from "./wire-event.js";

/** The outbox of a database, at the other end of a line. What the database did is seen where it did it. */
export class LineOutbox implements SimulatedOutbox<unknown> {
  readonly transactions = "asynchronous";
  /** Of this process alone: hints of other processes do not reach it. */
  readonly wake: Wake = new Wake();
  readonly #line: Line;
  readonly #who: Who;
  readonly #outbox: SimulatedOutbox<unknown>;

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
    return this.#line.ask(
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

  listEndpoints(
    page: Parameters<SimulatedOutbox<unknown>["listEndpoints"]>[0],
  ): Promise<readonly Endpoint[]> {
    return this.#line.ask("list_endpoints", () => this.#outbox.listEndpoints(page));
  }

  sequence(): Promise<SequenceReport> {
    return this.#line.ask("sequence", () => this.#outbox.sequence());
  }

  claim(request: ClaimRequest): Promise<ClaimAnswer> {
    return this.#line.ask(
      "claim",
      () => this.#outbox.claim(request),
      ({ claims }) =>
        this.#counted({ kind: "claim", database: this.#database, request, claims, ...this.#who }),
    );
  }

  settle(request: SettleRequest): Promise<readonly Settled[]> {
    return this.#line.ask(
      "settle",
      () => this.#outbox.settle(request),
      (answers) =>
        this.#counted({ kind: "settle", database: this.#database, request, answers, ...this.#who }),
    );
  }

  release(worker: string, held: readonly Pick<Claim, "kind" | "id">[]): Promise<number> {
    // As they are when it is asked: what the worker holds may change while the call is on its way.
    const sent = held.map(({ kind, id }) => ({ kind, id }));
    return this.#line.ask(
      "release",
      () => this.#outbox.release(worker, sent),
      () => ({ kind: "release", database: this.#database, worker, held: sent }),
    );
  }

  extend(
    worker: string,
    leases: readonly Pick<Claim, "kind" | "id" | "epoch">[],
    leaseMs: number,
  ): Promise<readonly boolean[]> {
    return this.#line.ask("extend", () => this.#outbox.extend(worker, leases, leaseMs));
  }

  untilDue(of: Claimable): Promise<number | undefined> {
    return this.#line.ask("until_due", () => this.#outbox.untilDue(of));
  }

  blockedLanes(page: Page): Promise<Paged<BlockedLane>> {
    return this.#line.ask("blocked_lanes", () => this.#outbox.blockedLanes(page));
  }

  deadLetters(page: Page): Promise<Paged<DeadLetter>> {
    return this.#line.ask("dead_letters", () => this.#outbox.deadLetters(page));
  }

  redrive(delivery: string): Promise<Redriven> {
    return this.#line.ask(
      "redrive",
      () => this.#outbox.redrive(delivery),
      (answer) => this.#counted({ kind: "redrive", database: this.#database, delivery, answer }),
    );
  }

  skip(lane: bigint, head: bigint): Promise<Skipped> {
    return this.#line.ask(
      "skip",
      () => this.#outbox.skip(lane, head),
      (answer) => this.#counted({ kind: "skip", database: this.#database, lane, head, answer }),
    );
  }

  retry(target: RetryTarget): Promise<number> {
    return this.#line.ask("retry", () => this.#outbox.retry(target));
  }

  raiseGenerations(): Promise<number> {
    return this.#line.ask("raise_generations", () => this.#outbox.raiseGenerations());
  }

  attempts(deliveryId: string): Promise<readonly AttemptRecord[]> {
    return this.#line.ask("attempts", () => this.#outbox.attempts(deliveryId));
  }

  /** Counts what came of it: a path that no run takes is not tested by any. */
  #counted(sighting: SightingOf<"claim" | "settle" | "redrive" | "skip">): Sighting {
    countPaths(sighting, this.#line.log);
    return sighting;
  }

  #name(events: readonly OutgoingEvent[]): void {
    const names = new Map<string, number>();
    for (const { id, body } of events) names.set(id, numberOf(textOf(body)));
    this.#line.log.add({ kind: "named", names });
  }

  get #database(): number {
    return this.#line.database.index;
  }
}

function countPaths(sighting: SightingOf<"claim" | "settle" | "redrive" | "skip">, log: RunLog): void {
  switch (sighting.kind) {
    case "claim":
      for (const { run, attempts, failures } of sighting.claims) {
        if (run.length > 1) log.count("claim.run");
        if (attempts > failures) log.count("claim.lapsed");
        if (sighting.request.alone) log.count("claim.alone");
      }
      return;
    case "settle":
      for (const answer of sighting.answers) {
        if (answer.kind === "stale") log.count("settle.stale");
        else if (answer.next) log.count("settle.next");
      }
      return;
    case "redrive":
      return log.count(`redrive.${sighting.answer}`);
    case "skip":
      return log.count(`skip.${sighting.answer}`);
  }
}

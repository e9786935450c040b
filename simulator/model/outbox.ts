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
import { endpointOfCursor } from "../../library/src/operator/cursor.js";
import type { SimulatedOutbox } from "../world/simulated-store.js";
import type { Endpoint, EndpointChange } from "../../library/src/outbox/endpoint.js";
import type { Written } from "../../library/src/outbox/outbox-store.js";
import type { OutgoingEvent } from "../../library/src/outbox/outgoing-event.js";
import type { StoreCapabilities } from "../../library/src/store-capabilities.js";
import { Wake } from "../../library/src/work/wake.js";
import { claim, extend, release, untilDue } from "./claim.js";
import { changeEndpoint, putEndpoint, removeEndpoint, sortedEndpoints } from "./endpoints.js";
import type { Model } from "./model.js";
import { blockedLanes, deadLetters, raiseGenerations, redrive, retry, skip } from "./operator.js";
import { drainStage, judge, numbered, sequence, stage } from "./sequence.js";
import { settle } from "./settle.js";
import type { ModelTx } from "./transaction.js";

/** What the model promises: all that a database can. */
export const MODEL_CAPABILITIES: StoreCapabilities = Object.freeze({
  sharesHostTransaction: true,
  survivesPowerLoss: true,
  multiProcess: true,
  clock: "store",
});

/** The outbox of the model store: the port's words over plain data, each call one step. */
export class ModelOutbox implements SimulatedOutbox<ModelTx> {
  readonly capabilities: StoreCapabilities = MODEL_CAPABILITIES;
  readonly transactions = "asynchronous";
  readonly wake: Wake = new Wake();
  readonly #model: Model;
  readonly #batch: number;

  constructor(model: Model, batch: number) {
    this.#model = model;
    this.#batch = batch;
  }

  // oxlint-disable-next-line require-await -- a transaction that has ended makes it reject, not throw
  async write(events: readonly OutgoingEvent[], tx: ModelTx): Promise<readonly Written[]> {
    tx.mustBeOpen();
    const { rules } = this.#model;
    const verdicts = judge(this.#model, events);
    if (verdicts.includes("conflict")) return verdicts;
    const said = events.map((event, index) => {
      const isHere = tx.events.some(({ id, idGiven }) => idGiven && id === event.id);
      return isHere ? "duplicate" : (verdicts[index] as Written);
    });
    const fresh = events.filter((_, index) => said[index] === "written");
    const rows = fresh.map((event) => numbered(this.#model, event));
    if (rules.waitsForCommit) tx.events.push(...rows);
    else stage(this.#model, rows);
    return said;
  }

  append(events: readonly OutgoingEvent[]): Promise<readonly Written[]> {
    const verdicts = judge(this.#model, events);
    if (!verdicts.includes("conflict")) {
      const fresh = events.filter((_, index) => verdicts[index] === "written");
      const rows = fresh.map((event) => numbered(this.#model, event));
      stage(this.#model, rows);
    }
    this.wake.ring("committed");
    return Promise.resolve(verdicts);
  }

  addEndpoint(endpoint: Endpoint): Promise<boolean> {
    drainStage(this.#model);
    if (this.#model.rows.endpoints.has(endpoint.id)) return Promise.resolve(false);
    putEndpoint(this.#model, endpoint);
    return Promise.resolve(true);
  }

  async changeEndpoint(id: string, change: EndpointChange): Promise<Endpoint | undefined> {
    drainStage(this.#model);
    return this.#rung(changeEndpoint(this.#model, id, change));
  }

  removeEndpoint(id: string): Promise<boolean> {
    drainStage(this.#model);
    return Promise.resolve(removeEndpoint(this.#model, id));
  }

  readEndpoints(ids: readonly string[]): Promise<readonly Endpoint[]> {
    return Promise.resolve(sortedEndpoints(this.#model).filter(({ id }) => ids.includes(id)));
  }

  // oxlint-disable-next-line require-await -- a cursor that is none makes it reject, not throw
  async listEndpoints(
    page: Parameters<SimulatedOutbox<ModelTx>["listEndpoints"]>[0],
  ): Promise<readonly Endpoint[]> {
    const { tenant, after, limit } = page;
    const last = endpointOfCursor(after) ?? "";
    const isListed = (each: Endpoint): boolean => each.id > last && (tenant ?? each.tenant) === each.tenant;
    return sortedEndpoints(this.#model).filter(isListed).slice(0, limit);
  }

  sequence(): Promise<SequenceReport> {
    return Promise.resolve(sequence(this.#model, this.#batch));
  }

  claim(request: ClaimRequest): Promise<ClaimAnswer> {
    return Promise.resolve(claim(this.#model, request));
  }

  settle(request: SettleRequest): Promise<readonly Settled[]> {
    return Promise.resolve(request.settlements.map((each) => settle(this.#model, each, request)));
  }

  release(worker: string, held: readonly Pick<Claim, "kind" | "id">[]): Promise<number> {
    return Promise.resolve(release(this.#model, worker, held));
  }

  extend(
    worker: string,
    leases: readonly Pick<Claim, "kind" | "id" | "epoch">[],
    leaseMs: number,
  ): Promise<readonly boolean[]> {
    return Promise.resolve(extend(this.#model, worker, { leases, leaseMs }));
  }

  untilDue(of: Claimable): Promise<number | undefined> {
    return Promise.resolve(untilDue(this.#model, of));
  }

  // oxlint-disable-next-line require-await -- a cursor that is none makes it reject, not throw
  async blockedLanes(page: Page): Promise<Paged<BlockedLane>> {
    return blockedLanes(this.#model, page);
  }

  // oxlint-disable-next-line require-await -- a cursor that is none makes it reject, not throw
  async deadLetters(page: Page): Promise<Paged<DeadLetter>> {
    return deadLetters(this.#model, page);
  }

  redrive(deliveryId: string): Promise<Redriven> {
    return this.#rung(redrive(this.#model, deliveryId));
  }

  skip(laneId: bigint, head: bigint): Promise<Skipped> {
    return this.#rung(skip(this.#model, laneId, head));
  }

  retry(target: RetryTarget): Promise<number> {
    return this.#rung(retry(this.#model, target));
  }

  raiseGenerations(): Promise<number> {
    return Promise.resolve(raiseGenerations(this.#model));
  }

  attempts(deliveryId: string): Promise<readonly AttemptRecord[]> {
    const known = this.#model.rows.attempts.get(deliveryId) ?? [];
    return Promise.resolve(known.toSorted((a, b) => a.round - b.round || a.number - b.number));
  }

  #rung<T>(answer: T): Promise<T> {
    this.wake.ring("committed");
    return Promise.resolve(answer);
  }
}

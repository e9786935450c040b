import type { Clock, Observer, Signal } from "posthorn";
import { timeOfId } from "posthorn/gateway";
import type { IngestVerdict } from "./metrics.js";
import { SeriesCounters } from "./series-counters.js";
import { Tail } from "./tail.js";

/** What ingest made of one event, or of one request. */
export interface IngestedEvent {
  readonly source: string;
  readonly verdict: IngestVerdict;
  readonly type?: string;
  readonly eventId?: string;
  /** Why a request was rejected. */
  readonly code?: string;
}

/** What happens on this node, for counters and for those who watch. */
export class Activity {
  readonly observer: Observer = (signal) => this.#observe(signal);
  readonly counters: SeriesCounters;
  readonly tail: Tail;
  readonly #clock: Pick<Clock, "now">;

  constructor(node: string, clock: Pick<Clock, "now">) {
    const now = (): number => clock.now();
    this.#clock = clock;
    this.counters = new SeriesCounters(now);
    this.tail = new Tail(node, now);
  }

  ingested({ verdict, ...event }: IngestedEvent): void {
    this.counters.ingested(event.source, verdict);
    if (verdict !== "failed" && verdict !== "handshake") this.tail.tell({ kind: verdict, ...event });
  }

  published(event: { readonly source: string; readonly type: string; readonly eventId: string }): void {
    this.counters.published(event.source);
    this.tail.tell({ kind: "published", ...event });
  }

  #observe(signal: Signal): void {
    if (signal.kind === "delivery_attempted") {
      const { endpoint, type, id, attempt, outcome, status, error, durationMs } = signal;
      this.counters.observe(signal, this.#lagMs(id));
      this.tail.tell({
        kind: "attempted",
        endpointId: endpoint,
        type,
        eventId: id,
        attempt,
        outcome,
        status: status ?? null,
        error: error ?? null,
        durationMs,
      });
    } else if (signal.kind === "delivery_dead") {
      const { endpoint, type, id, because } = signal;
      this.counters.observe(signal, undefined);
      this.tail.tell({ kind: "dead", endpointId: endpoint, type, eventId: id, because });
    } else if (signal.kind === "endpoint_disabled") {
      const { endpoint, because } = signal;
      this.tail.tell({ kind: "endpoint_disabled", endpointId: endpoint, because });
    }
  }

  /** Since the event got its id; an id that a publisher gave does not say when that was. */
  #lagMs(eventId: string): number | undefined {
    const madeMs = timeOfId(eventId);
    return madeMs === undefined ? undefined : Math.max(0, this.#clock.now() - madeMs);
  }
}

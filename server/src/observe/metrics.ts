import type { Clock, Observer, Signal } from "posthorn";
import { systemClock } from "posthorn";
import type { OutboxCensus, RetentionCensus } from "posthorn/operator";
import { collectDefaultMetrics, Counter, Gauge, Registry } from "prom-client";
import { Census } from "./census.js";
import type { Status } from "posthorn/client";
import { addStatusGauges } from "./status-gauges.js";
import { addRetentionGauges } from "./retention-gauges.js";
import { TimeHistogram } from "./time-histogram.js";

/** What ingest made of a request or of one of its events. */
export type IngestVerdict = "stored" | "duplicate" | "conflict" | "rejected" | "failed" | "handshake";

export interface AnsweredRequest {
  readonly method: string;
  /** The route's pattern, never the path. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
}

/** The metrics for Prometheus. */
export interface Metrics {
  /** Counts the library's signals: attempts, dead deliveries, failures of the store. */
  readonly observer: Observer;
  /** An event of a source got its verdict, or a request of it was rejected. */
  ingested(source: string, verdict: IngestVerdict): void;
  /** Rejected requests that were dropped because there were too many. */
  rejectedDropped(count: number): void;
  answered(request: AnsweredRequest): void;
  /** Times an operation of the store, by name. */
  timed<T>(operation: string, run: () => Promise<T>): Promise<T>;
  /** A request with a token that is unknown or has expired. */
  tokenRefused(): void;
  /** The page that Prometheus reads. Never waits long for the store. */
  text(): Promise<{ readonly contentType: string; readonly body: string }>;
}

export interface MetricsOptions {
  /** Counts what waits; without it the gauges of the outbox are left out. */
  readonly census?: () => Promise<OutboxCensus>;
  /** How much room everything takes; without it those gauges are left out. */
  readonly retention?: () => Promise<RetentionCensus>;
  /** What is stuck; without it those gauges are left out. */
  readonly status?: () => Promise<Status>;
  readonly clock?: Clock;
  /** Of the process and its event loop. @default true */
  readonly processMetrics?: boolean;
}

export function createMetrics(options: MetricsOptions = {}): Metrics {
  return new PrometheusMetrics(options);
}

// Each source is a time series in Prometheus; further sources share one.
const MOST_SOURCES = 200;
const OTHER_SOURCES = "other";
const STORE_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

class PrometheusMetrics implements Metrics {
  readonly observer: Observer = (signal) => this.#observe(signal);
  readonly #registry = new Registry();
  readonly #clock: Clock;
  readonly #census: Census | undefined;
  // Counted here and passed to Prometheus' counter at each scrape, so that events do not pay for its labels.
  readonly #verdicts = new Map<string, Map<IngestVerdict, number>>();
  readonly #attempts = this.#counter("attempts_total", "Attempts to deliver.", ["outcome", "status_class"]);
  readonly #attemptTimes = new TimeHistogram({
    name: "posthorn_attempt_seconds",
    help: "Time of an attempt.",
    labels: ["outcome"],
    bounds: REQUEST_BUCKETS,
  });
  readonly #givenUp = this.#counter("deliveries_given_up_total", "Deliveries that became dead.", ["because"]);
  readonly #disabled = this.#counter("endpoints_disabled_total", "Endpoints that were disabled.", [
    "because",
  ]);
  readonly #dropped = this.#counter("rejected_dropped_total", "Rejected requests that were not kept.");
  readonly #requests = new TimeHistogram({
    name: "posthorn_http_request_seconds",
    help: "Time of a request.",
    labels: ["method", "route", "status_class"],
    bounds: REQUEST_BUCKETS,
  });
  readonly #storeTimes = new TimeHistogram({
    name: "posthorn_store_seconds",
    help: "Time of an operation of the store.",
    labels: ["operation"],
    bounds: STORE_BUCKETS,
  });
  readonly #storeFailures = this.#counter("store_failures_total", "Operations that the store refused.", [
    "operation",
  ]);
  readonly #sequenceFailures = this.#counter(
    "sequence_failures_total",
    "Events that could not be given their places.",
  );
  readonly #refusedTokens = this.#counter("tokens_refused_total", "Requests with a wrong token.");

  constructor({ census, retention, status, clock = systemClock, processMetrics = true }: MetricsOptions) {
    this.#clock = clock;
    this.#countVerdicts();
    if (processMetrics) collectDefaultMetrics({ register: this.#registry });
    if (retention !== undefined) {
      const onFailure = (): void => this.#storeFailures.inc({ operation: "retention" });
      const limits = { keepMs: 60_000, waitMs: 1000 };
      addRetentionGauges(this.#registry, new Census(retention, { clock, onFailure, limits }));
    }
    if (status !== undefined) {
      const onFailure = (): void => this.#storeFailures.inc({ operation: "status" });
      const limits = { keepMs: 10_000, waitMs: 1000 };
      addStatusGauges(this.#registry, new Census(status, { clock, onFailure, limits }));
    }
    if (census === undefined) return;
    this.#census = new Census(census, {
      clock,
      onFailure: () => this.#storeFailures.inc({ operation: "census" }),
    });
    this.#addGauges(this.#census);
  }

  ingested(source: string, verdict: IngestVerdict): void {
    const counts = this.#verdicts.get(source) ?? this.#verdictsOf(source);
    counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  }

  rejectedDropped(count: number): void {
    this.#dropped.inc(count);
  }

  answered({ method, route, status, durationMs }: AnsweredRequest): void {
    this.#requests.of(method, route, classOf(status)).add(durationMs / 1000);
  }

  timed<T>(operation: string, run: () => Promise<T>): Promise<T> {
    const times = this.#storeTimes.of(operation);
    const from = this.#clock.monotonic();
    const took = (): void => times.add((this.#clock.monotonic() - from) / 1000);
    return run().then(
      (value) => {
        took();
        return value;
      },
      (error: unknown) => {
        took();
        this.#storeFailures.inc({ operation });
        throw error;
      },
    );
  }

  tokenRefused(): void {
    this.#refusedTokens.inc();
  }

  async text(): Promise<{ readonly contentType: string; readonly body: string }> {
    const histograms = [this.#attemptTimes, this.#requests, this.#storeTimes].map((each) => each.text());
    return {
      contentType: this.#registry.contentType,
      body: [await this.#registry.metrics(), ...histograms, ""].join("\n"),
    };
  }

  #observe(signal: Signal): void {
    // Failures of the store are counted by the timed outbox; counting the dispatcher's signal would double them.
    if (signal.kind === "delivery_attempted") {
      const { outcome, status, durationMs } = signal;
      this.#attempts.inc({ outcome, status_class: classOf(status) });
      this.#attemptTimes.of(outcome).add(durationMs / 1000);
    } else if (signal.kind === "delivery_dead") this.#givenUp.inc({ because: signal.because });
    else if (signal.kind === "endpoint_disabled") this.#disabled.inc({ because: reasonOf(signal.because) });
    else if (signal.kind === "sequence_failed") this.#sequenceFailures.inc();
  }

  /** Adds the counts of a new source. */
  #verdictsOf(source: string): Map<IngestVerdict, number> {
    const shown = this.#verdicts.size < MOST_SOURCES ? source : OTHER_SOURCES;
    const counts = this.#verdicts.get(shown) ?? new Map<IngestVerdict, number>();
    this.#verdicts.set(shown, counts);
    return counts;
  }

  #countVerdicts(): void {
    const verdicts = this.#verdicts;
    const counter = new Counter({
      name: "posthorn_ingest_total",
      help: "Events taken in, and requests rejected.",
      labelNames: ["source", "verdict"],
      registers: [this.#registry],
      collect() {
        counter.reset();
        for (const [source, counts] of verdicts)
          for (const [verdict, count] of counts) counter.inc({ source, verdict }, count);
      },
    });
  }

  #addGauges(census: Census): void {
    this.#gauge(
      census,
      "staged_events",
      "Events that wait for their places in lanes.",
      (each) => each.staged,
    );
    this.#gauge(
      census,
      "held_events",
      "Of these, those that wait for others of their key.",
      (each) => each.held,
    );
    this.#gauge(
      census,
      "waiting_deliveries",
      "Deliveries that wait or are under way.",
      (each) => each.waiting,
    );
    this.#gauge(
      census,
      "oldest_due_seconds",
      "How long the longest due delivery has been due.",
      (each) => each.oldestDueMs / 1000,
    );
    this.#gauge(
      census,
      "blocked_lanes",
      "Lanes whose head has failed or is dead.",
      (each) => each.blockedLanes,
    );
    this.#gauge(
      census,
      "dead_deliveries",
      "Deliveries that were given up and not redriven.",
      (each) => each.dead,
    );
    this.#gauge(
      census,
      "set_aside_events",
      "Events that could not be given their places and were not redriven.",
      (each) => each.setAside,
    );
    this.#gauge(
      census,
      "census_age_seconds",
      "How old the numbers of the outbox are.",
      (_, ageMs) => ageMs / 1000,
    );
  }

  #gauge(
    census: Census,
    name: string,
    help: string,
    value: (each: OutboxCensus, ageMs: number) => number,
  ): void {
    const gauge: Gauge = new Gauge({
      name: `posthorn_${name}`,
      help,
      registers: [this.#registry],
      async collect() {
        const reading = await census.read();
        // No value without a census: 0 would say that all is well.
        if (reading === undefined) gauge.remove();
        else gauge.set(value(reading.census, reading.ageMs));
      },
    });
  }

  #counter(name: string, help: string, labelNames: readonly string[] = []): Counter {
    return new Counter({
      name: `posthorn_${name}`,
      help,
      labelNames: [...labelNames],
      registers: [this.#registry],
    });
  }
}

function classOf(status: number | undefined): string {
  return status === undefined ? "none" : `${Math.floor(status / 100)}xx`;
}

/** What kind of reason it is: the sentence itself may name an address, and each address would be a time series. */
function reasonOf(because: string): string {
  const [, status] = /\banswered (\d{3})\b/.exec(because) ?? [];
  if (status !== undefined) return `answered_${status}`;
  return /\bsecrets?\b/.test(because) ? "secret" : "other";
}

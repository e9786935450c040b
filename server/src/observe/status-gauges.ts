import type { Status } from "posthorn/client";
import { Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { Census } from "./census.js";

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

// Each source is a time series in Prometheus.
const MOST_SOURCES = 200;
const ENDPOINT_STATES = ["active", "failing", "halted", "parked", "paused", "disabled"] as const;
const ROLES = ["ingest", "dispatch", "api"] as const;

/** Shows what is stuck: `oldest_due_seconds` knows only of what a dispatcher may send. */
export function addStatusGauges(registry: Registry, census: Census<Status>): void {
  gauge(
    "oldest_undelivered_seconds",
    "Age of the oldest delivery that is due or blocked, whatever blocks it.",
    [],
    ({ counts }) => [[{}, counts.oldestUndeliveredMs / 1000]],
  );
  gauge("lanes", "Lanes that do not move, by state.", ["state"], ({ counts }) => [
    [{ state: "halted" }, counts.haltedLanes],
    [{ state: "parked" }, counts.parkedLanes],
    [{ state: "retrying" }, counts.retryingLanes],
  ]);
  gauge("endpoints", "Endpoints, by the worst that is true of them.", ["state"], ({ endpoints }) =>
    ENDPOINT_STATES.map((state): Sample => [
      { state },
      endpoints.filter((each) => each.state === state).length,
    ]),
  );
  gauge("nodes", "Nodes that were seen within the last minute, by role.", ["role"], ({ nodes }) =>
    ROLES.map((role): Sample => [{ role }, nodes.filter(({ roles }) => roles.includes(role)).length]),
  );
  gauge("source_quiet_seconds", "Since a source was last sent anything.", ["source"], ({ sources, at }) =>
    sources
      .filter(({ lastAt }) => lastAt !== null)
      .slice(0, MOST_SOURCES)
      .map(({ name, lastAt }): Sample => [
        { source: name },
        Math.max(0, (Date.parse(at) - Date.parse(lastAt ?? at)) / 1000),
      ]),
  );

  function gauge(
    name: string,
    help: string,
    labelNames: readonly string[],
    samples: (status: Status) => readonly Sample[],
  ): void {
    const made: Gauge = new Gauge({
      name: `posthorn_${name}`,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      async collect() {
        const reading = await census.read();
        made.reset();
        // No value without a count: 0 would say that all is well.
        if (reading === undefined) made.remove();
        else for (const [labels, value] of samples(reading.census)) made.set(labels, value);
      },
    });
  }
}

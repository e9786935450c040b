import type { RetentionCensus } from "posthorn/operator";
import { Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { Census } from "./census.js";

/** Shows how much room everything takes, and whether the removal of what is old keeps up. */
export function addRetentionGauges(registry: Registry, census: Census<RetentionCensus>): void {
  gauge("retained_bytes", "Size of the tables and indexes, or of the SQLite file.", ({ bytes }) => [
    [{}, bytes],
  ]);
  gauge("oldest_event_seconds", "Age of the oldest event that is kept.", ({ kinds }) =>
    kinds.filter(({ kind }) => kind === "events").map(({ oldestMs = 0 }): Sample => [{}, oldestMs / 1000]),
  );
  gauge("removed_rows", "Old rows that were removed, ever, by all nodes.", ({ kinds }) =>
    kinds.map(({ kind, removed }): Sample => [{ kind }, removed]),
  );
  gauge("retention_passed_seconds", "Since a pass of the removal last reached its end.", ({ kinds }) =>
    kinds.flatMap(({ kind, passedMs }): Sample[] =>
      passedMs === undefined ? [] : [[{ kind }, passedMs / 1000]],
    ),
  );

  function gauge(name: string, help: string, samples: (census: RetentionCensus) => readonly Sample[]): void {
    const made: Gauge = new Gauge({
      name: `posthorn_${name}`,
      help,
      labelNames: ["kind"],
      registers: [registry],
      async collect() {
        const reading = await census.read();
        made.reset();
        // No value without a census: 0 would say that all is well.
        if (reading === undefined) made.remove();
        else for (const [labels, value] of samples(reading.census)) made.set(labels, value);
      },
    });
  }
}

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

import type { HistoryReport, Violation } from "./checker.js";
import type { HistoryRecord } from "./record.js";

const MOST_PRINTED = 5;

/** Says what was violated, with the records that prove it; an empty text when nothing was. */
export function printViolations({ violations, records }: HistoryReport): string {
  if (violations.length === 0) return "";
  const more = violations.length - MOST_PRINTED;
  return [
    `${violations.length} violations in ${records} records`,
    ...violations.slice(0, MOST_PRINTED).map(printViolation),
    ...(more > 0 ? [`and ${more} more`] : []),
  ].join("\n\n");
}

function printViolation({ invariant, promise, event, found, witness }: Violation): string {
  const name = event === undefined ? "" : ` ${event.tenant}/${event.source}/${event.id}:`;
  const lines = witness.toSorted((a, b) => a.n - b.n).map((record) => `  ${printRecord(record)}`);
  return [`${invariant} (${promise})`, `${name.trimStart()} ${found}`.trimStart(), ...lines].join("\n");
}

/** One record as a line. */
export function printRecord({ n, proc, incarnation, mono, op, phase, fields }: HistoryRecord): string {
  return `#${n} ${proc}/${incarnation} +${mono.toFixed(1)} ms ${op}.${phase} ${JSON.stringify(fields)}`;
}

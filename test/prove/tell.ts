import { printViolations } from "posthorn/testing";
import type { HistoryReport, InvariantName } from "posthorn/testing";
import type { Flow } from "./flow.js";
import type { Bench } from "./part.js";

const HARMS: Readonly<Record<string, readonly InvariantName[]>> = {
  "lost events": ["I3", "I6"],
  "doubled effects": ["I2", "I5"],
  "reordered first receipts": ["I7"],
  "corrupted bytes": ["I12"],
  "other broken promises": ["I1", "I4", "I9", "I10", "I13"],
};

/** Reads what a flow came to, and tells the bench. Every process of it has ended afterwards. */
export async function tellEnd(bench: Bench, flow: Flow, context: string): Promise<HistoryReport> {
  const report = await flow.end();
  const overtaken = flow.landing?.overtaken() ?? 0;
  for (const [harm, names] of Object.entries(HARMS)) {
    const times = report.violations.filter(({ invariant }) => names.includes(invariant)).length;
    bench.count(harm, times + (harm.startsWith("reordered") ? overtaken : 0));
  }
  const of = (what: string): number => report.counts.get(what) ?? 0;
  bench.count("publications", of("publish.invoke"));
  bench.count("publications whose fate nobody was told", of("publish.unknown"));
  bench.count("events stored", of("event_row.ok"));
  bench.count("receipts", flow.server.receipts.length);
  bench.count("receipts of what had come before", flow.server.repeated);
  for (const outcome of ["acknowledged", "refused", "unknown", "lapsed"])
    bench.count(`attempts: ${outcome}`, of(`attempt.${outcome}`));
  bench.count("redriven after their workers died", flow.redriven);
  bench.count("effects where they landed", flow.landing?.effects() ?? 0);
  if (report.violations.length > 0) bench.note(`${context}: ${printViolations(report)}`);
  bench.expect(
    `${context}: nothing lost, doubled, reordered or corrupted`,
    report.violations.length + overtaken === 0,
  );
  if (flow.landing) bench.expect(`${context}: the receiver's file is whole`, flow.landing.isWhole());
  return report;
}

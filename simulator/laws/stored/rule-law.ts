import { AGAIN_MS, THROWN, TIMES_NOW } from "../../stored/handlers.js";
import { eventsOf } from "../../stored/script.js";
import type { ConsumerPlan, StoredScript } from "../../stored/script.js";
import type { SightingOf } from "../../world/run-log.js";
import type { Report } from "../violation.js";
import type { StoredFacts } from "./stored-facts.js";

type Ruled = SightingOf<"ruled">;

/** What becomes of an event whose handler threw is what the rules of its consumer say, and its retries where there is none (W10). */
export function ruleLaw({ script, records }: StoredFacts, report: Report): void {
  const failures = new Map<string, number>();
  for (const { record } of records) {
    if (record.kind === "leased")
      for (const { lane, failures: known } of record.lanes) failures.set(lane, known);
    if (record.kind !== "ruled") continue;
    const plan = script.consumers.find(({ name }) => name === record.consumer);
    const wanted = plan && wantedOf(record, { plan, script, failures: failures.get(record.lane) ?? 0 });
    if (wanted === undefined || wanted === saidOf(record)) continue;
    const { consumer, number, error } = record;
    const at = `event ${number} at ${consumer}`;
    report("W10 rule", `${at} is ${saidOf(record)} and not ${wanted}, because of: ${error}`);
  }
}

interface Known {
  readonly plan: ConsumerPlan;
  readonly script: StoredScript;
  /** How often it has failed before. */
  readonly failures: number;
}

function wantedOf(record: Ruled, { plan, script, failures }: Known): string {
  const { error } = record;
  if (record.rest.state === "skipped" && error === "") return unhandled(record, script);
  if (error.includes(THROWN.skips)) return "skipped of no use";
  if (error.includes(THROWN.hopeless)) return "dead error_rule";
  if (error.includes(THROWN.pauses)) return `paused ${plan.pauseMs}`;
  if (error.includes(THROWN.again)) return `due ${AGAIN_MS} free`;
  if (!error.includes(THROWN.collides)) return retried(plan, failures);
  return failures < TIMES_NOW ? "due 0" : retried(plan, failures - TIMES_NOW);
}

/** Without a word only what no version of the host handles is skipped. */
function unhandled({ number }: Ruled, { steps }: StoredScript): string {
  return eventsOf({ steps }).get(number)?.type === "note.seen" ? "skipped" : "applied";
}

function retried({ waitsMs }: ConsumerPlan, failures: number): string {
  const waitMs = waitsMs[failures];
  return waitMs === undefined ? "dead exhausted" : `due ${waitMs}`;
}

function saidOf({ rest, error }: Ruled): string {
  switch (rest.state) {
    case "due":
      return `due ${Math.round(rest.afterMs)}${rest.counts ? "" : " free"}`;
    case "dead":
      return `dead ${rest.because}`;
    case "paused":
      return `paused ${rest.forMs}`;
    case "skipped":
      return error.startsWith("of no use (") ? "skipped of no use" : "skipped";
    case "cancelled":
    case "disabled":
      return rest.state;
  }
}

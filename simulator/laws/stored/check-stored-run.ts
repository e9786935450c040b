import type { StoredWorld } from "../../stored/world.js";
import type { Broken, RunViolation } from "../violation.js";
import { HoldLaw } from "./hold-law.js";
import { LeaseLaw } from "./lease-law.js";
import { againLaw, conflictLaw, onceLaw, publishedLaw } from "./once-law.js";
import { removedLaw } from "./removed-law.js";
import { ruleLaw } from "./rule-law.js";
import { droppedLaw, newestLaw, sequenceLaw } from "./sequence-law.js";
import { StepLaw } from "./step-law.js";
import { StoredFacts } from "./stored-facts.js";

// One is enough to fail, some help to understand; thousands of one kind only hide the others.
const MOST = 20;

/** Judges a run of workers by what its observers wrote down: what was asked and answered, and what transactions committed. */
export function checkStoredRun(world: StoredWorld, cameToRest: boolean): readonly RunViolation[] {
  const violations: RunViolation[] = [];
  const { script, log, scheduler } = world;
  let at: number | undefined;
  const report = (invariant: Broken, found: string): void => {
    log.count(`broken.${invariant}`);
    if (violations.length < MOST) violations.push({ invariant, found, ...(at !== undefined && { at }) });
  };
  const leases = new LeaseLaw(
    script.consumers.map(({ name }) => name),
    report,
  );
  for (const record of log.records) {
    if (record.lost) continue;
    at = record.at;
    leases.observe(record);
  }
  at = undefined;
  const facts = new StoredFacts(script, log.records);
  log.count("stored", facts.kept.length);
  log.count("effects", facts.effects.length);
  sequenceLaw(facts, report);
  newestLaw(facts, report);
  new HoldLaw(facts, report).judge();
  ruleLaw(facts, report);
  new StepLaw(facts, report).judge();
  conflictLaw(facts, report);
  if (!cameToRest) report("I18", `it did not come to rest by ${Math.round(scheduler.now)} ms`);
  onceLaw(facts, report);
  // What is not over yet may still come.
  if (!cameToRest) return violations;
  againLaw(facts, report);
  removedLaw(facts, report);
  droppedLaw(facts, report);
  publishedLaw(facts, report);
  return violations;
}

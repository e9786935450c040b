import type { AttemptRecord } from "../../library/src/lanes/attempt-record.js";
import { EndLaw } from "./end-law.js";
import { LaneLaw } from "./lane-law.js";
import { orderLaw } from "./order-law.js";
import { Places } from "./places.js";
import { Publications } from "./publications.js";
import { ReceiptLaw } from "./receipt-law.js";
import type { EndpointLaw } from "./rest-law.js";
import type { Broken, RunViolation } from "./violation.js";
import { WireFacts } from "./wire-facts.js";
import { PASSED } from "../world/world.js";
import type { World } from "../world/world.js";

// One is enough to fail, some help to understand; thousands of one kind only hide the others.
const MOST = 20;

/** Judges a run by what its observers wrote down, and by what is left at its end. */
export async function checkRun(world: World, cameToRest: boolean): Promise<readonly RunViolation[]> {
  const violations: RunViolation[] = [];
  let at: number | undefined;
  const report = (invariant: Broken, found: string): void => {
    if (violations.length < MOST) violations.push({ invariant, found, ...(at !== undefined && { at }) });
  };
  const { records } = world.log;
  const publications = new Publications();
  const wire = new WireFacts(report);
  const places = new Places(report);
  const lanes = new LaneLaw({ report, endpoints: lawsOf(world), wire, places });
  const receipts = new ReceiptLaw({
    report,
    lanes,
    wire,
    publishedBody: (number) => publications.bodyOf(number),
    timesOf: (number) => publications.timesOf(number),
  });
  let index = -1;
  for (const record of records) {
    index++;
    if (record.lost) continue;
    at = record.at;
    publications.observe(record, index);
    if (record.kind === "named") places.name(record.names);
    wire.observe(record);
    lanes.observe(record);
    receipts.observe(record);
  }
  at = undefined;
  if (!cameToRest) report("I18", `it did not come to rest by ${Math.round(world.scheduler.now)} ms`);
  orderLaw({ places, publications, endpoints: world.script.endpoints, report });
  if (cameToRest) {
    const { script, databases } = world;
    await new EndLaw({ script, databases, publications, places, report }).judge(records);
    await attemptLaw(world, places, report);
  }
  return violations;
}

function lawsOf({ script }: World): ReadonlyMap<string, EndpointLaw> {
  return new Map<string, EndpointLaw>([
    ...script.endpoints.map(({ name, dead, waitsMs }) => [name, { dead, waitsMs }] as const),
    [PASSED, { dead: undefined, waitsMs: [100, 300] }],
  ]);
}

/** Every attempt is on record: numbered from 1 without a gap or a repeat in each round, and a delivered event has one that was acknowledged (I10). */
async function attemptLaw(
  { databases }: World,
  places: Places,
  report: (invariant: Broken, found: string) => void,
): Promise<void> {
  for (const { database, delivery, isDelivered } of places.deliveries()) {
    const attempts = (await databases[database]?.store.outbox.attempts(delivery)) ?? [];
    const rounds = new Map<number, AttemptRecord[]>();
    for (const attempt of attempts)
      rounds.set(attempt.round, [...(rounds.get(attempt.round) ?? []), attempt]);
    for (const [round, those] of rounds) {
      if (those.every(({ number }, index) => number === index + 1)) continue;
      report(
        "I10",
        `attempts of ${delivery} in round ${round} have the numbers ${those.map(({ number }) => number).join(", ")}`,
      );
    }
    if (isDelivered && attempts.at(-1)?.outcome !== "acknowledged") {
      report("I10", `${delivery} is delivered, and no record tells of the attempt`);
    }
  }
}

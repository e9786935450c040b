import { STORE_MUTANTS } from "./all.js";
import type { Databases } from "./databases.js";
import { openDatabases } from "./databases.js";
import { DECISIONS } from "./decisions.js";
import type { Judgement } from "./judge.js";
import { judgeDecision, judgeNthCall, judgeStore, judgeWithoutBugs } from "./judge.js";
import type { DatabaseName, Planted } from "./mutant.js";
import type { World } from "../simulator/campaign.js";
import { NTH_CALLS } from "./nth-calls.js";
import { WORKER_DECISIONS } from "./worker-decisions.js";

/** What must notice a bug. */
export type Where = DatabaseName | "simulator" | "workers" | "nth-call";

/** Something that is judged, and what it came to. */
export interface Judged extends Judgement {
  readonly where: Where;
  readonly name: string;
}

/** The name of a run without a bug, in which every case must be green. */
export const NO_BUG = "no bug";

export type IsWanted = (name: string, where: Where) => boolean;

interface Trial {
  readonly where: Where;
  readonly name: string;
  readonly judge: () => Promise<Judgement>;
}

// Each is mostly one busy process.
const AT_ONCE = 2;

/** Plants the bugs that are wanted, one after the other, and tells what became of each. */
export async function judgeAll(isWanted: IsWanted, tell: (judged: Judged) => void): Promise<void> {
  const needsPostgres = STORE_MUTANTS.some(
    ({ name, database }) => database === "postgres" && isWanted(name, database),
  );
  const databases = needsPostgres ? await openDatabases() : undefined;
  try {
    const waiting = [...trialsOf(isWanted, databases)];
    const work = async (): Promise<void> => {
      for (let trial = waiting.shift(); trial !== undefined; trial = waiting.shift())
        tell(await judged(trial));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } finally {
    await databases?.close();
  }
}

function trialsOf(isWanted: IsWanted, databases: Databases | undefined): readonly Trial[] {
  const mutants = STORE_MUTANTS.filter(({ name, database }) => isWanted(name, database));
  const untouched = (["sqlite", "postgres"] as const).flatMap((where): Trial[] => {
    const those = mutants.filter(({ database }) => database === where);
    if (those.length === 0) return [];
    return [{ where, name: NO_BUG, judge: () => judgeWithoutBugs(where, those, databases) }];
  });
  return [
    ...untouched,
    ...mutants.map((each) => ({
      where: each.database,
      name: each.name,
      judge: () => judgeStore(each, databases),
    })),
    ...decisionTrials(DECISIONS, "delivery", isWanted),
    ...decisionTrials(WORKER_DECISIONS, "workers", isWanted),
    ...NTH_CALLS.map((each) => ({
      where: "nth-call" as const,
      name: each.name,
      judge: () => judgeNthCall(each),
    })).filter(({ name, where }) => isWanted(name, where)),
  ];
}

function decisionTrials(planted: readonly Planted[], world: World, isWanted: IsWanted): readonly Trial[] {
  const where = world === "workers" ? "workers" : "simulator";
  return planted
    .filter(({ name }) => isWanted(name, where))
    .map((each) => ({ where, name: each.name, judge: () => judgeDecision(each, world) }));
}

async function judged({ where, name, judge }: Trial): Promise<Judged> {
  try {
    return { where, name, ...(await judge()) };
  } catch (error) {
    return { where, name, passed: false, told: error instanceof Error ? error.message : String(error) };
  }
}

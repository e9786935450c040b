// npx tsx scripts/mutants.ts [--only <part of a name>] [--database sqlite|postgres] [--simulator]: plants bugs in the
// library's source, one at a time and in memory alone, and expects the suite that must notice each of them to go red.
import { parseArgs } from "node:util";
import { STORE_MUTANTS } from "../test/mutants/all.js";
import { openDatabases } from "../test/mutants/databases.js";
import type { Databases } from "../test/mutants/databases.js";
import { DECISIONS } from "../test/mutants/decisions.js";
import { judgeDecision, judgeStore, judgeWithoutBugs } from "../test/mutants/judge.js";
import type { Judgement } from "../test/mutants/judge.js";
import type { DatabaseName } from "../test/mutants/mutant.js";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    database: { type: "string" },
    simulator: { type: "boolean", default: false },
  },
});

/** Something to be judged. */
interface Trial {
  readonly where: DatabaseName | "simulator";
  readonly name: string;
  readonly judge: () => Promise<Judgement>;
}

// Each is mostly one busy process.
const AT_ONCE = 2;

function trialsOf(databases: Databases | undefined): readonly Trial[] {
  const mutants = STORE_MUTANTS.filter(({ name, database }) => isWanted(name, database));
  const decisions = DECISIONS.filter(({ name }) => isWanted(name, "simulator"));
  const untouched = (["sqlite", "postgres"] as const).flatMap((database): Trial[] => {
    const those = mutants.filter((each) => each.database === database);
    if (those.length === 0) return [];
    const judge = (): Promise<Judgement> => judgeWithoutBugs(database, those, databases);
    return [{ where: database, name: "no bug", judge }];
  });
  return [
    ...untouched,
    ...mutants.map((each) => ({
      where: each.database,
      name: each.name,
      judge: () => judgeStore(each, databases),
    })),
    ...decisions.map((each) => ({
      where: "simulator" as const,
      name: each.name,
      judge: () => judgeDecision(each),
    })),
  ];
}

function isWanted(name: string, where: Trial["where"]): boolean {
  if (!name.includes(values.only)) return false;
  if (values.database !== undefined) return where === values.database;
  return !values.simulator || where === "simulator";
}

async function judged({ where, name, judge }: Trial): Promise<boolean> {
  let judgement: Judgement;
  try {
    judgement = await judge();
  } catch (error) {
    judgement = { passed: false, told: error instanceof Error ? error.message : String(error) };
  }
  const { passed, told } = judgement;
  console.log(`${passed ? "caught" : "FAILED"}  ${where.padEnd(9)}  ${name}\n        ${told}`);
  return passed;
}

async function main(): Promise<void> {
  const needsPostgres = STORE_MUTANTS.some(
    ({ name, database }) => database === "postgres" && isWanted(name, database),
  );
  const databases = needsPostgres ? await openDatabases() : undefined;
  try {
    const waiting = [...trialsOf(databases)];
    const results: boolean[] = [];
    const work = async (): Promise<void> => {
      for (let trial = waiting.shift(); trial !== undefined; trial = waiting.shift())
        results.push(await judged(trial));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    const passed = results.filter(Boolean).length;
    console.log(`${passed} passed, ${results.length - passed} failed`);
    // A run that planted nothing proves nothing.
    if (passed === 0 || passed < results.length) process.exitCode = 1;
  } finally {
    await databases?.close();
  }
}

await main();

// npx tsx scripts/mutants.ts [--only <part of a name>] [--database sqlite|postgres] [--suite simulator|workers|nth-call]: plants
// bugs in the library's source, one at a time and in memory alone, and expects the suite that must notice each to go red.
import { parseArgs } from "node:util";
import { judgeAll, NO_BUG } from "../test/mutants/trials.js";
import type { Where } from "../test/mutants/trials.js";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    database: { type: "string" },
    suite: { type: "string" },
  },
});

function isWanted(name: string, where: Where): boolean {
  const { only, database, suite } = values;
  if (!name.includes(only)) return false;
  return (database === undefined && suite === undefined) || where === database || where === suite;
}

let passed = 0;
let failed = 0;
await judgeAll(isWanted, (judged) => {
  if (judged.passed) passed++;
  else failed++;
  const { where, name, told } = judged;
  const kept = name === NO_BUG ? "green " : "caught";
  console.log(`${judged.passed ? kept : "FAILED"}  ${where.padEnd(9)}  ${name}\n        ${told}`);
});
console.log(`${passed} passed, ${failed} failed`);
// A run that planted nothing proves nothing.
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;

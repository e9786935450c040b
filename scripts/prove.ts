// npm run prove:ci | prove:long [-- --part "sqlite kills"] [-- --seed 7]: what a test run is too short for.
import { parseArgs } from "node:util";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HOME_VARIABLE } from "../test/crash/host.js";
import { installHost } from "../test/crash/install-host.js";
import { mutantsPart } from "../test/mutants/part.js";
import { fullDisk } from "../test/prove/full-disk.js";
import type { Depth, Part } from "../test/prove/part.js";
import { postgresKills } from "../test/prove/postgres-kills.js";
import { serverKills } from "../test/prove/server-kills.js";
import { storedPostgresKills, storedSqliteKills } from "../test/prove/stored-kills.js";
import { sqliteKills } from "../test/prove/sqlite-kills.js";
import { stoppedAndJumped } from "../test/prove/stopped-and-jumped.js";
import { addTallies, emptyTally, endWith, failureOf } from "../test/tally.js";
import { runPart } from "./prove/run-part.js";
import { plantedBugsPart, simulatePart, simulateWorkersPart } from "./prove/simulate-part.js";

const PARTS: readonly Part[] = [
  plantedBugsPart,
  simulatePart,
  simulateWorkersPart,
  mutantsPart,
  sqliteKills,
  postgresKills,
  serverKills,
  storedSqliteKills,
  storedPostgresKills,
  stoppedAndJumped,
  fullDisk,
];

/** These need no host. */
const IN_THIS_PROCESS: ReadonlySet<Part> = new Set([
  plantedBugsPart,
  simulatePart,
  simulateWorkersPart,
  mutantsPart,
]);

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { part: { type: "string" }, seed: { type: "string" } },
    allowPositionals: true,
  });
  const depth: Depth = positionals[0] === "long" ? "long" : "ci";
  const seed = Number(values.seed ?? (depth === "ci" ? 1 : 1 + (Date.now() % 2000)));
  const chosen = PARTS.filter(({ name }) => isChosen(name, values.part));
  const home = mkdtempSync(join(tmpdir(), "posthorn-prove-"));
  let tally =
    chosen.length > 0
      ? emptyTally
      : failureOf(String(values.part), `There is no such part; there are ${names()}.`);
  try {
    // Built for this run alone: a build elsewhere must not meet a host that starts.
    if (chosen.some((part) => !IN_THIS_PROCESS.has(part))) installHost(home);
    process.env[HOME_VARIABLE] = home;
    for (const part of chosen) {
      const broken = await runPart(part, { depth, seed });
      const one = broken === undefined ? { ...emptyTally, passed: 1 } : failureOf(part.name, broken);
      tally = addTallies(tally, one);
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
  endWith(tally);
}

/** `simulate` names the part of that name and those that begin with the word: `simulate workers`. */
function isChosen(name: string, wanted: string | undefined): boolean {
  return wanted === undefined || name === wanted || name.startsWith(`${wanted} `);
}

function names(): string {
  return PARTS.map(({ name }) => name).join(", ");
}

await main();

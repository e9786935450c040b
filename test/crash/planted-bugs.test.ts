import type { HistoryReport, InvariantName } from "posthorn/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FaultPoint } from "../../library/src/fault-point.js";
import { createChance } from "../chance.js";
import type { Database } from "./database.js";
import { dedupLetter, letterOf } from "./letter.js";
import { createPostgresDatabase } from "./postgres-database.js";
import { Run } from "./run.js";
import { createSqliteDatabase } from "./sqlite-database.js";
import { Supervisor } from "./supervisor.js";

// A checker that has never found anything may be blind. Hosts with known bugs show that it sees, and that a kill at
// these points brings the bugs to light.
interface Planted {
  readonly plant: string;
  readonly bug: string;
  readonly at: Readonly<Record<Database["name"], FaultPoint>>;
  readonly caughtBy: InvariantName;
}

const bugs: readonly Planted[] = [
  {
    plant: "reply_first",
    bug: "answers before it has committed",
    at: { sqlite: "accept.before_commit", postgres: "accept.before_commit" },
    caughtBy: "I3",
  },
  {
    plant: "effect_outside",
    bug: "writes outside of the event's transaction",
    at: { sqlite: "accept.before_commit", postgres: "accept.before_commit" },
    caughtBy: "I2",
  },
  {
    plant: "mark_first",
    bug: "remembers the id in one transaction and does the work in another",
    at: { sqlite: "write.after_commit", postgres: "dedup.after_record" },
    caughtBy: "I3",
  },
];

const databases = [
  ["sqlite", createSqliteDatabase],
  ["postgres", createPostgresDatabase],
] as const;

describe.each(databases)("on %s", (name, open: () => Promise<Database>) => {
  let database: Database;
  beforeAll(async () => void (database = await open()));
  afterAll(() => database.close());

  it.each(bugs)("a host that $bug is caught by $caughtBy", async ({ plant, at, caughtBy }) => {
    const supervisor = new Supervisor({ ...database.options, plant });
    const run = new Run({ database, supervisor, scope: plant.replaceAll("_", "") });
    try {
      const { violations } = await killedOnce(run, at[name]);
      expect(violations.map(({ invariant }) => invariant)).toContain(caughtBy);
    } finally {
      run.close();
      await supervisor.stop();
    }
  });
});

async function killedOnce(run: Run, point: FaultPoint): Promise<HistoryReport> {
  const chance = createChance(1);
  await (await run.supervisor.host()).arm({ point, nth: 1 });
  const letters = [
    letterOf(`${run.scope}-1`, "counted", chance),
    dedupLetter(`${run.scope}-2`, chance),
    dedupLetter(`${run.scope}-3`, chance),
  ];
  await Promise.all(letters.map((letter) => run.provider.deliver(letter)));
  while (run.ends.length === 0) await run.provider.deliver(letterOf(`${run.scope}-4`, "quiet", chance));
  return run.end();
}

import type { InvariantName } from "posthorn/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FaultPoint } from "../../library/src/fault-point.js";
import { createChance } from "../chance.js";
import type { OutboxDatabase } from "./outbox-database.js";
import { OutboxRun } from "./outbox-run.js";
import { publishEverything } from "./outbox-traffic.js";
import { createPostgresOutboxDatabase } from "./postgres-outbox-database.js";
import { createSqliteOutboxDatabase } from "./sqlite-outbox-database.js";

// A checker that has never found anything may be blind. Hosts with known bugs show that it sees, and that a kill at
// these points brings the bugs to light.
const bugs: readonly {
  readonly plant: string;
  readonly bug: string;
  readonly who: "publisher" | "worker";
  readonly at: FaultPoint;
  readonly caughtBy: InvariantName;
}[] = [
  {
    plant: "business_outside",
    bug: "a publisher that writes its own row in another transaction",
    who: "publisher",
    at: "publish.after_write",
    caughtBy: "I5",
  },
  {
    plant: "settle_first",
    bug: "a worker that writes down what it has not sent yet",
    who: "worker",
    at: "post.before_send",
    caughtBy: "I6",
  },
];

const databases = [
  ["sqlite", createSqliteOutboxDatabase],
  ["postgres", createPostgresOutboxDatabase],
] as const;

describe.each(databases)("on %s", (_name, open: () => Promise<OutboxDatabase>) => {
  const opened: OutboxDatabase[] = [];
  beforeAll(async () => {
    for (const _ of bugs) opened.push(await open());
  });
  afterAll(() => Promise.all(opened.map((database) => database.close())));

  it.each(bugs.map((each) => [each.bug, each] as const))(
    "%s is caught",
    async (_bug, { plant, who, at, caughtBy }) => {
      const database = opened.pop();
      if (database === undefined) throw new Error("each bug has a database of its own");
      const run = await OutboxRun.open({ database, scope: plant.replaceAll("_", ""), plant });
      try {
        await run.work();
        const [worker] = run.workers;
        const killed = who === "worker" && worker ? worker : run.publisher;
        await run.arm(killed, { point: at, nth: 1 });
        await publishEverything(run, createChance(1), 1);
        await run.drained();
        expect(run.ends.map(({ point }) => point)).toEqual([at]);
        const { violations } = await run.end();
        expect(violations.map(({ invariant }) => invariant)).toContain(caughtBy);
      } finally {
        await run.close();
      }
    },
  );
});

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { setTimeout as sleep } from "node:timers/promises";
import type { Claim } from "../../library/src/lanes/lane-store.js";
import { acknowledgement, claimRequest, endpointOf, eventOf } from "../sqlite/outbox-events.js";
import { REMOVAL_POINTS } from "./fault-table.js";
import { Host } from "./host.js";
import type { OutboxDatabase } from "./outbox-database.js";
import { createPostgresOutboxDatabase } from "./postgres-outbox-database.js";
import { createSqliteOutboxDatabase } from "./sqlite-outbox-database.js";

const KEYS = ["a", "b", "c"];
const OF_EACH = 8;
const DELIVERED = 5;

/** What comes next in their lanes is claimed anew. */
async function acknowledge(outbox: OutboxDatabase["outbox"], claims: readonly Claim[]): Promise<void> {
  const settlements = claims.map((claim) => Object.assign(acknowledgement(claim), { next: false }));
  await outbox.settle({ ...claimRequest(), settlements });
}

/** Fills lanes, and delivers the first events of each. */
async function fill({ outbox }: OutboxDatabase): Promise<void> {
  await outbox.addEndpoint(endpointOf());
  for (let n = 0; n < OF_EACH; n++) await outbox.append(KEYS.map((key) => eventOf(`${key}${n}`, { key })));
  while ((await outbox.sequence()).more);
  for (let n = 0; n < DELIVERED; n++) {
    const { claims } = await outbox.claim(claimRequest());
    await acknowledge(outbox, claims);
  }
  // What is to be removed is older than its window.
  await sleep(20);
}

/** The events that are there, and those that are still delivered, in order. */
async function leftOf({ outbox }: OutboxDatabase): Promise<{ kept: string[]; delivered: string[] }> {
  const { items } = await outbox.events({ tenant: "default" }, { limit: 100 });
  const delivered: string[] = [];
  for (let n = DELIVERED; n < OF_EACH; n++) {
    const { claims } = await outbox.claim(claimRequest());
    delivered.push(...claims.map(({ run }) => run[0].event.id).toSorted());
    await acknowledge(outbox, claims);
  }
  return { kept: items.map(({ id }) => id).toSorted(), delivered };
}

const waiting = (n: number): string[] => KEYS.map((key) => `${key}${n}`);
const STAYS = [5, 6, 7].flatMap(waiting);

describe.each([
  ["sqlite", createSqliteOutboxDatabase],
  ["postgres", createPostgresOutboxDatabase],
] as const)("the removal of old records on %s", (_name, open) => {
  const databases: OutboxDatabase[] = [];
  beforeAll(async () => {
    for (const _ of REMOVAL_POINTS) databases.push(await open());
  }, 60_000);
  afterAll(() => Promise.all(databases.map((database) => database.close())));

  it.each(REMOVAL_POINTS.map((point, index) => [point, index] as const))(
    "that is killed at %s is finished by the next, and nothing that waits is touched",
    { timeout: 60_000 },
    async (point, index) => {
      const database = databases[index];
      if (database === undefined) throw new Error("each point has a database of its own");
      await fill(database);
      const first = await Host.start({ ...database.options, program: "remover" });
      await first.arm({ point, nth: 2 });
      await expect(first.post("/remove", {})).rejects.toThrow();
      expect(await first.ended).toEqual({ signal: "SIGKILL", point });
      const second = await Host.start({ ...database.options, program: "remover" });
      await second.post("/remove", {});
      await second.kill();
      expect(await leftOf(database)).toEqual({ kept: STAYS.toSorted(), delivered: STAYS });
    },
  );
});

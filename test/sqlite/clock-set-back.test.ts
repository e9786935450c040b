import type { Database } from "better-sqlite3";
import { migrate, sqliteOutbox } from "posthorn/sqlite";
import { createFakeClock } from "posthorn/testing";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Outbox } from "../../library/src/operator/outbox.js";
import type { DatabaseFile } from "./database-file.js";
import { createDatabaseFile } from "./database-file.js";
import { claimRequest, endpointOf, eventOf } from "./outbox-events.js";

const DAY_MS = 24 * 3_600_000;

let file: DatabaseFile;
let outbox: Outbox<Database, "synchronous">;
const clock = createFakeClock();
beforeEach(async () => {
  file = createDatabaseFile();
  const db = file.open();
  await migrate(db);
  outbox = sqliteOutbox({ db, clock });
  await outbox.addEndpoint(endpointOf());
});
afterEach(() => file.remove());

// Found by `prove`, part "stopped and jumped". What is due is written as a wall time: a day ahead, it is due in a day.
it.fails("an event that was published while the clock ran ahead is due when the clock is right again", async () => {
  clock.set(clock.now() + DAY_MS);
  await outbox.append([eventOf("e1")]);
  await outbox.sequence();
  clock.set(clock.now() - DAY_MS);
  expect(await outbox.untilDue()).toBe(0);
  expect((await outbox.claim(claimRequest())).claims).toHaveLength(1);
});

it.fails("a lease that was taken while the clock ran ahead ends in its own time", async () => {
  await outbox.append([eventOf("e1")]);
  await outbox.sequence();
  clock.set(clock.now() + DAY_MS);
  expect((await outbox.claim(claimRequest())).claims).toHaveLength(1);
  clock.set(clock.now() - DAY_MS);
  await clock.advance(60_000);
  expect((await outbox.claim(claimRequest())).claims).toHaveLength(1);
});

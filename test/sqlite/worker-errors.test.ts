import Database from "better-sqlite3";
import { again, createReceiver, createSigner, createWorker, signSync, standardWebhooks } from "posthorn";
import { createFakeClock } from "posthorn/testing";
import { migrate, sqliteStore } from "posthorn/sqlite";
import { expect, it } from "vitest";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

it("rules for errors on SQLite judge what the outer and the inner function throw, and `again` undoes what was written", async () => {
  const clock = createFakeClock({ at: Date.parse("2026-11-15T12:00:00Z") });
  const db = new Database(":memory:");
  await migrate(db);
  db.exec("create table effect (id text)");
  const store = sqliteStore({ db, clock, durability: "as_is" });
  const verifier = standardWebhooks({ secrets: SECRET, clock });
  const receiver = createReceiver({ mode: "store_first", store, clock, sources: { shop: { verifier } } });
  let isReady = false;
  const worker = createWorker({
    store,
    clock,
    observer: () => undefined,
    errors: [
      { when: { class: RangeError }, do: { skip: "not ours" } },
      { when: { class: TypeError }, do: { dead: true } },
    ],
    handlers: {
      "*": ({ id }) => {
        if (id === "outer") throw new RangeError("outside");
        return (tx) => {
          tx.prepare("insert into effect values (?)").run(id);
          if (id === "inner") throw new RangeError("inside");
          if (id === "dead") throw new TypeError("for good");
          if (id === "later" && !isReady) throw again({ afterMs: 1000 });
        };
      },
    },
  });
  for (const id of ["outer", "inner", "dead", "later", "plain"]) {
    const body = new TextEncoder().encode(JSON.stringify({ type: "order.paid" }));
    const headers = signSync(createSigner({ secrets: SECRET, clock }), { id, body });
    await receiver.receive("shop", { headers, body });
  }
  expect(await worker.drain()).toMatchObject({ handled: 3, failed: 1 });
  const effects = (): unknown => db.prepare("select id from effect order by rowid").pluck().all();
  expect(effects()).toEqual(["plain"]);
  const rows = db
    .prepare("select event_id, outcome, error from posthorn_inbox order by event_id")
    .raw()
    .all();
  expect(rows).toEqual([
    ["inner", "skipped", "not ours (RangeError: inside)"],
    ["outer", "skipped", "not ours (RangeError: outside)"],
    ["plain", "success", null],
  ]);
  expect((await store.deadLetters({ limit: 5 })).items).toMatchObject([{ because: "error_rule" }]);
  isReady = true;
  await clock.advance(1000);
  expect(await worker.drain()).toMatchObject({ handled: 1 });
  expect(effects()).toEqual(["plain", "later"]);
  db.close();
});

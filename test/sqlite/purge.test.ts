import Database from "better-sqlite3";
import { createReceiver, createSigner, createWorker, signSync, standardWebhooks } from "posthorn";
import { migrate, sqliteStore } from "posthorn/sqlite";
import { createFakeClock } from "posthorn/testing";
import { expect, it, onTestFinished } from "vitest";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

it("a purge of a receiver on SQLite that stores first leaves neither rows nor names whose window has passed", async () => {
  const db = new Database(":memory:");
  onTestFinished(() => void db.close());
  await migrate(db);
  const clock = createFakeClock({ at: Date.parse("2026-11-15T12:00:00Z") });
  const store = sqliteStore({ db, clock, durability: "as_is" });
  const sources = { shop: standardWebhooks({ secrets: SECRET, clock }) };
  const receiver = createReceiver({ mode: "store_first", store, clock, sources });
  for (let n = 0; n < 5; n++) {
    const body = new TextEncoder().encode(`{"type":"paid","n":${n}}`);
    const headers = signSync(createSigner({ secrets: SECRET, clock }), { id: `evt_${n}`, body });
    await receiver.receive("shop", { headers, body });
  }
  await createWorker({ store, clock, handlers: { paid: () => () => undefined } }).drain();
  const left = () =>
    db
      .prepare(
        "select (select count(*) from posthorn_inbox) as rows, (select count(*) from posthorn_ingest_name) as names",
      )
      .get();
  expect(left()).toEqual({ rows: 5, names: 5 });
  await clock.advance(15 * 86_400_000);
  expect(await receiver.purge()).toEqual({ removed: 10, more: false });
  expect(left()).toEqual({ rows: 0, names: 0 });
});

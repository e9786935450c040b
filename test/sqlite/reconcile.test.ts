import Database from "better-sqlite3";
import { createReceiver, createSigner, createWorker, signSync, standardWebhooks } from "posthorn";
import { createOperator, reconcile } from "posthorn/operator";
import { migrate, sqliteStore } from "posthorn/sqlite";
import { expect, it } from "vitest";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

it("an inbox on SQLite is compared with a table of the host, and what is missing is handled again", async () => {
  const db = new Database(":memory:");
  await migrate(db);
  db.exec("create table paid (id text primary key)");
  const store = sqliteStore({ db, durability: "as_is" });
  const receiver = createReceiver({
    mode: "store_first",
    store,
    sources: { shop: standardWebhooks({ secrets: SECRET }) },
  });
  for (const id of ["evt_1", "evt_2"]) {
    const body = new TextEncoder().encode(JSON.stringify({ type: "paid" }));
    await receiver.receive("shop", {
      headers: signSync(createSigner({ secrets: SECRET }), { id, body }),
      body,
    });
  }
  const worker = createWorker({
    store,
    handlers: {
      paid:
        ({ id }) =>
        (tx) =>
          void tx.prepare("insert or ignore into paid (id) values (?)").run(id),
    },
  });
  await worker.drain();
  db.exec("delete from paid where id = 'evt_1'");
  const options = {
    store,
    since: new Date(0),
    wasApplied: ({ id }: { id: string }, tx: typeof db) => {
      tx.prepare("insert or ignore into paid (id) values ('look')").run();
      return tx.prepare("select 1 from paid where id = ?").get(id) !== undefined;
    },
  };
  // A promise is no answer: taken for one, it would call every event applied.
  const late = { ...options, wasApplied: () => Promise.resolve(false) as never };
  await expect(reconcile({ ...late, extra: "mark" })).rejects.toThrow(
    /wasApplied returned a promise for shop\/evt_1/,
  );
  expect(await reconcile({ ...options, missing: "replay" })).toMatchObject({
    compared: 2,
    differences: [{ kind: "missing", event: { id: "evt_1", round: 1 }, done: "staged" }],
    next: undefined,
  });
  await worker.drain();
  expect(
    db.prepare("select group_concat(id, ' ') as ids from (select id from paid order by id)").get(),
  ).toEqual({
    ids: "evt_1 evt_2",
  });
  expect((await reconcile(options)).differences).toEqual([]);
  expect((await createOperator({ store }).inboxRowsOf("default", "shop", "evt_1"))[0]?.round).toBe(2);
});

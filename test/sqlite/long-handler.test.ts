import { spawn } from "node:child_process";
import { once as next } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createReceiver, createSigner, createWorker, signSync, standardWebhooks } from "posthorn";
import { migrate, sqliteStore } from "posthorn/sqlite";
import { expect, it } from "vitest";
import { createDatabaseFile } from "./database-file.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const program = fileURLToPath(new URL("../hanging-worker.ts", import.meta.url));
const root = fileURLToPath(new URL("../../", import.meta.url));

it("a long handler on SQLite whose process is killed is found, recorded as lapsed, and applied once by another", async () => {
  const file = createDatabaseFile();
  const db = file.open();
  await migrate(db);
  db.exec("create table effect (n integer primary key autoincrement, id text)");
  const store = sqliteStore({ db });
  const receiver = createReceiver({
    mode: "store_first",
    store,
    sources: { shop: { verifier: standardWebhooks({ secrets: SECRET }), key: { json: "/order" } } },
  });
  for (const id of ["evt_1", "evt_2"]) {
    const body = new TextEncoder().encode(JSON.stringify({ type: "order.closed", order: "1" }));
    const headers = signSync(createSigner({ secrets: SECRET }), { id, body });
    expect((await receiver.receive("shop", { headers, body })).verdict).toBe("stored");
  }
  const child = spawn(process.execPath, ["--import", "tsx", program, "sqlite", file.path], { cwd: root });
  const [line] = (await next(createInterface({ input: child.stdout }), "line")) as [string];
  child.kill("SIGKILL");
  expect(line).toBe("evt_1 done by the first");
  const worker = createWorker({
    store,
    pollMs: 50,
    // It holds for what marks an event, too.
    handlerDeadlineMs: 5000,
    leaseMs: 10_500,
    handlers: {
      "order.closed": {
        long: async ({ id }, { once }) => {
          const charge = await once("charge", { act: () => "done by the second" });
          const mail = await once("mail", { check: () => "found", act: () => "sent" });
          const effect = `${id} ${charge} ${mail}`;
          return (tx) => void tx.prepare("insert into effect (id) values (?)").run(effect);
        },
      },
    },
  });
  await worker.start();
  const effects = (): unknown => db.prepare("select id from effect order by n").pluck().all();
  await expect
    .poll(effects, { timeout: 45_000 })
    .toEqual(["evt_1 done by the first found", "evt_2 done by the second sent"]);
  await worker.stop();
  expect(db.prepare("select seq, no, outcome from posthorn_attempt order by seq, no").all()).toEqual([
    { seq: 1, no: 1, outcome: "lapsed" },
  ]);
  db.close();
  file.remove();
});

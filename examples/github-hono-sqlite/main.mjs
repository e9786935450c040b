// GitHub → SQLite with Hono: counts pushes by branch. On SQLite a handler has two steps: the outer function may await, and
// the function that it returns runs inside the transaction.
import Database from "better-sqlite3";
import { Hono } from "hono";
import { createReceiver } from "posthorn";
import { webhooks } from "posthorn/hono";
import { github } from "posthorn/providers";
import { migrate, sqliteStore } from "posthorn/sqlite";
import { signedRequest, TEST_SECRETS } from "posthorn/testing";

const db = new Database(":memory:"); // yours: a file
await migrate(db);
db.exec("create table branch (name text primary key, pushes integer not null)");

const receiver = createReceiver({
  store: sqliteStore({ db, durability: "as_is" }), // of a file, leave durability out
  sources: { github: github({ secrets: TEST_SECRETS.github.verifying }) },
  handlers: {
    "github:push": (event) => {
      const branch = event.data.ref.replace("refs/heads/", "");
      return (tx) =>
        tx
          .prepare("insert into branch values (?, 1) on conflict (name) do update set pushes = pushes + 1")
          .run(branch);
    },
  },
});

const app = new Hono();
app.post("/webhooks/:source", webhooks(receiver));

/** @param {import("posthorn/testing").TestRequest} request */
async function deliver({ headers, body }) {
  const reply = await app.request("/webhooks/github", { method: "POST", headers, body });
  console.log(`${headers["x-github-delivery"]}: ${reply.status} ${reply.headers.get("posthorn-verdict")}`);
}

const first = await signedRequest("github", {
  id: "delivery-1",
  type: "push",
  data: { ref: "refs/heads/main" },
});
await deliver(first);
await deliver(
  await signedRequest("github", { id: "delivery-2", type: "push", data: { ref: "refs/heads/fix" } }),
);
await deliver(first); // a person clicked "Redeliver"
await deliver(
  await signedRequest("github", { id: "delivery-3", type: "push", data: { ref: "refs/heads/main" } }),
);
// No handler: acknowledged, and remembered as skipped.
await deliver(await signedRequest("github", { id: "delivery-4", type: "issues.opened" }));
console.log(JSON.stringify(db.prepare("select * from branch order by name").all()));
await receiver.stop();

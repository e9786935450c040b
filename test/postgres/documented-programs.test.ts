import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { postgresEnvironment, runPage } from "../doc-snippets/run-page.js";
import type { PageRun } from "../doc-snippets/run-page.js";
import { freshDatabase } from "../services.js";

// Programs of the pages that need a Postgres, as they stand there, fed with events that are signed and posted.

// One each: what is left of one program would be claimed by the worker of the next.
const fresh = async () => postgresEnvironment(await freshDatabase());
const databases = {
  recipes: await fresh(),
  batch: await fresh(),
  report: await fresh(),
  payout: await fresh(),
};

/** Runs these statements beside the programs of a page; `db` is a connection of its own. */
async function printed(run: PageRun): Promise<readonly string[]> {
  const main = `
    import pg from "pg";
    import { createOperator } from "posthorn/operator";
    import { postgresStore } from "posthorn/postgres";
    import { post, storingFirst } from "./post.js";
    const db = new pg.Client();
    await db.connect();
    const store = postgresStore({ client: new pg.Pool() });
    const operator = createOperator({ store });
    const one = async (sql) => Object.values((await db.query(sql)).rows[0] ?? {})[0];
    ${run.main}
    process.exit();`;
  // In production a failure is not printed where there is no observer: these programs fail on purpose.
  const env = { NODE_ENV: "production", ...run.env };
  return (await runPage({ ...run, main, env })).trimEnd().split("\n");
}

it("recipes.md: what a table of one's own calls applied is not applied again, and what it calls begun is", async () => {
  const page = readFileSync(new URL("../../docs/recipes.md", import.meta.url), "utf8");
  const [, table = ""] = /(create table webhook_inbox [^]*?)select count/.exec(page) ?? [];
  const said = await printed({
    page: "docs/recipes.md",
    named: { "receiver.js": "wasApplied(event, tx)" },
    env: { ...databases.recipes, STRIPE_WEBHOOK_SECRET: "whsec_of_this_test" },
    main: `
      import { signedRequest } from "posthorn/testing";
      import { receiver } from "./receiver.js";
      await db.query(${JSON.stringify(table)});
      await db.query("insert into webhook_inbox (event_id) values ('evt_begun')");
      await db.query("create table invoice (id text primary key, paid boolean not null)");
      for (const n of ["old", "begun", "new", "new"]) {
        await db.query("insert into invoice values ($1, false) on conflict (id) do nothing", ["in_" + n]);
        const data = { id: "in_" + n };
        const request = await signedRequest("stripe", { id: "evt_" + n, data, secrets: "whsec_of_this_test" });
        const { verdict } = await receiver.receive("stripe", request);
        console.log(n, verdict, await one("select paid from invoice where id = 'in_" + n + "'"));
      }`,
  });
  expect(said).toEqual(["old applied false", "begun applied true", "new applied true", "new duplicate true"]);
});

it("storing-first.md: a batch writes the waiting events of a key in one transaction, and one by one after a failure", async () => {
  const said = await printed({
    page: "docs/storing-first.md",
    named: { "readings.js": "jsonb_to_recordset" },
    env: databases.batch,
    main: `
      import { worker } from "./readings.js";
      await db.query("create table reading (id text primary key, meter text not null, value int not null)");
      const receiver = storingFirst(store, { json: "/meter" });
      const read = (id, meter, value) => post(receiver, id, { type: "meter.read", meter, value });
      await worker.drain();
      for (const n of [1, 2, 3, 4]) await read("a" + n, "a", n);
      await read("b1", "b", 10);
      for (const [n, value] of [20, "none", 21].entries()) await read("c" + n, "c", value);
      const { handled, failed } = await worker.drain();
      console.log(handled, failed);
      const { rows } = await db.query(
        \`select meter, count(*)::int as rows, sum(value)::int as value, count(distinct xmin::text)::int as transactions
         from reading group by meter order by meter\`);
      for (const row of rows) console.log(...Object.values(row));`,
  });
  expect(said).toEqual(["6 1", "a 4 10 1", "b 1 10 1", "c 1 20 1"]);
});

it("long-handlers.md: an end that fails publishes nothing, and the work before it has the same name when it runs again", async () => {
  const said = await printed({
    page: "docs/long-handlers.md",
    named: { "report.js": "report.ready" },
    env: databases.report,
    main: `
      import { worker } from "./report.js";
      const rendered = [];
      globalThis.render = async ({ id }, { name, signal }) => {
        rendered.push(name);
        console.log("rendered", id, name.replace(/[\\w-]{20,}/, "KEY"), signal.aborted);
        return name;
      };
      const published = async () => (await operator.events({ type: "report.ready" })).items.length;
      await db.query("create table orders (id text primary key)");
      await db.query("insert into orders values ('7')");
      await post(storingFirst(store), "evt_closed", { type: "order.closed", id: "7" });
      console.log((await worker.drain()).failed, await published());
      await db.query("alter table orders add column report text");
      await operator.retry({ endpointId: "hnd_default" });
      console.log((await worker.drain()).handled, await published());
      console.log(rendered[0] === rendered[1], rendered[1] === (await one("select report from orders")));`,
  });
  expect(said).toEqual(["rendered 7 KEY.pdf false", "1 0", "rendered 7 KEY.pdf false", "1 1", "true true"]);
});

it("long-handlers.md: a step is done once, also where its answer was lost or the end after it failed", async () => {
  const said = await printed({
    page: "docs/long-handlers.md",
    named: { "payout.js": "declare const bank" },
    env: databases.payout,
    main: `
      import { worker } from "./payout.js";
      const transfers = new Map();
      globalThis.bank = {
        find: async (reference) => {
          console.log("asked");
          return transfers.get(reference);
        },
        send: async ({ id, cents }, reference) => {
          console.log("sent", id, cents);
          transfers.set(reference, { transfer: "tr_" + id });
          if (id === "lost") throw new Error("the answer was lost");
          return transfers.get(reference);
        },
      };
      const receiver = storingFirst(store);
      const drain = async () => {
        await operator.retry({ endpointId: "hnd_default" });
        const { handled, failed } = await worker.drain();
        console.log(handled, failed, await one("select string_agg(transfer, ' ' order by transfer) from payout"));
      };
      await db.query("create table payout (id text primary key, transfer text)");
      await db.query("insert into payout values ('kept'), ('lost')");
      await db.query("create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$");
      await db.query("create trigger refuse before update on payout for each row execute function refuse()");
      await post(receiver, "evt_kept", { type: "payout.due", id: "kept", cents: 700 });
      await drain();
      await db.query("drop trigger refuse on payout");
      await drain();
      await post(receiver, "evt_lost", { type: "payout.due", id: "lost", cents: 800 });
      await drain();
      await drain();
      console.log(transfers.size);`,
  });
  expect(said).toEqual([
    "sent kept 700",
    "0 1 null",
    "1 0 tr_kept",
    "sent lost 800",
    "0 1 tr_kept",
    "asked",
    "1 0 tr_kept tr_lost",
    "2",
  ]);
});

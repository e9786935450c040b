import { expect, it } from "vitest";
import { runPage } from "../doc-snippets/run-page.js";

// The programs of docs/sqlite.md that publish, as they stand there, on a file of their own.

/** Runs the block of this name with a way to ask its store before it, and what follows. */
async function printed(file: string, after: string): Promise<readonly string[]> {
  const said = await runPage({
    page: "docs/sqlite.md",
    edits: {
      [file]: (code) => `import { createOperator } from "posthorn/operator";
        ${code}
        db.exec("create table orders (id text primary key, paid integer not null); insert into orders values ('o1', 0)");
        const told = async (store) => {
          const { items } = await createOperator({ store }).events();
          return [db.prepare("select paid from orders").get().paid, ...items.map(({ key, type }) => type + " " + key)].join(" ");
        };
        ${after}`,
    },
    main: `import "./${file}";`,
    // In production a failure is not printed where there is no observer: one of these events fails on purpose.
    env: { STRIPE_SECRET: "whsec_test", NODE_ENV: "production" },
  });
  return said.trimEnd().split("\n");
}

it("an event published in a handler's inner function commits with the handler's writes, once, or not at all", async () => {
  const said = await printed(
    "publish-inside.js",
    `const { signedRequest } = await import("posthorn/testing");
     // A key of more than 255 bytes cannot be published: the write before it must not stay.
     for (const [id, order] of [["evt_1", "x".repeat(300)], ["evt_2", "o1"], ["evt_2", "o1"]]) {
       if (order !== "o1") db.prepare("insert into orders values (?, 0)").run(order);
       const data = { client_reference_id: order };
       const request = await signedRequest("stripe", { id, type: "checkout.session.completed", data, secrets: process.env.STRIPE_SECRET });
       const { verdict } = await receiver.receive("stripe", request);
       if (order !== "o1") console.log(verdict, db.prepare("select sum(paid) as paid from orders").get().paid);
       else console.log(verdict, await told(store));
     }`,
  );
  expect(said).toEqual(["failed 0", "applied 1 order.paid o1", "duplicate 1 order.paid o1"]);
});

it("an event published in the host's own transaction commits with it, or not at all", async () => {
  const said = await printed(
    "publish-in-your-transaction.js",
    `const { migrate } = await import("posthorn/sqlite");
     await migrate(db);
     const store = sqliteStore({ db });
     try {
       db.transaction(() => { pay("o1"); throw new Error("changed my mind"); })();
     } catch {}
     console.log(await told(store));
     pay("o1");
     console.log(await told(store));`,
  );
  expect(said).toEqual(["0", "1 order.paid o1"]);
});

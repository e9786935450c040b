import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";

// The programs of docs/sqlite.md that publish, as they stand there, on a file of their own.

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(new URL("../../docs/sqlite.md", import.meta.url), "utf8");
const folder = mkdtempSync(join(tmpdir(), "posthorn-documented-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** The block of this file name with a database of its own, its types taken away, and what follows. */
function program(file: string, after: string): string {
  const block = new RegExp(`\`\`\`ts\\n// ${file}\\n([^]*?)\`\`\``).exec(page)?.[1] ?? "";
  const own = block
    .replace('"app.db"', JSON.stringify(join(folder, `${file}.db`)))
    .replaceAll(/(orderId): string/g, "$1");
  return `import { createOperator } from "posthorn/operator";\n${own}\n${after}`;
}

const ORDERS = `db.exec("create table orders (id text primary key, paid integer not null); insert into orders values ('o1', 0)");
  const told = async (store) => {
    const { items } = await createOperator({ store }).events();
    return [db.prepare("select paid from orders").get().paid, items.map(({ key, type }) => type + " " + key).join()].join(" ");
  };`;

it("an event published in a handler's inner function commits with the handler's writes, once, or not at all", async () => {
  const said = await printed(
    program(
      "publish-inside.ts",
      `import { signedRequest } from "posthorn/testing";
       ${ORDERS}
       // A key of more than 255 bytes cannot be published: the write before it must not stay.
       for (const [id, order] of [["evt_1", "x".repeat(300)], ["evt_2", "o1"], ["evt_2", "o1"]]) {
         if (order !== "o1") db.prepare("insert into orders values (?, 0)").run(order);
         const data = { client_reference_id: order };
         const request = await signedRequest("stripe", { id, type: "checkout.session.completed", data, secrets: process.env.STRIPE_SECRET });
         const { verdict } = await receiver.receive("stripe", request);
         if (order !== "o1") console.log(verdict, db.prepare("select sum(paid) as paid from orders").get().paid);
         else console.log(verdict, await told(store));
       }`,
    ),
  );
  expect(said.stdout.split("\n")).toEqual([
    "failed 0",
    "applied 1 order.paid o1",
    "duplicate 1 order.paid o1",
    "",
  ]);
});

it("an event published in the host's own transaction commits with it, or not at all", async () => {
  const said = await printed(
    program(
      "publish-in-your-transaction.ts",
      `${ORDERS}
       const store = sqliteStore({ db });
       try {
         db.transaction(() => { pay("o1"); throw new Error("changed my mind"); })();
       } catch {}
       console.log(await told(store));
       pay("o1");
       console.log(await told(store));`,
    ).replace(
      /const sender = /,
      'import { migrate } from "posthorn/sqlite";\nawait migrate(db);\nconst sender = ',
    ),
  );
  expect(said).toEqual({ stdout: "0 \n1 order.paid o1\n", stderr: "" });
});

function printed(text: string): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", text], {
    cwd: root,
    env: { ...process.env, STRIPE_SECRET: "whsec_test" },
  });
  const said = { stdout: "", stderr: "" };
  child.stdout.on("data", (data: Buffer) => (said.stdout += data.toString()));
  child.stderr.on("data", (data: Buffer) => (said.stderr += data.toString()));
  return new Promise((resolve) => child.on("exit", () => resolve(said)));
}

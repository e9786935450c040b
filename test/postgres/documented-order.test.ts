import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { freshDatabase } from "../services.js";

// The receivers of docs/inbound-order.md, as they stand there, given late and repeated events.

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(new URL("../../docs/inbound-order.md", import.meta.url), "utf8");
const url = await freshDatabase();

/** The block of this file name, as a program: with this file's database, its own table, and what follows. */
function program(file: string, after: string): string {
  const block = new RegExp(`\`\`\`ts\\n// ${file}\\n([^]*?)\`\`\``).exec(page)?.[1] ?? "";
  const [, table] = /\/\/ (create table .*)/.exec(block) ?? [];
  const store = `
    import pg from "pg";
    import { createSigner, signSync } from "posthorn";
    import { migrate, postgresStore } from "posthorn/postgres";
    import { signedRequest } from "posthorn/testing";
    const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
    await migrate(pool);
    await pool.query(${JSON.stringify(table)});
    const store = postgresStore({ client: pool });
  `;
  const own = block.replace(/import \{ store \}.*\n/, store);
  return `${own}\n${after}\nawait receiver.stop(); await pool.end();`;
}

it("an older state that comes late does not overwrite a newer one, by the provider's time", async () => {
  const said = await printed(
    program(
      "subscription.ts",
      `for (const [status, seconds] of [["active", 20], ["trialing", 10], ["past_due", 30]]) {
         const request = await signedRequest("stripe", {
           secrets: process.env.STRIPE_WEBHOOK_SECRET,
           type: "customer.subscription.updated",
           time: new Date((Math.floor(Date.now() / 1000) - 100 + seconds) * 1000),
           data: { id: "sub_1", status },
         });
         const { verdict } = await receiver.receive("stripe", request);
         const { rows } = await pool.query("select status from subscription");
         console.log(verdict, rows[0].status);
       }`,
    ),
    { STRIPE_WEBHOOK_SECRET: "whsec_test" },
  );
  expect(said).toBe("applied active\napplied active\napplied past_due\n");
});

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

it("an older sequence does not overwrite a newer one, a new generation does, and a gap is told", async () => {
  const said = await printed(
    program(
      "orders.ts",
      `const signer = createSigner({ secrets: process.env.SHOP_SECRET });
       const places = [["paid", 1n, 10n, undefined], ["made", 1n, 9n, 8n], ["sent", 1n, 12n, 11n], ["back", 2n, 1n, undefined]];
       for (const [status, generation, sequence, after] of places) {
         const body = new TextEncoder().encode(JSON.stringify({ type: "order.changed", data: { status } }));
         const lane = { key: "order_7", generation, sequence, after };
         const id = "evt_" + generation + "_" + sequence;
         const headers = signSync(signer, { id, body, stamp: { lane, attempt: 1, replay: false } });
         const { verdict } = await receiver.receive("shop", { headers, body });
         const { rows } = await pool.query("select status from order_state");
         console.log(verdict, rows[0].status);
       }`,
    ).replace(
      "  store,\n",
      "  store,\n  observer: (s) => s.kind === 'handler_log' && console.log(s.message),\n",
    ),
    { SHOP_SECRET: SECRET },
  );
  expect(said.split("\n")).toEqual([
    "applied paid",
    "applied paid",
    "order_7: 11 has not come; the last was 10",
    "applied sent",
    "applied back",
    "",
  ]);
});

it("an older version that comes late is dropped, and so is the same one", async () => {
  const said = await printed(
    program(
      "stock.ts",
      `const signer = createSigner({ secrets: process.env.SHOP_SECRET });
       for (const [version, quantity] of [[2, 20], [1, 10], [2, 21], [3, 30]]) {
         const event = { type: "stock.changed", sku: "a", version, quantity };
         const body = new TextEncoder().encode(JSON.stringify(event));
         const headers = signSync(signer, { id: "stock_" + version + "_" + quantity, body });
         const { verdict } = await receiver.receive("shop", { headers, body });
         const { rows } = await pool.query("select quantity from stock");
         console.log(verdict, rows[0].quantity);
       }`,
    ),
    { SHOP_SECRET: SECRET },
  );
  expect(said).toBe("applied 20\ndropped 20\ndropped 20\napplied 30\n");
});

it("a version that was wrong and too high is removed by the statement of the page, and that of retention leaves it", async () => {
  const statements = [...page.matchAll(/`(delete from posthorn\.newest [^`]+)`/g)].map(([, sql]) => sql);
  const said = await printed(
    program(
      "stock.ts",
      `const signer = createSigner({ secrets: process.env.SHOP_SECRET });
       const post = async (version) => {
         const event = { type: "stock.changed", sku: "sku_7", version, quantity: version };
         const body = new TextEncoder().encode(JSON.stringify(event));
         const headers = signSync(signer, { id: "wrong_" + version, body });
         console.log((await receiver.receive("shop", { headers, body })).verdict);
       };
       await post(9000);
       await post(7);
       for (const sql of ${JSON.stringify(statements)}) console.log((await pool.query(sql)).rowCount);
       await post(8);`,
    ).replace("create table stock", "create table if not exists stock"),
    { SHOP_SECRET: SECRET },
  );
  expect(said.split("\n")).toEqual(["applied", "dropped", "1", "0", "applied", ""]);
});

function printed(text: string, env: Readonly<Record<string, string>>): Promise<string> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", text], {
    cwd: root,
    env: { ...process.env, ...env, DATABASE_URL: url },
  });
  let said = "";
  const hear = (data: Buffer): void => void (said += data.toString());
  child.stdout.on("data", hear);
  child.stderr.on("data", hear);
  return new Promise((resolve) => child.on("exit", () => resolve(said)));
}

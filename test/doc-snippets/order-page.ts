import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../packed/checkout.js";
import { runPage, SECRET } from "./run-page.js";

// The programs of docs/inbound-order.md on a database, given late, repeated and missing events.

const PAGE = "docs/inbound-order.md";
const text = readFileSync(join(root, PAGE), "utf8");

export interface OrderCase {
  readonly promise: string;
  /** The block that runs. */
  readonly file: string;
  readonly main: string;
  readonly prints: readonly string[];
}

/** A database on which the page's programs run. */
export interface OrderDatabase {
  /** `database.js`, which exports `one`: the first value that a statement returns, or how many rows it has changed. */
  readonly files: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** A block as this database wants it. */
  readonly edit?: (code: string) => string;
}

/** Runs a case, and says what was printed, line by line. */
export async function runOrder(
  { file, main }: OrderCase,
  { files, env, edit = (code) => code }: OrderDatabase,
): Promise<readonly string[]> {
  const said = await runPage({
    page: PAGE,
    named: { "product.js": "export async function onProduct", "let-go.js": "export async function letGo" },
    files,
    edits: { [file]: (code) => edit(heard(code)) },
    main: `
      import { post } from "./post.js";
      import { store } from "./store.js";
      import { one } from "./database.js";
      ${main}
      process.exit();`,
    env: { ...env, STRIPE_WEBHOOK_SECRET: SECRET, SHOP_SECRET: SECRET, PARTNER_SECRET: SECRET },
  });
  return said.trimEnd().split("\n");
}

/** A block of which is printed what its handlers log. */
function heard(code: string): string {
  const observer = "observer: (s) => s.kind === 'handler_log' && console.log(s.message),\n";
  return code.replaceAll("store,\n", `store,\n${observer}`);
}

/** The statement by which the page makes a table, as a text of JavaScript. */
function tableOf(name: string): string {
  return JSON.stringify(new RegExp(`// (create table ${name} .*)`).exec(text)?.[1]);
}

/** The statements on the page by which versions are removed, of a table. */
export function deletesFrom(table: string): readonly string[] {
  return [...text.matchAll(/`(delete from [^`]+)`/g)]
    .map(([, sql = ""]) => sql)
    .filter((sql) => sql.startsWith(`delete from ${table} `));
}

const subscription: OrderCase = {
  promise: "an older state that comes late does not overwrite a newer one, by the provider's time",
  file: "subscription.js",
  main: `
    import { signedRequest } from "posthorn/testing";
    import { receiver } from "./subscription.js";
    await one(${tableOf("subscription")});
    for (const [status, seconds] of [["active", 20], ["trialing", 10], ["past_due", 30]]) {
      const request = await signedRequest("stripe", {
        secrets: process.env.STRIPE_WEBHOOK_SECRET,
        type: "customer.subscription.updated",
        time: new Date((Math.floor(Date.now() / 1000) - 100 + seconds) * 1000),
        data: { id: "sub_1", status },
      });
      const { verdict } = await receiver.receive("stripe", request);
      console.log(verdict, await one("select status from subscription"));
    }`,
  prints: ["applied active", "applied active", "applied past_due"],
};

const stock: OrderCase = {
  promise: "an older version that comes late is dropped, and so is the same one",
  file: "stock.js",
  main: `
    import { receiver } from "./stock.js";
    await one(${tableOf("stock")});
    for (const [version, quantity] of [[2, 20], [1, 10], [2, 21], [3, 30]]) {
      const event = { type: "stock.changed", sku: "a", version, quantity };
      const verdict = await post(receiver, "stock_" + version + "_" + quantity, event);
      console.log(verdict, await one("select quantity from stock"));
    }`,
  prints: ["applied 20", "dropped 20", "dropped 20", "applied 30"],
};

/** The statements by which versions are removed, and one that makes that of `sku_7` three years old. */
export interface VersionStatements {
  readonly wrong: string;
  readonly old: string;
  readonly age: string;
}

const tooHigh = ({ wrong, old, age }: VersionStatements): OrderCase => ({
  promise:
    "a version that was wrong and too high is removed by a statement of the page, and by another one that is older than two years",
  file: "stock.js",
  main: `
    import { receiver } from "./stock.js";
    await one(${tableOf("stock")}.replace("table", "table if not exists"));
    const come = (version) =>
      post(receiver, "wrong_" + version, { type: "stock.changed", sku: "sku_7", version, quantity: version });
    console.log(await come(9000), await come(7));
    console.log(await one(${JSON.stringify(wrong)}), await come(8));
    const old = ${JSON.stringify(old)};
    console.log(await one(old));
    await one(${JSON.stringify(`${age} where resource = 'sku_7'`)});
    console.log(await one(old));`,
  prints: ["applied dropped", "1 applied", "0", "1"],
});

const product: OrderCase = {
  promise: "a handler that asks by itself goes on with the newest version alone",
  file: "product.js",
  main: `
    import { createReceiver, standardWebhooks } from "posthorn";
    import { onProduct } from "./product.js";
    const sources = { shop: standardWebhooks({ secrets: process.env.SHOP_SECRET }) };
    const receiver = createReceiver({ store, sources, handlers: { "product.updated": onProduct } });
    for (const [n, day] of ["02", "01", "02", "03"].entries()) {
      const event = { type: "product.updated", id: "7", updated_at: "2027-01-" + day + "T12:00:00Z" };
      console.log(day, await post(receiver, "product_" + n, event));
    }`,
  prints: ["02 applied", "01 dropped", "02 dropped", "03 applied"],
};

const PREPARED = `
    import { createOperator } from "posthorn/operator";
    import { receiver, worker } from "./held.js";
    import { letGo } from "./let-go.js";
    await one("create table if not exists orders (id text primary key, state text not null)");
    const come = async (id, event, given) => {
      const verdict = await post(receiver, id, { type: "order.changed", ...event }, given);
      await worker.drain();
      console.log(id, verdict, await one("select state from orders where id = '" + event.order.id + "'"));
    };`;

const held: OrderCase = {
  promise:
    "an event that comes before its turn is held, a person lets go what waits for one that does not come, and that one is late",
  file: "held.js",
  main: `${PREPARED}
    await one("insert into orders values ('7', 'none')");
    const version = (n) => come("v" + n, { order: { id: "7", version: n, state: "state " + n } });
    for (const n of [1, 3, 2, 6]) await version(n);
    const [{ id }] = (await createOperator({ store }).events({ source: "shop", providerId: "v6" })).items;
    const { log } = console;
    console.log = (...said) => log(said.join(" ").replace(id, "the stored v6"));
    await letGo("shop", "7");
    await letGo("shop", "another");
    await worker.drain();
    await version(5);
    await version(7);`,
  prints: [
    "v1 stored state 1",
    "v3 stored state 1",
    "v2 stored state 3",
    "v6 stored state 3",
    "the stored v6 waits for 4 to 5",
    "versions 4 to 5 did not come",
    "v5 stored state 6",
    "v7 stored state 7",
  ],
};

const heldBySignature: OrderCase = {
  promise: "an event of a Posthorn sender is held until the one has come that its signed sequence names",
  file: "held.js",
  main: `${PREPARED}
    await one("insert into orders values ('8', 'none')");
    for (const [sequence, after] of [[10n, 9n], [14n, 12n], [12n, 10n]]) {
      const lane = { key: "8", generation: 1n, sequence, after };
      const given = { source: "partner", stamp: { lane, attempt: 1, replay: false } };
      await come("s" + sequence, { order: { id: "8", state: "state " + sequence } }, given);
    }`,
  prints: ["s10 stored state 10", "s14 stored state 10", "s12 stored state 14"],
};

/** What runs on every database. */
export function orderCases(statements: VersionStatements): readonly OrderCase[] {
  return [subscription, stock, tooHigh(statements), product, held, heldBySignature];
}

/** What the page shows for Postgres alone: its handler reads before it writes. */
export const bySequence: OrderCase = {
  promise: "an older sequence does not overwrite a newer one, a new generation does, and a gap is told",
  file: "orders.js",
  main: `
    import { receiver } from "./orders.js";
    await one(${tableOf("order_state")});
    for (const [status, generation, sequence, after] of
      [["paid", 1n, 10n, undefined], ["made", 1n, 9n, 8n], ["sent", 1n, 12n, 11n], ["back", 2n, 1n, undefined]]) {
      const stamp = { lane: { key: "order_7", generation, sequence, after }, attempt: 1, replay: false };
      const id = "evt_" + generation + "_" + sequence;
      const verdict = await post(receiver, id, { type: "order.changed", data: { status } }, { stamp });
      console.log(verdict, await one("select status from order_state"));
    }`,
  prints: [
    "applied paid",
    "applied paid",
    "order_7: 11 has not come; the last was 10",
    "applied sent",
    "applied back",
  ],
};

// An order service tells its customers what happens to orders: events of one order arrive in sequence, also when the
// customer's server fails in between, and one order does not wait for another.
import { once } from "node:events";
import { createServer } from "node:http";
import Database from "better-sqlite3";
import { createReceiver, createSender, generateSecret, standardWebhooks } from "posthorn";
import { createAddressGuard, createDispatcher } from "posthorn/dispatch";
import { memoryStore } from "posthorn/memory";
import { nodeListener } from "posthorn/node";
import { migrate, sqliteStore } from "posthorn/sqlite";

const secret = generateSecret();

// 1. The customer. Its server fails once, on the second event of order A.
let failures = 1;
/** @type {Map<string, { step: string, sequence: bigint }[]>} */
const seen = new Map();
/** @type {() => void} */
let allSeen = () => {};
const done = new Promise((resolve) => void (allSeen = () => resolve(undefined)));
const customer = createReceiver({
  store: memoryStore(),
  sources: { shop: standardWebhooks({ secrets: secret }) },
  handlers: {
    "*": (event) => {
      const { order, step } = event.data.data;
      if (step === "packed" && order === "A" && failures-- > 0)
        throw new Error("the customer's server fails");
      // The sender signs the place of each event in its order: a gap would show.
      const sequence = event.stamp?.lane?.sequence ?? 0n;
      seen.set(order, [...(seen.get(order) ?? []), { step, sequence }]);
      if ([...seen.values()].flat().length === 6) allSeen();
    },
  },
});
const server = createServer(nodeListener(customer, { source: "shop" }));
await once(server.listen(0, "127.0.0.1"), "listening");
const { port } = Object(server.address());

// 2. The order service: its database, and where its events go. Yours needs no guard: by default only public addresses are allowed.
const db = new Database(":memory:");
await migrate(db);
db.exec("create table orders (id text primary key, state text not null)");
const guard = createAddressGuard({ allowHttp: true, allowAddresses: ["127.0.0.1"] });
const store = sqliteStore({ db, durability: "as_is" });
const sender = createSender({ store, guard });
await sender.endpoints.create({
  url: `http://127.0.0.1:${port}/webhooks`,
  secrets: secret,
  types: ["order.*"],
  retry: { waitsMs: [100, 100, 100] },
});

// 3. An order and its event commit together. The key is the order: that is what is kept in sequence.
/** @param {string} order @param {string} step */
function advance(order, step) {
  db.transaction(() => {
    db.prepare("insert or replace into orders values (?, ?)").run(order, step);
    sender.publish({ type: `order.${step}`, key: order, data: { order, step } }, { tx: db });
  })();
}
for (const step of ["placed", "packed", "shipped"]) for (const order of ["A", "B"]) advance(order, step);

// 4. Deliver. In production this runs all the time, in this process or in others.
const dispatcher = createDispatcher({ store, guard });
await dispatcher.start();
await done;
for (const order of ["A", "B"]) {
  const steps = seen.get(order) ?? [];
  const gapless = steps.every(
    ({ sequence }, n) => n === 0 || sequence === (steps[n - 1]?.sequence ?? 0n) + 1n,
  );
  console.log(`order ${order}: ${steps.map(({ step }) => step).join(", ")}; gapless: ${gapless}`);
}

await dispatcher.stop();
await customer.stop();
server.close();
server.closeAllConnections();

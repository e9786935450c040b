// A saga: the shop receives a payment and asks the warehouse to ship; the warehouse ships and tells the shop. Each step
// receives, writes and publishes in one transaction, so that a crash at any point loses no step and does none twice.
import { once } from "node:events";
import { createServer } from "node:http";
import Database from "better-sqlite3";
import { createReceiver, createSender, generateSecret, standardWebhooks } from "posthorn";
import { createAddressGuard, createDispatcher } from "posthorn/dispatch";
import { nodeListener } from "posthorn/node";
import { stripe } from "posthorn/providers";
import { migrate, sqliteStore } from "posthorn/sqlite";
import { signedRequest, TEST_SECRETS } from "posthorn/testing";

const guard = createAddressGuard({ allowHttp: true, allowAddresses: ["127.0.0.1"] });
const fromShop = generateSecret();
const fromWarehouse = generateSecret();

/** A service: a database of its own, with a table of orders, a store and a sender. */
async function openService() {
  const db = new Database(":memory:");
  await migrate(db);
  db.exec("create table orders (id text primary key, state text not null)");
  const store = sqliteStore({ db, durability: "as_is" });
  return {
    db,
    store,
    sender: createSender({ store, guard }),
    dispatcher: createDispatcher({ store, guard }),
  };
}

/** @param {import("node:http").RequestListener} listener */
async function listen(listener) {
  const server = createServer(listener);
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { server, url: `http://127.0.0.1:${Object(server.address()).port}/webhooks` };
}

const shop = await openService();
const warehouse = await openService();
/** @type {() => void} */
let finish = () => {};
const finished = new Promise((resolve) => void (finish = () => resolve(undefined)));

// The shop receives from Stripe and from the warehouse.
const shopReceiver = createReceiver({
  store: shop.store,
  publisher: shop.sender,
  sources: {
    stripe: stripe({ secrets: TEST_SECRETS.stripe.verifying }),
    warehouse: standardWebhooks({ secrets: fromWarehouse }),
  },
  handlers: {
    "stripe:invoice.paid":
      (event) =>
      (tx, { publish }) => {
        const order = event.data.data.object.id;
        tx.prepare("insert into orders values (?, 'paid')").run(order);
        publish({ type: "order.paid", key: order, data: { order } });
        console.log(`shop       ${order} is paid, asks the warehouse`);
      },
    "warehouse:order.shipped": (event) => (tx) => {
      const { order } = event.data.data;
      tx.prepare("update orders set state = 'shipped' where id = ?").run(order);
      console.log(`shop       ${order} is shipped`);
      finish();
    },
  },
});

// The warehouse receives from the shop.
const warehouseReceiver = createReceiver({
  store: warehouse.store,
  publisher: warehouse.sender,
  sources: { shop: standardWebhooks({ secrets: fromShop }) },
  handlers: {
    "shop:order.paid":
      (event) =>
      (tx, { publish }) => {
        const { order } = event.data.data;
        tx.prepare("insert into orders values (?, 'shipped')").run(order);
        publish({ type: "order.shipped", key: order, data: { order } });
        console.log(`warehouse  ${order} leaves`);
      },
  },
});

const shopDoor = await listen(
  nodeListener(shopReceiver, {
    source: ({ url }) => new URL(url ?? "", "http://host").pathname.split("/").at(-1) ?? "",
  }),
);
const warehouseDoor = await listen(nodeListener(warehouseReceiver, { source: "shop" }));
await shop.sender.endpoints.create({ url: warehouseDoor.url, secrets: fromShop });
await warehouse.sender.endpoints.create({ url: `${shopDoor.url}/warehouse`, secrets: fromWarehouse });
await shop.dispatcher.start();
await warehouse.dispatcher.start();

// Stripe delivers the payment twice, as it may.
const { headers, body } = await signedRequest("stripe", { type: "invoice.paid", data: { id: "order_7" } });
for (let n = 0; n < 2; n++) {
  const reply = await fetch(`${shopDoor.url}/stripe`, { method: "POST", headers, body });
  if (n === 1) console.log(`stripe     delivered again: ${reply.headers.get("posthorn-verdict")}`);
  else await finished;
}
console.log(`orders     shop ${state(shop)}, warehouse ${state(warehouse)}`);

for (const { dispatcher } of [shop, warehouse]) await dispatcher.stop();
for (const receiver of [shopReceiver, warehouseReceiver]) await receiver.stop();
for (const { server } of [shopDoor, warehouseDoor]) {
  server.close();
  server.closeAllConnections();
}

/** @param {{ db: Database.Database }} service */
function state({ db }) {
  return JSON.stringify(db.prepare("select * from orders").all());
}

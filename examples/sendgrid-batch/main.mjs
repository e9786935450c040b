// SendGrid's arrays: one request carries many events. Each is applied in a transaction of its own; if one fails, SendGrid
// delivers the whole array again, and those that were applied are duplicates then.
import Database from "better-sqlite3";
import { createReceiver } from "posthorn";
import { sendgrid } from "posthorn/providers";
import { migrate, sqliteStore } from "posthorn/sqlite";
import { signedRequest, TEST_SECRETS } from "posthorn/testing";

const db = new Database(":memory:");
await migrate(db);
db.exec("create table mail (address text primary key, state text not null)");

let mailboxIsDown = true;
const receiver = createReceiver({
  store: sqliteStore({ db, durability: "as_is" }),
  sources: { sendgrid: sendgrid({ secrets: TEST_SECRETS.sendgrid.verifying }) },
  handlers: {
    "sendgrid:*": (event) => (tx) => {
      const { email } = event.data;
      if (mailboxIsDown && email === "bo@example.com") throw new Error("mailbox is down");
      tx.prepare("insert or replace into mail values (?, ?)").run(email, event.type);
    },
  },
  observer: (signal) => {
    if (signal.kind === "event_received") console.log(`  ${signal.type.padEnd(10)} ${signal.verdict}`);
  },
});

const request = await signedRequest("sendgrid", {
  events: [
    { id: "sg_1", type: "delivered", data: { email: "al@example.com" } },
    { id: "sg_2", type: "bounce", data: { email: "bo@example.com" } },
    { id: "sg_3", type: "open", data: { email: "cy@example.com" } },
  ],
});

console.log("The array, while one of its events cannot be applied:");
console.log(`  answered ${(await receiver.receive("sendgrid", request)).status}`);
mailboxIsDown = false;
console.log("The same array again:");
console.log(`  answered ${(await receiver.receive("sendgrid", request)).status}`);
console.log(JSON.stringify(db.prepare("select * from mail order by address").all()));
await receiver.stop();

import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { runPage } from "./doc-snippets/run-page.js";

// Programs of the pages that need no database, as they stand there, fed with events that are signed and posted.

it("storing-first.md: the first program stores an event, and its worker handles it", async () => {
  const said = await runPage({
    page: "docs/storing-first.md",
    named: { "first.js": "const store = memoryStore();" },
    env: { STRIPE_WEBHOOK_SECRET: "whsec_of_this_test" },
    main: `
      import { signedRequest } from "posthorn/testing";
      import { receiver, worker } from "./first.js";
      const secrets = "whsec_of_this_test";
      const request = await signedRequest("stripe", { id: "evt_1", type: "invoice.paid", secrets });
      for (const _ of [1, 2]) console.log((await receiver.receive("stripe", request)).verdict);
      console.log((await worker.drain()).handled);`,
  });
  expect(said).toBe("stored\nduplicate\npaid evt_1\n1\n");
});

it("storing-first.md: a consumer that gets another name is emptied first, and no event is lost or handled twice", async () => {
  const said = await runPage({
    page: "docs/storing-first.md",
    files: {
      "old.js": `
        import { memoryStore } from "posthorn/memory";
        import { createFakeClock } from "posthorn/testing";
        export const clock = createFakeClock();
        export const store = memoryStore({ clock });
        export const handled = [];
        export const world = { isDown: true };
        export const handlers = {
          "*": (event) => {
            if (world.isDown && event.id !== "evt_3") throw new Error("down");
            handled.push("default " + event.id);
          },
        };`,
    },
    // Its clock is the store's, which the test turns.
    edits: {
      "empty.js": (code) =>
        code
          .replace("{ store, handlers }", "{ store, handlers, clock }")
          .replace("handlers, store }", "clock, handlers, store }"),
    },
    main: `
      import { createWorker } from "posthorn";
      import { createOperator } from "posthorn/operator";
      import { post, storingFirst } from "./post.js";
      import { clock, handled, handlers, store, world } from "./old.js";
      const observer = () => undefined;
      const receiver = storingFirst(store, { json: "/key" });
      // One that is given up, one that is tried again, and one that nobody has looked at.
      const old = createWorker({ store, clock, handlers, observer, retry: { waitsMs: [] } });
      await post(receiver, "evt_1", { type: "paid", key: "a" });
      await old.drain();
      await post(receiver, "evt_2", { type: "paid", key: "b" });
      await createWorker({ store, clock, handlers, observer, retry: { firstMs: 60_000 } }).drain();
      await post(receiver, "evt_3", { type: "paid", key: "c" });
      world.isDown = false;
      await import("./empty.js");
      const hear = (name) => ({ handlers: { "*": (event) => void handled.push(name + " " + event.id) } });
      const worker = createWorker({ store, clock, consumers: { billing: hear("billing"), crm: hear("crm") } });
      await worker.drain();
      await post(receiver, "evt_4", { type: "paid", key: "a" });
      await worker.drain();
      await clock.advance(180_000);
      await import("./remove.js");
      console.log(handled.toSorted().join());
      const operator = createOperator({ store });
      console.log((await operator.consumers()).map(({ id, waiting, dead }) => [id, waiting, dead].join(" ")).join());`,
  });
  expect(said).toBe(
    "0 wait, 0 dead letters\n" +
      "billing evt_4,crm evt_4,default evt_1,default evt_2,default evt_3\n" +
      "hnd_billing 0 0,hnd_crm 0 0\n",
  );
});

it("storing-first.md: a worker with another consumer runs beside the one with handlers, whose name stays", async () => {
  const said = await runPage({
    page: "docs/storing-first.md",
    main: `
      import { createWorker } from "posthorn";
      import { memoryStore } from "posthorn/memory";
      import { post, storingFirst } from "./post.js";
      const store = memoryStore();
      const receiver = storingFirst(store);
      const handled = [];
      const hear = (name) => ({ "*": (event) => void handled.push(name + " " + event.id) });
      const first = createWorker({ store, handlers: hear("default") });
      await first.drain();
      await post(receiver, "evt_1", { type: "paid" });
      const second = createWorker({ store, consumers: { crm: { handlers: hear("crm") } } });
      await second.drain();
      await post(receiver, "evt_2", { type: "paid" });
      for (const worker of [first, second]) await worker.drain();
      console.log(handled.join());`,
  });
  expect(said).toBe("default evt_1,default evt_2,crm evt_2\n");
});

/** A list as the pages write it, or as Node prints it. */
const plain = (line: string): string => line.replaceAll("'", '"').replaceAll(/\[ | \]/g, (at) => at.trim());

it.each([
  ["of a receiver", "const paid: unknown", 1],
  ["of a worker", "the ledger is down", 2],
])("receiving.md: the documented test %s prints what its comments say", async (_what, text, count) => {
  const page = readFileSync(new URL("../docs/receiving.md", import.meta.url), "utf8");
  const comments = page.slice(page.indexOf(text)).matchAll(/^console\.log\(.*; \/\/ (.*)$/gm);
  const promised = Array.from(comments, ([, comment = ""]) => comment).slice(0, count);
  const main = 'import "./test.js";';
  const said = await runPage({ page: "docs/receiving.md", named: { "test.js": text }, main });
  // The failure of a handler is told behind it.
  expect(said.split("\n").slice(0, count).map(plain)).toEqual(promised.map(plain));
});

it("handler-errors.md: each rule does with its error what the page says", async () => {
  const said = await runPage({
    page: "docs/handler-errors.md",
    named: { "rules.js": "class CardDeclined" },
    // Without an observer the first failure would be printed: these handlers fail on purpose.
    edits: { "rules.js": (code) => code.replace("  store,\n", "  store,\n  observer: () => undefined,\n") },
    main: `
      import { createOperator } from "posthorn/operator";
      import { CardDeclined, store, worker } from "./rules.js";
      import { post, storingFirst } from "./post.js";
      const saying = (given) => Object.assign(new Error("no"), given);
      const errors = {
        conflict: [saying({ code: "40001" }), saying({ code: "40001" })],
        busy: [saying({ status: 429 })],
        declined: [new CardDeclined("declined")],
        foreign: [saying({ name: "UnknownShop" })],
        down: [new Error("fetch failed", { cause: saying({ code: "ECONNREFUSED" }) })],
      };
      globalThis.charge = async (invoice) => {
        const error = errors[invoice].shift();
        if (error) throw error;
      };
      const operator = createOperator({ store });
      const receiver = storingFirst(store);
      for (const invoice of Object.keys(errors)) {
        await post(receiver, invoice, { type: "invoice.due", invoice });
        const { handled, failed } = await worker.drain();
        const [{ id: stored }] = (await operator.events({ source: "shop", providerId: invoice })).items;
        const [delivery] = await operator.deliveriesOf("default", [stored]);
        const [row] = await operator.inboxRowsOf("default", "shop", invoice);
        // Waits are spread by a fifth.
        const isLater = delivery.dueInMs > 23_000 && delivery.dueInMs <= 36_000 && "in about 30 s";
        console.log(invoice, handled, failed, delivery.state, delivery.because ?? (isLater || row?.error) ?? "");
      }
      const [{ state, because, pausedUntil }] = await operator.consumers();
      console.log(state, because, Math.round((pausedUntil - Date.now()) / 1000));`,
  });
  expect(said.trimEnd().split("\n")).toEqual([
    "conflict 1 2 delivered ",
    "busy 0 1 retrying in about 30 s",
    "declined 0 1 dead error_rule",
    "foreign 1 0 delivered the shop is not ours (UnknownShop: no)",
    "down 0 1 retrying ",
    "paused Error: fetch failed 60",
  ]);
});

it("handler-errors.md: a handler that says not yet keeps its event waiting, without a failure", async () => {
  const said = await runPage({
    page: "docs/handler-errors.md",
    named: { "again.js": "export async function onInvoice" },
    main: `
      import { createWorker } from "posthorn";
      import { memoryStore } from "posthorn/memory";
      import { createOperator } from "posthorn/operator";
      import { createFakeClock } from "posthorn/testing";
      import { onInvoice } from "./again.js";
      import { post, storingFirst } from "./post.js";
      const clock = createFakeClock();
      const store = memoryStore({ clock });
      let isImported = false;
      const handlers = { "invoice.paid": () => onInvoice(isImported) };
      const worker = createWorker({ store, clock, handlers });
      await post(storingFirst(store), "evt_1", { type: "invoice.paid" });
      const [{ id }] = (await createOperator({ store }).events()).items;
      const drain = async () => {
        const { handled, failed } = await worker.drain();
        const [delivery] = await createOperator({ store }).deliveriesOf("default", [id]);
        console.log(handled, failed, delivery?.state, delivery?.dueInMs, delivery?.lastError);
      };
      await drain();
      isImported = true;
      await clock.advance(4999);
      await drain();
      await clock.advance(1);
      await drain();`,
  });
  const because = "Again: the customer is not imported yet";
  expect(said.trimEnd().split("\n")).toEqual([
    `0 0 retrying 5000 ${because}`,
    `0 0 retrying 1 ${because}`,
    `1 0 delivered undefined ${because}`,
  ]);
});

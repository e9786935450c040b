import { expect, it } from "vitest";
import { utf8 } from "../bytes.js";
import { long } from "../inbox/handler/long.js";
import { createReceiver } from "../inbox/receiver.js";
import { createWorker } from "../inbox/worker/worker.js";
import type { Signal } from "../observer.js";
import { standardWebhooks } from "../signature/schemes/standard.js";
import { createSigner, signSync } from "../signature/sign.js";
import { memoryStore } from "../stores/memory/store.js";
import { createFakeClock } from "../testing/fake-clock.js";
import { createOperator } from "./operator.js";
import { reconcile } from "./reconcile.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/** Three events at `billing`: the first applied, the second dead after its effect, the third waiting behind it. */
async function withADeadOne(isLong = false) {
  const clock = createFakeClock({ at: Date.parse("2026-11-15T12:00:00Z") });
  const store = memoryStore({ clock, environment: "test" });
  const verifier = standardWebhooks({ secrets: SECRET, clock });
  const receiver = createReceiver({
    mode: "store_first",
    store,
    clock,
    sources: { shop: { verifier, key: { json: "/key" } } },
  });
  const table: string[] = [];
  const handle = ({ id }: { id: string }): void => {
    table.push(id);
    if (id === "evt_2") throw new Error("done, and not recorded");
  };
  const handlers = { paid: isLong ? long(handle) : handle };
  const consumers = { billing: { handlers, retry: { waitsMs: [] } } };
  const worker = createWorker({ store, clock, consumers, observer: () => undefined });
  for (const id of ["evt_1", "evt_2", "evt_3"]) {
    const body = utf8('{"type":"paid","key":"k"}');
    const headers = signSync(createSigner({ secrets: SECRET, clock }), { id, body });
    await receiver.receive("shop", { headers, body });
  }
  await worker.drain();
  const compare = (
    given: Partial<
      Pick<Parameters<typeof reconcile>[0], "extra" | "limit" | "after" | "observer" | "because" | "by">
    >,
  ) =>
    reconcile({
      store,
      since: new Date(0),
      consumer: "billing",
      wasApplied: ({ id }) => table.includes(id),
      ...given,
    });
  return { store, operator: createOperator({ store }), worker, table, compare };
}

it("what a comparison mends is told with who and why, and what it only reports is not", async () => {
  const { compare } = await withADeadOne();
  const heard: Signal[] = [];
  const observer = (signal: Signal): void => void heard.push(signal);
  await compare({ observer, by: "ada", because: "a restored backup" });
  expect(heard).toEqual([]);
  await compare({ observer, by: "ada", because: "a restored backup", extra: "mark" });
  expect(heard).toEqual([
    {
      kind: "operator_acted",
      verb: "reconcile",
      on: "default/shop/evt_2 at billing",
      answer: "marked",
      by: "ada",
      because: "a restored backup",
    },
  ]);
  await expect(compare({ because: 5 as never })).rejects.toMatchObject({ code: "operator_option_invalid" });
});

it.each([
  { handler: "a handler", isLong: false },
  { handler: "a long handler", isLong: true },
])(
  "an event that died after $handler had its effect is compared though the inbox has no row of it, and its redrive is a duplicate once it is marked",
  async ({ isLong }) => {
    const { operator, worker, table, compare } = await withADeadOne(isLong);
    const dead = { kind: "extra", event: { id: "evt_2", outcome: "failed", round: 1, type: "paid" } };
    expect(await compare({})).toMatchObject({ compared: 3, differences: [dead], next: undefined });
    expect((await compare({ extra: "mark" })).differences).toMatchObject([{ ...dead, done: "marked" }]);
    expect((await compare({})).differences).toEqual([]);
    const [letter] = (await operator.deadLetters()).items;
    const before = [...table];
    await operator.redrive(letter?.id ?? "");
    await worker.drain();
    expect(table).toEqual([...before, "evt_3"]);
  },
);

it("an event that waits is compared, and is a duplicate for its handler once it is marked", async () => {
  const { operator, worker, table, compare } = await withADeadOne();
  table.push("evt_3");
  const { differences } = await compare({ extra: "mark" });
  expect(differences.map(({ event }) => `${event.id} ${event.outcome}`).toSorted()).toEqual([
    "evt_2 failed",
    "evt_3 pending",
  ]);
  const [letter] = (await operator.deadLetters()).items;
  const before = [...table];
  await operator.redrive(letter?.id ?? "");
  await worker.drain();
  expect(table).toEqual(before);
});

it("rows and events without one are compared page by page", async () => {
  const { compare } = await withADeadOne();
  const found: string[] = [];
  let [compared, after] = [0, undefined as string | undefined];
  do {
    const report = await compare({ limit: 1, ...(after !== undefined && { after }) });
    compared += report.compared;
    found.push(...report.differences.map(({ event }) => event.id));
    after = report.next;
  } while (after !== undefined);
  expect([compared, found]).toEqual([3, ["evt_2"]]);
});

it("a row that was handled between the page and the look is no difference, and one that is in another round neither", async () => {
  const { store, operator, worker, table, compare } = await withADeadOne();
  await compare({ extra: "mark" });
  for (const { id } of (await operator.deadLetters()).items) await operator.redrive(id);
  await worker.drain();
  const replay = async (): Promise<void> => {
    table.splice(table.indexOf("evt_1"), 1);
    const row = (await operator.inboxRows({ consumer: "billing" })).items.filter(({ id }) => id === "evt_1");
    expect(await operator.replay(row)).toEqual(["staged"]);
  };
  const wasApplied = ({ id }: { id: string }): boolean => table.includes(id);
  const compareWith = async (between: Partial<typeof store>): Promise<unknown> => {
    const options = { since: new Date(0), consumer: "billing", missing: "replay", extra: "mark" } as const;
    return (await reconcile({ ...options, store: { ...store, ...between }, wasApplied })).differences;
  };
  const afterPage = (work: () => Promise<unknown>): Pick<typeof store, "inboxRows"> => ({
    inboxRows: async (...given) => {
      const page = await store.inboxRows(...given);
      await work();
      return page;
    },
  });
  await replay();
  // Pending on the page, and applied with its effect when the table is looked at.
  expect(await compareWith(afterPage(() => worker.drain()))).toEqual([]);
  expect(table).toContain("evt_1");
  // Applied on the page, and in the next round when it is looked at: its effect is to come.
  expect(await compareWith(afterPage(replay))).toEqual([]);
  await worker.drain();
  // Its effect was not in the table, and is by now: it was applied in the next round since.
  table.splice(table.indexOf("evt_1"), 1);
  const afterLook: typeof store.accept = async (...given) => {
    const looked = await store.accept(...given);
    table.push("evt_1");
    await replay();
    await worker.drain();
    return looked;
  };
  expect(await compareWith({ accept: afterLook })).toEqual([]);
  expect(table).toContain("evt_1");
});

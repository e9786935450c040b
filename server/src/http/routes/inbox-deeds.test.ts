import { afterAll, describe, expect, it } from "vitest";
import { closeBenches } from "../../../../test/server/api-bench.js";
import { inboxBench } from "../../../../test/server/inbox-bench.js";
import type { InboxBench } from "../../../../test/server/inbox-bench.js";
import { OperationRunner } from "../../operations/runner.js";

afterAll(closeBenches);

const DAY_MS = 86_400_000;

/** Runs what was started until nothing is left. */
async function runAll({ parts }: InboxBench): Promise<void> {
  const runner = new OperationRunner(parts);
  while (await runner.work());
}

describe("a replay", () => {
  it("is planned with a warning of old events, run once, and written down with who and why", async () => {
    const bench = await inboxBench();
    for (const id of ["in_1", "in_2"]) await bench.post(id);
    await bench.work();
    await bench.clock.advance(2 * DAY_MS);
    await bench.post("in_3");
    await bench.work();
    const client = bench.client();
    const filter = { inbox: { source: "shop", since: "30d" } };
    const planned = await client.operations.create({ verb: "replay", filter, dryRun: true });
    expect(planned.plan).toMatchObject({
      count: 3,
      words:
        "Replay 3 events at hnd_billing: each is handled once more, in a new round; " +
        "where a consumer drops what is stale, only the newest of each resource.",
      endpoints: [{ id: "hnd_billing", count: 3, state: "active" }],
    });
    expect(planned.plan.warnings.map(({ code, count }) => [code, count])).toEqual([
      ["forgotten_ids", 2],
      ["cannot_be_undone", null],
    ]);
    await client.operations.run(planned.id, { note: "wrong VAT", rate: 1000 });
    await runAll(bench);
    expect(await client.operations.get(planned.id)).toMatchObject({
      state: "finished",
      done: 3,
      results: { staged: 3 },
      note: "wrong VAT",
    });
    bench.effects.length = 0;
    await bench.work();
    expect(bench.effects).toEqual(["billing in_1", "billing in_2", "billing in_3"]);
    const [entry] = (await client.audit.list({ action: "operation.run" })).items;
    expect(entry).toMatchObject({ note: "wrong VAT", subject: { id: planned.id } });
    expect((await client.inbox.get("shop/in_1")).rows).toMatchObject([{ round: 2, outcome: "success" }]);
  });

  it("does not hold where other events match by then, and takes only what was applied", async () => {
    const bench = await inboxBench();
    await bench.post("in_1");
    await bench.work();
    const client = bench.client();
    const asked = { verb: "replay", filter: { inbox: { source: "shop" } }, dryRun: true } as const;
    const planned = await client.operations.create(asked);
    await client.operations.create({ ...asked, dryRun: false });
    await runAll(bench);
    await expect(client.operations.run(planned.id)).rejects.toMatchObject({
      detail: { code: "plan_changed" },
    });
    const failed = { ...asked, filter: { inbox: { outcome: "failed" } } } as const;
    await expect(client.operations.create(failed)).rejects.toMatchObject({ detail: { field: "outcome" } });
    for (const inbox of [{}, { outcome: "success" }] as const) {
      const everything = client.operations.create({ ...asked, filter: { inbox }, dryRun: false });
      await expect(everything).rejects.toMatchObject({ detail: { field: "filter.inbox" } });
    }
    const redrive = { ...asked, verb: "redrive" } as const;
    await expect(client.operations.create(redrive)).rejects.toMatchObject({ detail: { field: "filter" } });
  });
});

describe("one event of the inbox", () => {
  it("is redriven where it was skipped, by its row, and refused where it was applied", async () => {
    const bench = await inboxBench();
    await bench.post("in_1", { type: "order.lost" });
    await bench.work();
    const { inbox, audit } = bench.client();
    expect(await inbox.redrive("shop/in_1", { note: "handler added" })).toMatchObject({
      items: [{ consumerId: "hnd_billing", result: "staged" }],
    });
    expect((await audit.list({ kind: "inbox" })).items[0]).toMatchObject({
      action: "inbox.redrive",
      subject: { id: "shop/in_1" },
      note: "handler added",
    });
    await bench.post("in_2");
    await bench.work();
    expect((await inbox.redrive("shop/in_2")).items).toMatchObject([{ result: "applied" }]);
    await expect(inbox.redrive("shop/in_9")).rejects.toMatchObject({ code: "api_not_found" });
  });

  it("that is a conflict is redriven by the hash of its body, and a forgotten one is applied when it comes again", async () => {
    const bench = await inboxBench();
    await bench.post("in_1");
    await bench.work();
    expect(await bench.post("in_1", { amount: 2 })).toBe("conflict");
    const { inbox } = bench.client();
    const [conflict] = (await inbox.refused()).items;
    const redriven = await inbox.redrive("shop/in_1", { refused: conflict?.bodyHash.slice(0, 8) });
    expect(redriven.items).toMatchObject([{ consumerId: null, result: "staged" }]);
    await bench.work();
    expect(bench.effects).toEqual(["billing in_1", expect.stringMatching(/^billing in_1~/)]);
    expect(await inbox.forget("shop/in_1")).toEqual({ rows: 1, names: 1 });
    expect(await bench.post("in_1")).toBe("stored");
    await bench.work();
    expect(bench.effects).toHaveLength(3);
    await expect(inbox.forget("shop/in_9")).rejects.toMatchObject({ code: "api_not_found" });
  });
});

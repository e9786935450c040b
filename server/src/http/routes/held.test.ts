import { afterAll, describe, expect, it } from "vitest";
import { closeBenches } from "../../../../test/server/api-bench.js";
import { inboxBench } from "../../../../test/server/inbox-bench.js";
import type { InboxBench } from "../../../../test/server/inbox-bench.js";

afterAll(closeBenches);

/** Events 1, 4 and 5 of a key have come, and 2 and 3 have not. */
async function gapped(): Promise<InboxBench> {
  const bench = await inboxBench();
  for (const n of [1, 4, 5]) await bench.post(`in_${n}`, { n }, "orders");
  await bench.work();
  await bench.clock.advance(12_000);
  return bench;
}

describe("held events", () => {
  it("are listed with what is missing, since when, and until when at the latest", async () => {
    const bench = await gapped();
    const { inbox } = bench.client();
    const { items } = await inbox.held({ source: "orders", key: "1" });
    expect(items.map(({ sequence, missing }) => [sequence, missing])).toEqual([
      ["4", { from: "2", to: "3" }],
      ["5", null],
    ]);
    expect(items[0]).toMatchObject({
      source: "orders",
      key: "1",
      tenant: "default",
      consumerIds: ["hnd_billing"],
      sentence: "It waits for sequences 2 to 3 (2 events) of 1, for 12 s; given up in 48 s at the latest.",
    });
    const [since, until] = [items[0]?.heldSince ?? "", items[0]?.heldUntil ?? ""].map(Date.parse);
    expect((until ?? 0) - (since ?? 0)).toBe(60_000);
    expect((await inbox.held({ key: "2" })).items).toEqual([]);
    const first = await inbox.held({ limit: 1 });
    expect((await inbox.held({ limit: 1, after: first.next ?? "" })).items[0]?.sequence).toBe("5");
    expect((await bench.call("GET", "/api/v1/held?after=zz")).statusCode).toBe(400);
  });

  it("are seen by whoever asks for the status, the event of the inbox, or its story", async () => {
    const bench = await gapped();
    const client = bench.client();
    const status = await client.status();
    expect(status.sentence).toBe("Nothing is stuck for good: 2 events wait for others of their keys.");
    expect(status.counts).toMatchObject({ held: 2, staged: 2 });
    expect(status.needs).toMatchObject([
      { kind: "key_held", level: "note", source: "orders", key: "1", count: 2, sinceMs: 12_000 },
    ]);
    expect((await client.inbox.get("orders/in_4")).held).toMatchObject([{ sequence: "4", late: false }]);
    const [held] = (await client.inbox.held()).items;
    const story = await client.story(held?.id ?? "");
    expect(story.held).toMatchObject({ sequence: "4", missing: { from: "2", to: "3" } });
    expect(story.steps.map(({ kind, future }) => `${kind}${future ? " to come" : ""}`)).toEqual([
      "received",
      "verified",
      "stored",
      "held",
      "waiting to come",
    ]);
    expect(story.steps.at(-1)?.text).toMatch(/^it waits for sequences 2 to 3/);
  });

  it("go on when they are released, which is written down with who and why, and what was given up stays visible", async () => {
    const bench = await gapped();
    const client = bench.client();
    const [held] = (await client.inbox.held()).items;
    const id = held?.id ?? "";
    expect(await client.inbox.release(id, { note: "never sent" })).toEqual({
      id,
      events: 2,
      gaps: [{ from: "2", to: "3" }],
    });
    await expect(client.inbox.release(id)).rejects.toMatchObject({ code: "api_not_found" });
    await bench.work();
    expect(bench.effects).toEqual(["billing in_1", "billing in_4", "billing in_5"]);
    const audited = (await client.audit.list({ action: "held.release" })).items;
    const entry = audited.find(({ status }) => status === 200);
    expect(entry).toMatchObject({
      note: "never sent",
      subject: { kind: "held", id },
      before: { sequence: "4", missing: { from: "2", to: "3" } },
      after: { heldSince: null, gap: { from: "2", to: "3", because: "operator" } },
    });
    const story = await client.story(id);
    expect(story.held?.sentence).toBe(
      "It went on without sequences 2 to 3 (2 events) of 1: an operator released what waited.",
    );
    expect(story.steps.slice(3).map(({ kind, text }) => `${kind}: ${text}`)).toEqual([
      expect.stringMatching(/^deed: release by .+: never sent$/),
      expect.stringMatching(/^decided: it went on without/),
      expect.stringMatching(/^placed: /),
    ]);
    expect((await client.status()).sentence).toBe("Nothing is stuck.");
  });

  it("say after their time that what was missing was given up, and of what comes then that it is late", async () => {
    const bench = await gapped();
    await bench.clock.advance(60_000);
    await bench.work();
    await bench.post("in_2", { n: 2 }, "orders");
    await bench.work();
    const { inbox } = bench.client();
    expect((await inbox.get("orders/in_4")).held).toMatchObject([
      { heldSince: null, gap: { from: "2", to: "3", because: "time" } },
    ]);
    expect((await inbox.get("orders/in_2")).held).toMatchObject([
      { late: true, sentence: "It came late: 1 had gone on behind 2 without it." },
    ]);
    expect((await inbox.held()).items).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import { fakeClient } from "../../../../test/cli/fake-client.js";
import { runCommand } from "../../../../test/cli/run-command.js";
import { OPERATION } from "../../../../test/cli/samples.js";

const PLAN = {
  ...OPERATION,
  verb: "replay",
  plan: { ...OPERATION.plan, count: 3, words: "Replay 3 events." },
};

describe("posthorn inbox", () => {
  it("replay plans first, and runs what was planned with its rate and note", async () => {
    const ended = { ...PLAN, state: "finished", done: 3, results: { staged: 3 } };
    const client = fakeClient({ "operations.create": () => PLAN, "operations.run": () => ended });
    const flags = ["--source", "shop", "--since", "24h", "--rate", "20", "--note", "VAT", "--yes"];
    const { out, code } = await runCommand(["inbox", "replay", ...flags], { client });
    expect(code).toBe(0);
    expect(out).toContain("Replayed: 3");
    expect(client.calls.map(([name]) => name)).toEqual(["operations.create", "operations.run"]);
    expect(client.calls[0]?.[1]).toMatchObject({
      verb: "replay",
      dryRun: true,
      filter: { inbox: { source: "shop", since: "24h" } },
    });
    expect(client.calls[1]).toEqual(["operations.run", PLAN.id, { rate: 20, note: "VAT" }]);
  });

  it("replay without a filter is refused, and with --dry-run nothing is run", async () => {
    expect(await runCommand(["inbox", "replay"], { client: fakeClient() })).toMatchObject({ code: 2 });
    const client = fakeClient({ "operations.create": () => PLAN });
    await runCommand(["inbox", "replay", "--source", "shop", "--dry-run"], { client });
    expect(client.calls.map(([name]) => name)).toEqual(["operations.create"]);
  });

  it("redrive says of each consumer what became of it, and forget asks first", async () => {
    const items = [
      { consumerId: "hnd_billing", eventId: "evt_1", result: "staged" },
      { consumerId: "hnd_crm", eventId: "evt_1", result: "applied" },
    ];
    const client = fakeClient({
      "inbox.redrive": () => ({ items }),
      "inbox.forget": () => ({ rows: 2, names: 1 }),
    });
    const { out } = await runCommand(["inbox", "redrive", "shop/in_1", "--note", "mended"], {
      client,
      columns: 120,
    });
    expect(out).toContain("hnd_billing waits for its handler.");
    expect(out).toContain("hnd_crm was applied");
    expect(client.calls[0]?.[2]).toMatchObject({ note: "mended" });
    const forgot = await runCommand(["inbox", "forget", "shop/in_1", "--yes"], { client });
    expect(forgot.out).toContain("Forgotten: 2 rows.");
  });
});

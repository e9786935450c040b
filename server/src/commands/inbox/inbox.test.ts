import { describe, expect, it } from "vitest";
import { fakeClient, page } from "../../../../test/cli/fake-client.js";
import { runCommand } from "../../../../test/cli/run-command.js";
import { CONSUMER } from "../../../../test/cli/samples.js";

describe("posthorn inbox", () => {
  it("lists what is asked for, by every filter", async () => {
    const client = fakeClient();
    const flags =
      "--source stripe --consumer billing --outcome failed --type invoice.paid --tenant acme --since 24h";
    await runCommand(["inbox", "list", ...flags.split(" ")], { client });
    expect(client.calls[0]).toEqual([
      "inbox.list",
      expect.objectContaining({
        source: "stripe",
        consumer: "billing",
        outcome: "failed",
        type: "invoice.paid",
        tenant: "acme",
        since: "24h",
      }),
    ]);
  });

  it("shows an event with its failures, what its handler returned, and where it waits", async () => {
    const client = fakeClient();
    const { out, code } = await runCommand(["inbox", "show", "stripe/in_1Q", "--tenant", "acme"], {
      client,
      columns: 160,
    });
    expect(code).toBe(0);
    expect(client.calls).toEqual([["inbox.get", "stripe/in_1Q", { tenant: "acme" }]]);
    for (const text of ["hnd_billing returned", "deadlock detected", "pay@billing.js:12", "dlv_12_7"])
      expect(out).toContain(text);
  });
});

describe("posthorn consumers", () => {
  it("says of a consumer that nobody has that it has no worker", async () => {
    const gone = { ...CONSUMER, hasWorker: false };
    const client = fakeClient({ "consumers.list": () => page([gone]) });
    const { out } = await runCommand(["consumers", "list"], { client });
    expect(out).toMatch(/hnd_billing +active +none/);
  });

  it("makes what has failed at a handler due now", async () => {
    const client = fakeClient();
    const { out } = await runCommand(["consumers", "retry", "hnd_billing"], { client });
    expect(out).toContain("2 deliveries");
    expect(client.calls).toEqual([["consumers.retry", "hnd_billing"]]);
  });
});

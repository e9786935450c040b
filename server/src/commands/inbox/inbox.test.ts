import { describe, expect, it } from "vitest";
import { fakeClient, page, problem } from "../../../../test/cli/fake-client.js";
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

describe("posthorn consumers pause", () => {
  it("takes a name and a duration, gives the reason, and says when it ends", async () => {
    const client = fakeClient();
    const flags = ["--for", "1h", "--because", "the bank is down"];
    const { out, code } = await runCommand(["consumers", "pause", "billing", ...flags], { client });
    expect(code).toBe(0);
    expect(client.calls).toEqual([
      ["consumers.pause", "hnd_billing", { forMs: 3_600_000, note: "the bank is down" }],
    ]);
    expect(out).toMatch(/hnd_billing is paused and goes on in/);
    expect(await runCommand(["consumers", "pause", "billing", "--for", "soon"])).toMatchObject({ code: 2 });
    await runCommand(["consumers", "resume", "hnd_billing", "--note", "it is back"], { client });
    expect(client.calls.at(-1)).toEqual(["consumers.resume", "hnd_billing", { note: "it is back" }]);
  });

  it("is seen in the list: who has paused it, until when and why", async () => {
    const paused = { ...CONSUMER, state: "paused", because: "we deploy", pausedBy: "ada" };
    const client = fakeClient({ "consumers.list": () => page([paused]) });
    const { out } = await runCommand(["consumers", "list"], { client });
    expect(out).toContain("hnd_billing is paused by ada, until it is resumed: we deploy");
  });
});

describe("posthorn consumers remove", () => {
  const gone = { ...CONSUMER, hasWorker: false, waiting: 2 };

  it("asks with what will be cancelled, and changes nothing without an answer", async () => {
    const client = fakeClient({ "consumers.list": () => page([gone]) });
    const { err, code } = await runCommand(["consumers", "remove", "billing", "--cancel-waiting"], {
      client,
    });
    expect(code).toBe(2);
    expect(err).toContain("What waits for it is cancelled and never handled there: 2 deliveries.");
    expect(client.calls).toEqual([["consumers.list"]]);
  });

  it("takes a name and a reason, and says what was cancelled", async () => {
    const client = fakeClient({ "consumers.list": () => page([gone]) });
    const because = ["--because", "it is invoicing now"];
    const args = ["consumers", "remove", "billing", ...because, "--cancel-waiting", "--yes"];
    const { out, code } = await runCommand(args, { client });
    expect(code).toBe(0);
    expect(out).toContain("Removed the handler hnd_billing. Cancelled: 2 deliveries.");
    const said = { note: "it is invoicing now", cancelWaiting: true };
    expect(client.calls.at(-1)).toEqual(["consumers.remove", "hnd_billing", said]);
  });

  it("removes nothing for which events wait, or whose dead letters are unresolved, until the flag says so", async () => {
    for (const left of [
      { ...gone, dead: 0 },
      { ...gone, waiting: 0, dead: 1 },
    ]) {
      const client = fakeClient({ "consumers.list": () => page([left]) });
      const { err, code } = await runCommand(["consumers", "remove", "billing", "--yes"], { client });
      expect(code).toBe(1);
      expect(err).toContain(`Dead letters that nobody has resolved: ${left.dead}.`);
      expect(err).toContain("--cancel-waiting");
      expect(client.calls).toEqual([["consumers.list"]]);
    }
  });

  it("says why a handler is not removed that a worker has", async () => {
    const client = fakeClient({
      "consumers.list": () => page([{ ...gone, waiting: 0, dead: 0 }]),
      "consumers.remove": () => {
        throw problem(409, "conflict", "A worker has the handler hnd_billing: stop its workers first.");
      },
    });
    const { err, code } = await runCommand(["consumers", "remove", "billing", "--yes"], { client });
    expect(code).toBe(1);
    expect(err).toContain("stop its workers first");
  });
});

describe("posthorn inbox held", () => {
  it("says what is missing, since when, and until when at the latest, and how to go on", async () => {
    const { out, err } = await runCommand(["inbox", "held", "--source", "shop"], { columns: 160 });
    for (const text of ["evt_2ZbGqm", "order 7", "7–8", "hnd_billing"]) expect(out).toContain(text);
    expect(out + err).toContain("posthorn inbox release evt_2ZbGqm");
  });

  it("releases an event after asking, and says what was given up", async () => {
    const client = fakeClient();
    const args = ["inbox", "release", "evt_2ZbGqm", "--note", "never sent", "--yes"];
    const { out } = await runCommand(args, { client });
    expect(out).toContain("Go on now: 2 events. Given up: 7 to 8.");
    expect(client.calls[0]).toEqual(["inbox.release", "evt_2ZbGqm", { note: "never sent" }]);
  });
});

import { systemClock } from "posthorn";
import type { Clock } from "posthorn";
import { PosthornError } from "posthorn/client";
import { describe, expect, it } from "vitest";
import { fakeClient, page, problem } from "../../../../test/cli/fake-client.js";
import { runCommand } from "../../../../test/cli/run-command.js";
import { DEAD, NOW_MS, OPERATION } from "../../../../test/cli/samples.js";

// Sleeps for no time: a followed operation looks again at once.
const quick: Clock = { ...systemClock, now: () => NOW_MS, sleep: () => Promise.resolve() };

describe("redrive", () => {
  it("of one says where it went", async () => {
    expect((await runCommand(["redrive", "dlv_12_7"])).out).toContain("at the head of its lane");
    const client = fakeClient({ redrive: () => ({ result: "at_end" }) });
    expect((await runCommand(["redrive", "dlv_12_7"], { client })).out).toContain("at the end");
  });

  it.each([
    [[], "Name deliveries, or say --all."],
    [["--endpoint", "ep_shop"], "add --all"],
    [["dlv_12_7", "--all"], "not both"],
    [["12"], "`posthorn lanes show 12` names its head"],
    [["evt_1"], "no delivery (dlv_…)"],
    [["dlv_12_7", "--key", "other"], "leave out one or the other"],
  ])("%j is refused, and nothing redriven", async (args, says) => {
    const { code, err, client } = await runCommand(["redrive", ...args]);
    expect(code).toBe(2);
    expect(err).toContain(says);
    expect(client.calls).toEqual([]);
  });

  it("of one delivery, a plan names it once", async () => {
    const plan = { ...OPERATION.plan, count: 1, words: "Redrive 1 delivery.", warnings: [] };
    const client = fakeClient({ "operations.create": () => ({ ...OPERATION, plan }) });
    const { out } = await runCommand(["redrive", "--all", "--dry-run"], { client, columns: 200 });
    expect(out.split("\n")).toEqual([
      "Redrive 1 delivery.",
      "  dlv_12_7  invoice.paid, died 2 h ago, to ep_shop · cus_9, at the head of its lane, 40 events behind it",
      "",
    ]);
  });

  it("--all shows the plan, asks, runs it on the server and follows it", async () => {
    const client = fakeClient({
      "operations.create": () => OPERATION,
      "operations.run": () => ({ ...OPERATION, state: "running", done: 1 }),
      "operations.get": () => ({
        ...OPERATION,
        state: "finished",
        done: 3,
        results: { in_place: 1, at_end: 2 },
      }),
    });
    const { code, out, err, terminal } = await runCommand(
      ["redrive", "--all", "--endpoint", "ep_shop", "--since", "24h", "--rate", "20"],
      { client, columns: 100, answers: ["y"], context: { clock: quick } },
    );
    expect(code).toBe(0);
    expect(out).toContain("Redrive 3 deliveries of 2 lanes to ep_shop, in order.");
    expect(out).toContain("the receiver may have forgotten its id");
    expect(out).toContain("dlv_12_7  to ep_shop · cus_9, at the head of its lane, 40 events behind it");
    expect(terminal.questions).toEqual(["Redrive 3 deliveries? [y/N] "]);
    expect(client.calls).toEqual([
      [
        "operations.create",
        expect.objectContaining({
          verb: "redrive",
          dryRun: true,
          filter: { dead: expect.objectContaining({ endpoint: "ep_shop", since: "24h" }) as object },
        }),
      ],
      ["operations.run", "op_1", expect.objectContaining({ rate: 20 })],
      ["operations.get", "op_1"],
    ]);
    expect(out).toContain("Redriven: 3 deliveries.");
    expect(err).toContain("3/3");
  });

  it.each([
    [["--all"], { dead: {} }],
    [["dlv_12_7"], { deliveries: ["dlv_12_7"] }],
  ])("%j --dry-run says what would be done, and sends nothing", async (args, filter) => {
    const client = fakeClient({ "operations.create": () => OPERATION });
    const { code, out, err } = await runCommand(["redrive", ...args, "--dry-run"], { client });
    expect(code).toBe(0);
    expect(out).toContain("Redrive 3 deliveries");
    expect(err).toContain("posthorn operations run op_1");
    expect(client.calls).toEqual([["operations.create", expect.objectContaining({ dryRun: true, filter })]]);
  });

  it("--all of one type names those alone, as the server has no index of types", async () => {
    const client = fakeClient({
      "dead.list": () => page([DEAD, { ...DEAD, id: "dlv_9_9", type: "order.sent" }]),
      "operations.create": () => OPERATION,
    });
    await runCommand(["redrive", "--all", "--type", "order.sent", "--dry-run"], { client });
    expect(client.calls.at(-1)).toEqual([
      "operations.create",
      expect.objectContaining({ filter: { deliveries: ["dlv_9_9"] } }),
    ]);
  });

  it("--all of nothing is done at once", async () => {
    const plan = { ...OPERATION.plan, count: 0 };
    const client = fakeClient({ "operations.create": () => ({ ...OPERATION, plan }) });
    expect(await runCommand(["redrive", "--all"], { client })).toMatchObject({
      code: 0,
      out: "There is nothing to redrive.\n",
    });
  });

  it("goes on past one that is unknown, and ends with 1", async () => {
    const client = fakeClient({
      redrive: (id: string) => {
        if (id === "dlv_1") throw problem(404, "delivery_unknown", "There is no dead delivery dlv_1.");
        return { result: "in_place" };
      },
    });
    const { code, out, err } = await runCommand(["redrive", "dlv_1", "dlv_2"], { client });
    expect(code).toBe(1);
    expect(out).toContain("Redriven: 1 delivery.");
    expect(out).toContain("dlv_1: There is no dead delivery");
    expect(err).toContain("1 delivery could not be redriven");
  });

  it("stops when the server is gone", async () => {
    const client = fakeClient({
      redrive: () => {
        throw new PosthornError("api_unreachable", "gone");
      },
    });
    expect(await runCommand(["redrive", "dlv_1", "dlv_2"], { client })).toMatchObject({ code: 3 });
  });

  it("--all that is interrupted stops on the server, and ends with 130", async () => {
    const stop = new AbortController();
    let state = "running";
    const client = fakeClient({
      "operations.create": () => OPERATION,
      "operations.run": () => {
        stop.abort();
        return { ...OPERATION, state, done: 1 };
      },
      "operations.stop": () => {
        state = "stopped";
        return { ...OPERATION, state: "stopping", done: 1 };
      },
      "operations.get": () => ({ ...OPERATION, state, done: 1, results: { in_place: 1 } }),
    });
    const { code, out, err } = await runCommand(["redrive", "--all", "--yes"], {
      client,
      context: { interrupted: () => stop.signal, clock: quick },
    });
    expect(code).toBe(130);
    expect(out).toContain("Redriven: 1 delivery; stopped after 1 of 3.");
    expect(err).toContain("posthorn operations show op_1");
  });
});

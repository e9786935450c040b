import { PosthornError } from "posthorn/client";
import { describe, expect, it } from "vitest";
import { fakeClient, page, problem } from "../../../../test/cli/fake-client.js";
import { runCommand } from "../../../../test/cli/run-command.js";
import { DEAD } from "../../../../test/cli/samples.js";
import { inOrder } from "./redrive.js";

/** Newest first, as the server lists them. */
const LETTERS = [
  { ...DEAD, id: "dlv_1_3" },
  { ...DEAD, id: "dlv_2_8", key: "other", because: "refused" },
  { ...DEAD, id: "dlv_1_2" },
  { ...DEAD, id: "dlv_77", key: null },
  { ...DEAD, id: "dlv_1_1" },
];

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
    [["dlv_12_7", "--key", "other"], "leave out one or the other"],
  ])("%j is refused, and nothing redriven", async (args, says) => {
    const { code, err, client } = await runCommand(["redrive", ...args]);
    expect(code).toBe(2);
    expect(err).toContain(says);
    expect(client.calls).toEqual([]);
  });

  it("keeps the order of each lane, oldest first", () => {
    expect(inOrder(LETTERS)).toEqual([["dlv_1_1", "dlv_1_2", "dlv_1_3"], ["dlv_77"], ["dlv_2_8"]]);
  });

  it("--all knows all of them before the first, and asks", async () => {
    const client = fakeClient({
      "dead.list": ({ after }: { after?: string }) =>
        after === undefined ? page(LETTERS.slice(0, 2), "c") : page(LETTERS.slice(2)),
    });
    const { code, out, err, terminal } = await runCommand(["redrive", "--all"], {
      client,
      columns: 80,
      answers: ["y"],
    });
    expect(code).toBe(0);
    expect(terminal.questions).toEqual(["Redrive 5 deliveries at 1 endpoint? [y/N] "]);
    expect(client.calls.map(([name]) => name)).toEqual([
      "dead.list",
      "dead.list",
      ...Array<string>(5).fill("redrive"),
    ]);
    const lane = client.calls.filter(([, id]) => String(id).startsWith("dlv_1_")).map(([, id]) => id);
    expect(lane).toEqual(["dlv_1_1", "dlv_1_2", "dlv_1_3"]);
    expect(out).toBe("Redriven: 5 deliveries.\n");
    expect(err).toContain("5/5");
  });

  it("--all with flags takes those alone", async () => {
    const client = fakeClient({ "dead.list": () => page(LETTERS) });
    const { out } = await runCommand(["redrive", "--all", "--because", "refused", "--yes", "--json"], {
      client,
    });
    expect(JSON.parse(out)).toEqual({
      redriven: 1,
      failed: 0,
      interrupted: 0,
      items: [{ id: "dlv_2_8", result: "in_place" }],
    });
  });

  it("--all of nothing is done at once", async () => {
    const client = fakeClient({ "dead.list": () => page([]) });
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

  it("that is interrupted says how many are left, and ends with 130", async () => {
    const stop = new AbortController();
    const client = fakeClient({
      "dead.list": () => page(LETTERS),
      redrive: () => {
        stop.abort();
        return { result: "in_place" };
      },
    });
    const { code, err } = await runCommand(["redrive", "--all", "--yes"], {
      client,
      context: { interrupted: () => stop.signal },
    });
    expect(code).toBe(130);
    expect(err).toMatch(/Stopped\. Still dead: 2 deliveries/);
  });
});

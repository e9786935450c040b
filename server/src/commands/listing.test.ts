import { createFakeClock } from "posthorn/testing";
import { expect, it } from "vitest";
import { fakeClient, page } from "../../../test/cli/fake-client.js";
import { runCommand } from "../../../test/cli/run-command.js";
import { DEAD, EVENT, NOW_MS } from "../../../test/cli/samples.js";
import { fakeTerminal } from "../../../test/cli/fake-terminal.js";
import { runCli } from "../cli.js";
import { createCommandContext } from "./command-context.js";
import { follow } from "./listing.js";

interface Item {
  readonly id: string;
}

it("following tells each item once, oldest first, even where more came than a page holds", async () => {
  const clock = createFakeClock();
  const stop = new AbortController();
  const told: string[] = [];
  const all = ["b", "a"];
  const list = (asked: { after?: string | undefined }) => {
    const from = asked.after === undefined ? 0 : Number(asked.after);
    const items = all.slice(from, from + 2).map((id): Item => ({ id }));
    return Promise.resolve({ items, next: from + 2 < all.length ? String(from + 2) : null });
  };
  const following = follow<Item>({
    list,
    idOf: ({ id }) => id,
    tell: (items) => {
      told.push(...items.map(({ id }) => id));
    },
    past: 50,
    clock,
    signal: stop.signal,
  });
  await expect.poll(() => clock.sleeping).toBe(1);
  all.unshift("g", "f", "e", "d", "c");
  await clock.advance(1000);
  await clock.advance(5000);
  stop.abort();
  await clock.until(following);
  expect(told).toEqual(["a", "b", "c", "d", "e", "f", "g"]);
});

it("--follow with --json is one line for each event", async () => {
  const stop = new AbortController();
  const client = fakeClient({
    "events.list": () => {
      stop.abort();
      return page([EVENT, { ...EVENT, id: "evt_older" }]);
    },
  });
  const { out, code } = await runCommand(["events", "list", "--follow", "--json"], {
    client,
    context: { interrupted: () => stop.signal },
  });
  expect(code).toBe(0);
  const lines = out.trimEnd().split("\n");
  expect(lines.map((line) => (JSON.parse(line) as Item).id)).toEqual(["evt_older", "evt_2ZbGqk"]);
});

it("--follow has its titles once, and keeps to what flags name", async () => {
  const stop = new AbortController();
  let look = 0;
  const client = fakeClient({
    "dead.list": () => {
      if (look++ === 2) stop.abort();
      const letters = [
        { ...DEAD, round: look },
        { ...DEAD, type: "other", round: look },
      ];
      return page(letters);
    },
  });
  const clock = createFakeClock({ at: NOW_MS });
  const context = { clock, interrupted: () => stop.signal };
  const running = runCommand(["dead", "list", "--follow", "--type", DEAD.type], { client, context });
  const { out } = await clock.until(running, 1000);
  expect(out.split("DELIVERY")).toHaveLength(2);
  expect(out.trimEnd().split("\n")).toHaveLength(4);
  expect(out).not.toContain("other");
});

it("--follow begins with as many of the past as --limit says, of those that flags name", async () => {
  const stop = new AbortController();
  const letters = Array.from({ length: 30 }, (_, n) => ({
    ...DEAD,
    id: `dlv_${n}`,
    type: n % 2 === 0 ? DEAD.type : "other",
  }));
  const client = fakeClient({
    "dead.list": ({ after, limit = 100 }: { after?: string; limit?: number }) => {
      stop.abort();
      const from = Number(after ?? 0);
      return { items: letters.slice(from, from + limit), next: String(from + limit) };
    },
  });
  const args = ["dead", "list", "--follow", "--json", "--type", DEAD.type, "--limit", "3"];
  const { out } = await runCommand(args, { client, context: { interrupted: () => stop.signal } });
  const ids = out
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as Item).id);
  expect(ids).toEqual(["dlv_4", "dlv_2", "dlv_0"]);
});

it("--follow refuses --after, which goes the other way", async () => {
  const { err, code } = await runCommand(["events", "list", "--follow", "--after", "x"], {
    client: fakeClient({}),
  });
  expect([code, err]).toEqual([2, expect.stringContaining("--after goes back in the list")]);
});

it("--follow ends without an error when nobody reads its output any more", async () => {
  const clock = createFakeClock({ at: NOW_MS });
  const ended = new AbortController();
  const client = fakeClient({ "events.list": () => (ended.abort(), page([EVENT])) });
  const terminal = { ...fakeTerminal(), outputEnded: ended.signal };
  const context = createCommandContext({
    terminal,
    clock,
    connect: () => client,
    environment: { POSTHORN_TOKEN: "phk_x" },
  });
  expect(
    await runCli(["events", "list", "--follow"], {
      ...context,
      interrupted: () => new AbortController().signal,
    }),
  ).toBe(0);
});

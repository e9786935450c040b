import { createFakeClock } from "posthorn/testing";
import { expect, it } from "vitest";
import { fakeClient, page } from "../../../test/cli/fake-client.js";
import { runCommand } from "../../../test/cli/run-command.js";
import { DEAD, EVENT, NOW_MS } from "../../../test/cli/samples.js";
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
    clock,
    signal: stop.signal,
  });
  await clock.advance(10);
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
        { ...DEAD, endpointId: "ep_other", round: look },
      ];
      return page(letters);
    },
  });
  const clock = createFakeClock({ at: NOW_MS });
  const context = { clock, interrupted: () => stop.signal };
  const running = runCommand(["dead", "list", "--follow", "--endpoint", "ep_shop"], { client, context });
  const { out } = await clock.until(running, 1000);
  expect(out.split("DELIVERY")).toHaveLength(2);
  expect(out.trimEnd().split("\n")).toHaveLength(4);
  expect(out).not.toContain("ep_other");
});

import { describe, expect, it } from "vitest";
import { githubLog } from "./github-log.js";
import type { ApiOptions } from "./provider-api.js";
import { stripeLog } from "./stripe-log.js";

const AT = Date.parse("2026-11-15T12:00:00Z");
const time = (second: number): string => new Date(AT + second * 1000).toISOString();
const SINCE = new Date(AT - 60_000);

/** A way out that answers by what a function makes of the address. */
function answering(answer: (url: URL) => unknown) {
  const asked: string[] = [];
  const get = (request: { readonly url: string }): Promise<unknown> => {
    const url = new URL(request.url);
    asked.push(url.pathname);
    const bytes = new TextEncoder().encode(JSON.stringify(answer(url)));
    return Promise.resolve({
      outcome: { kind: "acknowledged", status: 200 },
      headers: {},
      answer: bytes,
      cut: false,
    });
  };
  return { egress: { get } as unknown as ApiOptions["egress"], asked };
}

const first = { since: SINCE, next: undefined, signal: undefined };

describe("a list of GitHub with an odd delivery", () => {
  const request = { headers: {}, payload: { action: "opened" } };
  const logOf = (list: readonly unknown[]) => {
    const { egress } = answering((url) => (url.pathname.endsWith("/deliveries") ? list : { request }));
    return githubLog({ egress, token: "t", hook: "app" });
  };

  it("without delivered_at reads all of them, this one by the time of its neighbour", async () => {
    const list = [
      { id: 4, guid: "d" },
      { id: 3, guid: "c", delivered_at: time(3) },
      { id: 2, guid: "b", delivered_at: null },
      { id: 1, guid: "a", delivered_at: time(1) },
    ];
    const { entries } = await logOf(list).page(first);
    expect(entries.map(({ id, at }) => [id, at.toISOString()])).toEqual([
      ["d", time(3)],
      ["c", time(3)],
      ["b", time(3)],
      ["a", time(1)],
    ]);
    expect((await entries[2]?.load())?.body).toBeDefined();
  });

  it.each([
    [{ id: 2, delivered_at: time(2) }, "the delivery 2"],
    [{ guid: "b", delivered_at: time(2) }, "b"],
    [{ delivered_at: time(2) }, `a delivery of ${time(2)}`],
    [null, `a delivery of ${time(3)}`],
  ])("that is %j names it, and fails only where it is loaded", async (odd, name) => {
    const list = [
      { id: 3, guid: "c", delivered_at: time(3) },
      odd,
      { id: 1, guid: "a", delivered_at: time(1) },
    ];
    const { entries } = await logOf(list).page(first);
    expect(entries.map(({ id }) => id)).toEqual(["c", name, "a"]);
    await expect(entries[1]?.load()).rejects.toMatchObject({
      code: "repair_log_unreadable",
      message: expect.stringContaining(name) as string,
      detail: { reach: "entry" },
    });
  });

  it("and no delivery with a time is refused, because no window can be told", async () => {
    await expect(logOf([{ id: 1, guid: "a" }]).page(first)).rejects.toMatchObject({
      code: "repair_log_unreadable",
    });
  });
});

const event = (n: number, more: object = {}): object => ({
  id: `evt_${n}`,
  created: AT / 1000 + n,
  ...more,
});

describe("a list of Stripe", () => {
  it("with an event without created reads all of them, this one by the time of its neighbour", async () => {
    const { egress } = answering(() => ({ data: [event(3), event(2, { created: "soon" }), event(1)] }));
    const { entries } = await stripeLog({ egress, apiKey: "k" }).page(first);
    expect(entries.map(({ id, at }) => [id, at.toISOString()])).toEqual([
      ["evt_3", time(3)],
      ["evt_2", time(3)],
      ["evt_1", time(1)],
    ]);
    expect((await entries[1]?.load())?.body).toBeDefined();
  });

  it("with an event without an id names it, fails only where it is loaded, and goes on after the last that has one", async () => {
    const data = [event(3), event(2), event(1, { id: undefined })];
    const { egress } = answering(() => ({ data, has_more: true }));
    const { entries, next } = await stripeLog({ egress, apiKey: "k" }).page(first);
    expect([entries.map(({ id }) => id), next]).toEqual([
      ["evt_3", "evt_2", `an event of ${time(1)}`],
      "evt_2",
    ]);
    await expect(entries[2]?.load()).rejects.toMatchObject({ detail: { reach: "entry" } });
  });

  it("with no id at all and more to come is refused: nothing says where to go on", async () => {
    const data = [event(1, { id: undefined })];
    const { egress } = answering(() => ({ data, has_more: true }));
    await expect(stripeLog({ egress, apiKey: "k" }).page(first)).rejects.toMatchObject({
      code: "repair_log_unreadable",
    });
  });

  it("keeps events up to a number of bytes, and brings those beyond one by one, again from the first page on", async () => {
    const list = [event(3), event(2), event(1)];
    const { egress, asked } = answering((url) => {
      const id = /events\/(.+)$/.exec(url.pathname)?.[1];
      return id === undefined ? { data: list } : list.find((each) => (each as { id: string }).id === id);
    });
    const maxKeptBytes = 2 * JSON.stringify(list[0]).length;
    const log = stripeLog({ egress, apiKey: "k", maxKeptBytes });
    for (const _reading of [1, 2]) {
      const { entries } = await log.page(first);
      asked.length = 0;
      for (const entry of entries) {
        const { body } = await entry.load();
        expect(JSON.parse(new TextDecoder().decode(body))).toMatchObject({ id: entry.id });
        // A slice would keep the whole page in memory.
        expect(body.buffer.byteLength).toBe(body.length);
      }
      expect(asked).toEqual(["/v1/events/evt_1"]);
    }
    expect(() => stripeLog({ egress, apiKey: "k", maxKeptBytes: -1 })).toThrow("maxKeptBytes");
  });
});

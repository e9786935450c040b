import type { BlockedLane, LaneSummary, Page, Paged } from "posthorn/operator";
import { expect, it } from "vitest";
import { listLanes } from "./lane-list.js";

const lane = (id: number, state: LaneSummary["state"], endpointId = "ep_1"): LaneSummary => ({
  id: BigInt(id),
  tenant: "default",
  endpointId,
  key: `k${id}`,
  state,
  depth: 1n,
  head: 1n,
  failures: 0,
  blockedMs: state === "flowing" ? undefined : id,
  dueInMs: undefined,
});

/** A store of these lanes, whose cursors are places in its lists. */
function storeOf(lanes: readonly LaneSummary[]) {
  let pages = 0;
  const cut = <T>(all: readonly T[], { limit, after = "0" }: Page): Promise<Paged<T>> => {
    pages++;
    const end = Number(after) + limit;
    return Promise.resolve({
      items: all.slice(Number(after), end),
      next: end < all.length ? String(end) : undefined,
    });
  };
  const blocked = lanes.filter(({ state }) => state !== "flowing").toReversed() as unknown as BlockedLane[];
  return {
    pages: () => pages,
    blockedLanes: (page: Page) => cut(blocked, page),
    lanes: ({ endpointId }: { readonly endpointId?: string | undefined }, page: Page) =>
      cut(
        lanes.filter((each) => endpointId === undefined || each.endpointId === endpointId),
        page,
      ),
  };
}

async function everyId(
  store: ReturnType<typeof storeOf>,
  query: { limit: number; endpoint?: string },
): Promise<number[]> {
  const ids: number[] = [];
  let after: string | undefined;
  do {
    const { items, next } = await listLanes(store, { ...query, after });
    expect(items.length).toBeLessThanOrEqual(query.limit);
    ids.push(...items.map(({ id }) => Number(id)));
    after = next;
  } while (after !== undefined);
  return ids;
}

const some = [1, 2, 3, 4, 5, 6, 7].map((id) => lane(id, id % 3 === 0 ? "halted" : "flowing", `ep_${id % 2}`));

it.each([1, 2, 3, 7, 100])("lanes come once each, the blocked ones first, in pages of %i", async (limit) => {
  expect(await everyId(storeOf(some), { limit })).toEqual([6, 3, 1, 2, 4, 5, 7]);
  expect(await everyId(storeOf(some), { limit, endpoint: "ep_1" })).toEqual([3, 1, 5, 7]);
});

it("of thousands of lanes each comes once, whatever the page", async () => {
  const many = Array.from({ length: 2500 }, (_, n) =>
    lane(n, n % 7 === 0 ? "retrying" : "flowing", `ep_${n % 3}`),
  );
  const ids = await everyId(storeOf(many), { limit: 333 });
  expect(ids).toHaveLength(2500);
  expect(new Set(ids).size).toBe(2500);
  expect(ids.slice(0, 358).every((id) => id % 7 === 0)).toBe(true);
});

it("one call looks at a bounded number of lanes, however many are of others", async () => {
  const store = storeOf(Array.from({ length: 30_000 }, (_, n) => lane(n, "paused", "other")));
  const { items, next } = await listLanes(store, { limit: 10, endpoint: "ep_1" });
  expect([items.length, typeof next, store.pages()]).toEqual([0, "string", 10]);
});

it("a lane that moves away between two pages takes none of the others with it", async () => {
  // Cursors are ids here, as a store's own are: a lane's place does not depend on those before it.
  const lanes = Array.from({ length: 30 }, (_, n) => lane(n + 1, "flowing"));
  const store = {
    blockedLanes: () => Promise.resolve({ items: [], next: undefined }),
    lanes: (_filter: unknown, { limit, after = "0" }: Page) => {
      const rest = lanes.filter(({ id }) => id > BigInt(after));
      const items = rest.slice(0, limit);
      return Promise.resolve({ items, next: rest.length > limit ? String(items.at(-1)?.id) : undefined });
    },
  };
  const first = await listLanes(store, { limit: 10 });
  // All that were on the first page are done and gone.
  lanes.splice(0, 10);
  const second = await listLanes(store, { limit: 100, after: first.next });
  expect([...first.items, ...second.items].map(({ id }) => Number(id))).toEqual(
    Array.from({ length: 30 }, (_, n) => n + 1),
  );
});

it.each(["", "x", "b", "b.", "b99999.", "zz.zz", "f.-1", "f.1e3", "b0.1_2"])(
  "a cursor that is none is refused: %j",
  async (after) => {
    await expect(listLanes(storeOf(some), { limit: 1, after })).rejects.toMatchObject({
      code: "request_invalid",
      detail: { field: "after" },
    });
  },
);

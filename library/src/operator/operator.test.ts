import { beforeEach, describe, expect, it, vi } from "vitest";
import { createSender } from "../outbox/sender.js";
import { generateSecret } from "../signature/keys/secret.js";
import { memoryStore } from "../stores/memory/store.js";
import type { MemoryStore } from "../stores/memory/store.js";
import { createFakeClock } from "../testing/fake-clock.js";
import { createOperator } from "./operator.js";

const clock = createFakeClock();
let store: MemoryStore;

beforeEach(async () => {
  store = memoryStore({ clock, environment: "test" });
  const sender = createSender({ store, clock });
  await sender.endpoints.create({ id: "ep_1", url: "https://example.com/", secrets: generateSecret() });
  await sender.publish([
    { id: "a", type: "t", key: "k", data: 1 },
    { id: "b", type: "t", key: "k", data: 2 },
  ]);
  while ((await store.sequence()).more);
  await sender.endpoints.pause("ep_1");
});

it("an event is not looked for by its provider's id in a store without names: it would find every event", async () => {
  const verbs = Object.entries(store).filter(([name]) => name !== "namedEvents");
  const operator = createOperator({ store: Object.fromEntries(verbs) as MemoryStore });
  await expect(operator.events({ source: "shop", providerId: "evt_1" })).rejects.toMatchObject({
    code: "operator_option_invalid",
    message: expect.stringContaining("namedEvents") as string,
  });
  expect((await operator.events()).items).toHaveLength(2);
});

describe("an operator's answers", () => {
  it("can be written as JSON: lanes, deliveries and sequences are texts", async () => {
    const operator = createOperator({ store });
    const [blocked] = (await operator.blockedLanes()).items;
    const [listed] = (await operator.lanes()).items;
    const [delivery] = await operator.deliveriesOf("default", ["b"]);
    expect(JSON.parse(JSON.stringify({ blocked, listed, delivery }))).toMatchObject({
      blocked: { id: expect.stringMatching(/^\d+$/), depth: "2", key: "k" },
      listed: { id: blocked?.id, head: blocked?.head },
      delivery: { laneId: blocked?.id, sequence: expect.stringMatching(/^\d+$/) },
    });
    expect(await operator.lane(blocked?.id ?? "")).toEqual(listed);
  });

  it("lead to its verbs: a lane is skipped by the texts that name it, and no other text is a number", async () => {
    const operator = createOperator({ store });
    const [lane] = (await operator.blockedLanes()).items;
    expect(await operator.skip(lane?.id ?? "", lane?.head ?? "")).toBe("skipped");
    expect((await operator.lanes()).items[0]).toMatchObject({ depth: "1" });
    await expect(operator.skip("lane 1", "2")).rejects.toMatchObject({ code: "number_invalid" });
  });

  it("lead to its filters: the text that a summary bounds itself by bounds the list, and no other text does", async () => {
    const summed = vi.spyOn(store, "deadSummary");
    const listed = vi.spyOn(store, "deadLetters");
    const operator = createOperator({ store });
    await operator.deadSummary({ endpointId: "ep_1", upTo: "9007199254740993" });
    await operator.deadLetters({ limit: 5 }, { endpointId: "ep_1", upTo: "9007199254740993" });
    const filter = { endpointId: "ep_1", upTo: 9_007_199_254_740_993n };
    expect(summed).toHaveBeenCalledWith(filter);
    expect(listed).toHaveBeenCalledWith({ limit: 5, after: undefined }, filter);
    await expect(operator.deadLetters({}, { upTo: "9e3" })).rejects.toMatchObject({ code: "number_invalid" });
  });
});

describe("an operator of handlers", () => {
  const handler = {
    id: "hnd_a",
    sources: ["*"],
    types: ["*"],
    order: "key",
    dead: undefined,
  } as const;

  it("pauses one with who and why, leaves a longer pause as it is, and resumes it", async () => {
    const operator = createOperator({ store });
    expect(await operator.pause("hnd_a", { because: "x" })).toBe("unknown");
    await store.register([handler]);
    expect(await operator.resume("hnd_a")).toBe("active");
    expect(await operator.pause("hnd_a", { because: "deploy", by: "ada", forMs: 60_000 })).toBe("paused");
    expect((await operator.consumers())[0]).toMatchObject({
      state: "paused",
      because: "deploy",
      pausedBy: "ada",
      pausedUntil: new Date(clock.now() + 60_000),
    });
    expect(await operator.pause("hnd_a", { because: "shorter", forMs: 1000 })).toBe("kept");
    expect((await operator.consumers())[0]?.because).toBe("deploy");
    for (const pause of [undefined, {}, { forMs: 1000 }, { because: " " }])
      await expect(operator.pause("hnd_a", pause as never)).rejects.toThrow(
        /because is (missing|" "): say why, for whoever finds it paused/,
      );
    await expect(operator.pause("hnd_a", { because: "x", forMs: 0 })).rejects.toMatchObject({
      code: "number_invalid",
    });
    expect(await operator.resume("hnd_a")).toBe("resumed");
    expect(await operator.resume("hnd_b")).toBe("unknown");
  });
});

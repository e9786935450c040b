import { everyItem } from "posthorn/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiBench, closeBenches } from "../../../../test/server/api-bench.js";
import type { ApiBench } from "../../../../test/server/api-bench.js";

let bench: ApiBench;
beforeAll(async () => {
  bench = await apiBench();
});
afterAll(closeBenches);

const secret = "whsec_plJ3nmyCDGBKInavdOK15jsl";

describe("a source", () => {
  it("is made, shown without its secrets, changed and removed", async () => {
    const { sources } = bench.client();
    const made = await sources.create({
      name: "shop",
      scheme: "stripe",
      secrets: [secret],
      key: { json: "/data/object/id" },
    });
    expect(made).toMatchObject({
      name: "shop",
      scheme: "stripe",
      tenant: "default",
      secretCount: 1,
      dedup: { by: "id" },
      key: { json: "/data/object/id" },
      path: "/in/shop",
    });
    expect(await sources.get("shop")).toEqual(made);
    const changed = await sources.update("shop", {
      key: null,
      forwardHeaders: ["Stripe-*"],
      secrets: [secret, `${secret}x`],
    });
    expect(changed).toMatchObject({
      key: null,
      forwardHeaders: ["stripe-*"],
      secretCount: 2,
      scheme: "stripe",
    });
    expect(JSON.stringify([made, changed, await sources.list()])).not.toContain("plJ3nmy");
    await sources.remove("shop");
    for (const call of [
      sources.get("shop"),
      sources.remove("shop"),
      sources.update("shop", { windowS: 1 }),
    ]) {
      await expect(call).rejects.toMatchObject({ code: "api_not_found" });
    }
  });

  it("is refused where another has its name", async () => {
    const { sources } = bench.client();
    await sources.create({ name: "taken", scheme: "github", secrets: ["long enough to be a secret"] });
    await expect(
      sources.create({ name: "taken", scheme: "github", secrets: ["long enough to be a secret"] }),
    ).rejects.toMatchObject({
      code: "api_conflict",
    });
  });

  it.each([
    ["name", { name: "Shop", scheme: "stripe", secrets: [secret] }],
    ["scheme", { name: "a", scheme: "strype", secrets: [secret] }],
    ["secrets", { name: "a", scheme: "stripe" }],
    ["allowUnverified", { name: "a", scheme: "none" }],
    ["dedup.by", { name: "a", scheme: "stripe", secrets: [secret], dedup: { by: "hash" } as never }],
    [
      "dedup.contents",
      { name: "a", scheme: "stripe", secrets: [secret], dedup: { by: "content", contents: "raw" } as never },
    ],
    ["windowS", { name: "a", scheme: "stripe", secrets: [secret], windowS: 5 }],
    ["key", { name: "a", scheme: "stripe", secrets: [secret], key: {} as never }],
    ["secret", { name: "a", scheme: "stripe", secret } as never],
  ])("is refused with its field %s: %j", async (field, input) => {
    await expect(bench.client().sources.create(input)).rejects.toMatchObject({
      code: "api_refused",
      detail: { field, code: "request_invalid" },
    });
  });

  it("is known to ingest on this node when the answer comes, and taken though ingest cannot look", async () => {
    let looks = 0;
    const ingest = {
      refresh: () => {
        looks++;
        return looks < 3 ? Promise.resolve() : Promise.reject(new Error("away"));
      },
    };
    const node = await apiBench({ ingest: ingest as never, roles: ["api"] });
    const { sources } = node.client();
    await sources.create({ name: "s", scheme: "none", allowUnverified: true });
    await sources.update("s", { windowS: 100 });
    await sources.remove("s");
    expect(looks).toBe(3);
    expect(node.lines.filter(({ text }) => text !== "operator")).toMatchObject([
      { level: "warn", text: "sources not read" },
    ]);
  });

  it("is found page by page, in the order of names", async () => {
    const { sources } = bench.client();
    for (const name of ["zc", "za", "zb"])
      await sources.create({ name, scheme: "none", allowUnverified: true });
    const found: string[] = [];
    for await (const { name } of everyItem((page) => sources.list(page), { limit: 2 })) found.push(name);
    expect(found).toEqual(["taken", "za", "zb", "zc"]);
  });
});

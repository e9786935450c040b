import { createHash } from "node:crypto";
import { everyItem } from "posthorn/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiBench, closeBenches } from "../../../../test/server/api-bench.js";
import type { ApiBench } from "../../../../test/server/api-bench.js";

let bench: ApiBench;
beforeAll(async () => {
  bench = await apiBench();
});
afterAll(closeBenches);

describe("a token", () => {
  it("is shown when it is made, and never again", async () => {
    const { tokens } = bench.client();
    const expiresAt = new Date(bench.clock.now() + 3_600_000).toISOString();
    const made = await tokens.create({ name: "reader", scope: "read", expiresAt });
    expect(made).toMatchObject({ name: "reader", scope: "read", expiresAt, lastUsedAt: null });
    const { id } = made;
    const { items } = await bench.client(made.token).tokens.list();
    expect(items).toContainEqual(expect.objectContaining({ id, name: "reader", scope: "read", expiresAt }));
    expect(JSON.stringify(await tokens.list())).not.toContain(made.token);
  });

  it("of the scope metrics sees /metrics and nothing else", async () => {
    const made = await bench.client().tokens.create({ name: "prometheus", scope: "metrics" });
    const headers = { authorization: `Bearer ${made.token}`, host: "localhost" };
    const reach = async (url: string) => (await bench.app.inject({ url, headers })).statusCode;
    expect([await reach("/metrics"), await reach("/api/v1/endpoints")]).toEqual([200, 403]);
    const write = bench.client(made.token).endpoints.create({ url: "https://example.com/" });
    await expect(write).rejects.toMatchObject({ code: "api_unauthorised" });
  });

  it("that is made is a line of the log, with who made it and its id, and without the token itself", async () => {
    const made = await bench.client().tokens.create({ name: "logged", scope: "read" });
    const line = bench.lines.findLast(({ text }) => text === "operator");
    expect(line?.fields).toMatchObject({ action: "token.create", subject: made.id, by: "full", status: 201 });
    expect(JSON.stringify(bench.lines)).not.toContain(made.token);
  });

  it("is known by its fingerprint, which anybody can compute who has it", async () => {
    const made = await bench.client().tokens.create({ name: "ci", scope: "read" });
    const digest = createHash("sha256").update(made.token).digest("hex");
    expect(made.fingerprint).toBe(digest.slice(0, 12));
  });

  it("is found page by page", async () => {
    const { tokens } = bench.client();
    for (const name of ["a", "b", "c"]) await tokens.create({ name, scope: "read" });
    const found: string[] = [];
    for await (const { name } of everyItem((page) => tokens.list(page), { limit: 2 })) found.push(name);
    expect(found).toEqual(expect.arrayContaining(["a", "b", "c"]));
  });

  it.each([
    ["scope", { name: "n", scope: "admin" as never }],
    ["name", { name: "a\nb", scope: "read" as const }],
    ["expiresAt", { name: "n", scope: "read" as const, expiresAt: "2020-01-01T00:00:00Z" }],
    ["expiresAt", { name: "n", scope: "read" as const, expiresAt: "soon" }],
  ])("is refused with its field %s: %j", async (field, input) => {
    await expect(bench.client().tokens.create(input)).rejects.toMatchObject({
      detail: { field },
    });
  });

  it("with the scope full stays where it is the last that works", async () => {
    const { tokens } = bench.client();
    const last = (await tokens.list()).items.find(({ scope }) => scope === "full");
    const soon = new Date(bench.clock.now() + 1000).toISOString();
    await tokens.create({ name: "short", scope: "full", expiresAt: soon });
    await bench.clock.advance(1000);
    await expect(tokens.remove(last?.id ?? "")).rejects.toMatchObject({ code: "api_conflict" });
    await tokens.create({ name: "next", scope: "full" });
    await tokens.remove(last?.id ?? "");
    await expect(tokens.list()).rejects.toMatchObject({ code: "api_unauthorised" });
  });
});

import { createServer, request as ask } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { skipFor } from "../skip-reason.js";
import { noBrowser } from "./browser.js";
import { visit } from "./visitor.js";
import type { Visitor } from "./visitor.js";
import { startWorld } from "./world.js";
import type { World } from "./world.js";

const PREFIX = "/tools/posthorn";

/** A proxy that shows the server under a path, which it removes and names. */
async function startProxy(target: string): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    if (!path.startsWith(`${PREFIX}/`)) return void response.writeHead(404).end();
    const headers = { ...request.headers, "x-forwarded-for": "127.0.0.1", "x-forwarded-prefix": PREFIX };
    const onward = ask(target + path.slice(PREFIX.length), { method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${PREFIX}` };
}

describe("under the path of a proxy", skipFor(noBrowser), () => {
  let world: World;
  let proxy: Awaited<ReturnType<typeof startProxy>>;
  let visitor: Visitor;
  beforeAll(async () => {
    world = await startWorld("--behind-proxy");
    proxy = await startProxy(world.url);
    visitor = await visit(proxy);
  });
  afterAll(async () => {
    await visitor.leave();
    proxy.server.closeAllConnections();
    proxy.server.close();
    await world.stop();
  });

  it("no sign-in link is printed, as others may read the log", () => {
    expect(world.signInUrl).toBe("");
  });

  it("signing in, writing and every link stay under the path", async () => {
    const { page } = visitor;
    await page.goto(`${proxy.url}/`);
    await page.getByLabel("Token", { exact: true }).fill(world.token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(`${proxy.url}/start`);
    await page.getByRole("button", { name: "Make one" }).click();
    await page.getByRole("button", { name: "Add source stripe" }).click();
    await page.getByText(`${proxy.url}/in/stripe`).waitFor();
    await page.getByRole("link", { name: "Sources" }).click();
    await page.waitForURL(`${proxy.url}/sources`);
    await page.reload();
    await page.getByRole("link", { name: "stripe", exact: true }).click();
    await page.waitForURL(`${proxy.url}/sources/stripe`);
    await page.getByText("Settings in force").waitFor();
    expect(visitor.faults).toEqual([]);
  });
});

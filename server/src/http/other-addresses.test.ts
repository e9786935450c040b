import { once } from "node:events";
import { createServer } from "node:http";
import type { Server } from "node:http";
import { connect } from "node:net";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { afterEach, expect, it } from "vitest";
import { skipFor } from "../../../test/skip-reason.js";
import { listenOnOthers } from "./other-addresses.js";

const open: Server[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  }
});

async function serverOn(host: string): Promise<{ server: Server; port: number }> {
  const server = createServer((_request, response) => void response.end("here"));
  open.push(server);
  server.listen(0, host);
  await once(server, "listening");
  return { server, port: (server.address() as AddressInfo).port };
}

const answers = (host: string, port: number): Promise<boolean> =>
  fetch(`http://${host}:${port}/`).then(
    (answer) => answer.ok,
    () => false,
  );

const hasIpv6 = Object.values(networkInterfaces())
  .flat()
  .some((each) => each?.address === "::1");
const withIpv6 = skipFor(!hasIpv6 && "this machine has no ::1; enable IPv6 on its loopback interface");

it("localhost is served on both of its addresses, until the server closes", withIpv6, async () => {
  const { server, port } = await serverOn("127.0.0.1");
  expect(await answers("[::1]", port)).toBe(false);
  // Where `localhost` is one address only, its other is asked for by its own name.
  await listenOnOthers(server, "::1");
  expect([await answers("127.0.0.1", port), await answers("[::1]", port)]).toEqual([true, true]);
  server.closeAllConnections();
  server.close();
  await once(server, "close");
  open.length = 0;
  expect(await answers("[::1]", port)).toBe(false);
});

it("no more connections are taken on the other address than on the first", withIpv6, async () => {
  const { server, port } = await serverOn("127.0.0.1");
  server.maxConnections = 1;
  await listenOnOthers(server, "::1");
  const [first, second] = [connect(port, "::1"), connect(port, "::1")];
  await once(second, "close");
  expect(first.destroyed).toBe(false);
  first.destroy();
});

it("an address that is taken is left to who has it", async () => {
  const { server, port } = await serverOn("127.0.0.1");
  const other = createServer((_request, response) => void response.end("other"));
  open.push(other);
  other.listen(port, "127.0.0.2");
  await once(other, "listening");
  await listenOnOthers(server, "127.0.0.2");
  const said = await fetch(`http://127.0.0.2:${port}/`);
  expect(await said.text()).toBe("other");
});

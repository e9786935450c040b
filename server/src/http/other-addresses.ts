import { lookup } from "node:dns/promises";
import type { Server as HttpServer } from "node:http";
import { createServer } from "node:net";
import type { Server } from "node:net";

/**
 * Lets a server that listens on a name listen on all of the name's addresses. `localhost` has two of them on most
 * machines, and callers try the one or the other: a probe that tries `::1` alone would find nobody.
 */
export async function listenOnOthers(server: HttpServer, name: string): Promise<void> {
  const bound = server.address();
  if (bound === null || typeof bound === "string") return;
  const found = await lookup(name, { all: true });
  const others = found.filter(({ address }) => address !== bound.address);
  await Promise.all(others.map(({ address }) => listenToo(server, { host: address, port: bound.port })));
}

// Its connections are handed to the first one, which has the limits and the routes.
async function listenToo(
  server: HttpServer,
  at: { readonly host: string; readonly port: number },
): Promise<void> {
  const twin = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
    server.emit("connection", socket),
  );
  twin.maxConnections = server.maxConnections;
  if (await isListening(twin, at)) server.once("close", () => twin.close());
}

/** False where the address is not to be had: the name's first one is enough to serve. */
function isListening(twin: Server, at: { readonly host: string; readonly port: number }): Promise<boolean> {
  return new Promise((resolve) => {
    twin.once("error", () => resolve(false));
    twin.listen(at, () => resolve(true));
  });
}

import { lookup } from "node:dns/promises";
import type { Server as HttpServer } from "node:http";
import { createServer } from "node:net";
import type { Server } from "node:net";

/**
 * Lets a server that listens on a name listen on all addresses of the name. `localhost` has two on most machines, and a
 * health check that tries `::1` alone would fail.
 */
export async function listenOnOthers(server: HttpServer, name: string): Promise<void> {
  const bound = server.address();
  if (bound === null || typeof bound === "string") return;
  const found = await lookup(name, { all: true });
  const others = found.filter(({ address }) => address !== bound.address);
  await Promise.all(others.map(({ address }) => listenToo(server, { host: address, port: bound.port })));
}

// Passes its connections to the first server, which has the limits and the routes.
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

/** False where the address cannot be bound: the first address is enough. */
function isListening(twin: Server, at: { readonly host: string; readonly port: number }): Promise<boolean> {
  return new Promise((resolve) => {
    twin.once("error", () => resolve(false));
    twin.listen(at, () => resolve(true));
  });
}

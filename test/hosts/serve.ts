import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { RequestListener, Server } from "node:http";
import type { Host } from "./exact-bytes.js";
import { postTo } from "./stage.js";

/** Serves a listener of Node on a free port of this machine. */
export async function serve(listener: RequestListener): Promise<Host> {
  return hostOf(createServer(listener).listen(0, "127.0.0.1"));
}

/** A host that listens already, or is about to. */
export async function hostOf(server: Server): Promise<Host> {
  if (!server.listening) await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    post: postTo(port),
    close: () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      return closed;
    },
  };
}

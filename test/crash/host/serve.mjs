// The door of a host's process: it says "ready" with its port on stdout, and can be armed.
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { arm, listenForFaults } from "./armed.mjs";

/** @import { IncomingMessage, ServerResponse } from "node:http" */

/** @typedef {Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => unknown>>} Routes */

/** @param {Routes} routes */
export function serve(routes) {
  /** @type {Routes} */
  const all = {
    ...routes,
    "/arm": async (request, response) => {
      arm(JSON.parse(String(await buffer(request))));
      response.writeHead(204).end();
    },
  };
  listenForFaults();
  const server = createServer((request, response) => void all[request.url ?? ""]?.(request, response));
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    console.log(`ready ${typeof address === "object" ? address?.port : ""}`);
  });
  // Whoever started this process is gone: nobody would ever end it.
  process.stdin.on("close", () => process.exit());
  process.stdin.resume();
}

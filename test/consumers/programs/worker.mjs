// A worker at the edge, with nothing of Node: GET runs all checks, or those of posthorn/fetch, and POST verifies like a receiver.
import { isPosthornError, standardWebhooks, verify } from "posthorn/verify";
import { fetchDoor } from "./fetch-door.mjs";
import { report } from "./report.mjs";

export default {
  /** @param {Request} request @param {{ WEBHOOK_SECRET: string }} env */
  async fetch(request, env) {
    if (new URL(request.url).pathname === "/fetch-door") return Response.json(await fetchDoor());
    if (request.method === "GET") return Response.json(await report());
    const body = new Uint8Array(await request.arrayBuffer());
    try {
      await verify(standardWebhooks({ secrets: env.WEBHOOK_SECRET }), { headers: request.headers, body });
      return new Response(null, { status: 204 });
    } catch (error) {
      if (isPosthornError(error)) return new Response(error.code, { status: 401 });
      throw error;
    }
  },
};

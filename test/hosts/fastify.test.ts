import fastify from "fastify";
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import type { AddressInfo } from "node:net";
import { nodeListener } from "posthorn/node";
import { webhooks } from "posthorn/fastify";
import { expect, it } from "vitest";
import { promiseExactBytes } from "./exact-bytes.js";
import type { Host } from "./exact-bytes.js";
import { postTo, setStage, signed, SPACED } from "./stage.js";

async function listen(app: FastifyInstance): Promise<Host> {
  await app.listen({ port: 0, host: "127.0.0.1" });
  const { port } = app.server.address() as AddressInfo;
  return { post: postTo(port), close: () => app.close() };
}

promiseExactBytes("Fastify, by the plug-in,", async (receiver) => {
  const app = fastify({ forceCloseConnections: true });
  await app.register(webhooks(receiver), { prefix: "/webhooks" });
  return listen(app);
});

it("the plug-in leaves the host's parsers as they are", async () => {
  const { receiver } = setStage();
  const app = fastify();
  app.post("/orders", (request) => ({ got: request.body }));
  await app.register(webhooks(receiver), { prefix: "/webhooks" });
  const json = await app.inject({ method: "POST", url: "/orders", payload: { a: 1 } });
  expect(json.json()).toEqual({ got: { a: 1 } });
  const xml = await app.inject({
    method: "POST",
    url: "/orders",
    payload: "<a/>",
    headers: { "content-type": "application/xml" },
  });
  expect(xml.statusCode).toBe(415);
  await app.close();
});

it("the plug-in answers what inject() sends, for the host's tests", async () => {
  const { receiver, bodies } = setStage();
  const app = fastify();
  await app.register(webhooks(receiver), { prefix: "/webhooks" });
  const { path, headers, body } = await signed(SPACED);
  const reply = await app.inject({ method: "POST", url: path, headers, payload: Buffer.from(body) });
  expect([reply.statusCode, reply.headers["posthorn-verdict"]]).toEqual([204, "applied"]);
  expect(Buffer.from(bodies[0] ?? []).toString()).toBe(SPACED);
  await app.close();
});

it("wrapped by fastify-plugin it refuses to start: its parser would replace those of the host", async () => {
  const { receiver } = setStage();
  const app = fastify();
  const plugin = webhooks(receiver);
  app.register(fp(plugin as never));
  await expect(app.ready()).rejects.toMatchObject({ code: "plugin_not_encapsulated" });
});

it("without the plug-in, a type without a parser is answered 415 by Fastify, and JSON by us with body_consumed", async () => {
  const { receiver, refusals } = setStage();
  const app = fastify({ forceCloseConnections: true });
  app.post("/webhooks/acme", (request, reply) => {
    reply.hijack();
    nodeListener(receiver, { source: "acme" })(request.raw, reply.raw);
  });
  const host = await listen(app);
  expect((await host.post(await signed("<a/>", { type: "application/xml" }))).status).toBe(415);
  expect(refusals).toEqual([]);
  expect((await host.post(await signed(SPACED))).status).toBe(500);
  expect(refusals).toMatchObject([{ code: "body_consumed" }]);
  await host.close?.();
});

it("a hook that reads the request before is told with the cure", async () => {
  const { receiver, refusals } = setStage();
  const app = fastify({ forceCloseConnections: true });
  app.addHook("onRequest", async (request) => {
    for await (const _ of request.raw) {
      // Read and thrown away.
    }
  });
  await app.register(webhooks(receiver), { prefix: "/webhooks" });
  const host = await listen(app);
  expect((await host.post(await signed(SPACED))).status).toBe(500);
  expect(refusals).toMatchObject([
    { code: "body_consumed", why: expect.stringContaining("preParsing") as string },
  ]);
  await host.close?.();
});

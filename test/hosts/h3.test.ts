import { createApp, createRouter, eventHandler, fromNodeMiddleware, readBody, toNodeListener } from "h3-1";
import { fromWebHandler, H3, toNodeHandler } from "h3";
import { fetchHandler } from "posthorn/fetch";
import { nodeListener } from "posthorn/node";
import { describe, expect, it } from "vitest";
import { promiseExactBytes } from "./exact-bytes.js";
import type { Host } from "./exact-bytes.js";
import { serve } from "./serve.js";
import { NOT_UTF8, postInto, setStage, signed, SPACED } from "./stage.js";
import type { Stage } from "./stage.js";

const lastPart = (request: Request): string => new URL(request.url).pathname.split("/").at(-1) ?? "";

describe("h3 1, of Nuxt 4", () => {
  function open(receiver: Stage["receiver"], before?: ReturnType<typeof eventHandler>): Promise<Host> {
    const app = createApp();
    if (before !== undefined) app.use(before);
    const router = createRouter();
    const listener = nodeListener(receiver, {
      source: ({ url }) => new URL(url ?? "", "http://host").pathname.split("/").at(-1) ?? "",
    });
    // h3 waits for the reply of functions with three parameters only.
    router.post(
      "/webhooks/:source",
      fromNodeMiddleware((request, response, _next) => listener(request, response)),
    );
    return serve(toNodeListener(app.use(router)));
  }

  promiseExactBytes("h3 1, by fromNodeMiddleware,", (receiver) => open(receiver));

  it("after a middleware that called readBody() the exact bytes are still there", async () => {
    const stage = setStage();
    const reading = eventHandler(async (event) => {
      await readBody(event).catch(() => undefined);
    });
    const host = await open(stage.receiver, reading);
    expect((await host.post(await signed(SPACED))).status).toBe(204);
    expect((await host.post(await signed(NOT_UTF8, { type: "application/octet-stream" }))).status).toBe(204);
    await host.close?.();
  });
});

describe("h3 2, of Nitro 3", () => {
  const open = (receiver: Stage["receiver"]): H3 =>
    new H3().post("/webhooks/:source", fromWebHandler(fetchHandler(receiver, { source: lastPart })));

  promiseExactBytes("h3 2, as a function of requests,", (receiver) => {
    const app = open(receiver);
    return { post: postInto((request) => app.fetch(request)) };
  });

  promiseExactBytes("h3 2 on Node", (receiver) => serve(toNodeHandler(open(receiver)) as never));

  it("after a middleware that read the body it is gone: body_consumed with the cure", async () => {
    const stage = setStage();
    const app = new H3();
    app.use(async (event, next) => {
      await event.req.json();
      return next();
    });
    app.post("/webhooks/acme", fromWebHandler(fetchHandler(stage.receiver, { source: "acme" })));
    const reply = await postInto((request) => app.fetch(request))(await signed(SPACED));
    expect(reply.status).toBe(500);
    expect(stage.refusals).toMatchObject([
      { code: "body_consumed", why: expect.stringContaining("no readBody() in a middleware") as string },
    ]);
  });
});

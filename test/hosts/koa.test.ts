import { bodyParser } from "@koa/bodyparser";
import Koa from "koa";
import type { Middleware } from "koa";
import { nodeListener } from "posthorn/node";
import { expect, it } from "vitest";
import { promiseExactBytes } from "./exact-bytes.js";
import { serve } from "./serve.js";
import { setStage, signed, SPACED } from "./stage.js";
import type { Stage } from "./stage.js";

/** As docs/frameworks/koa.md shows it. */
function webhooks(receiver: Stage["receiver"]): Middleware {
  const listener = nodeListener(receiver as never, {
    source: ({ url }) => new URL(url ?? "", "http://host").pathname.split("/").at(-1) ?? "",
  });
  return async (context, next) => {
    if (!context.path.startsWith("/webhooks/")) return next();
    context.respond = false;
    listener(context.req, context.res);
  };
}

promiseExactBytes("Koa, before its body parser,", (receiver) => {
  const app = new Koa();
  app.use(webhooks(receiver));
  app.use(bodyParser());
  return serve(app.callback());
});

it("behind @koa/bodyparser the body is gone: body_consumed with the cure", async () => {
  const stage = setStage();
  const app = new Koa();
  app.use(bodyParser());
  app.use(webhooks(stage.receiver));
  const host = await serve(app.callback());
  expect((await host.post(await signed(SPACED))).status).toBe(500);
  expect(stage.refusals).toMatchObject([
    {
      code: "body_consumed",
      why: expect.stringContaining("in Koa, mount it before the body parser") as string,
    },
  ]);
  await host.close?.();
});

import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { validator } from "hono/validator";
import type { Server } from "node:http";
import { webhooks } from "posthorn/hono";
import { expect, it } from "vitest";
import { promiseExactBytes } from "./exact-bytes.js";
import { hostOf } from "./serve.js";
import { NOT_UTF8, postInto, setStage, signed, SPACED } from "./stage.js";
import type { Stage } from "./stage.js";

promiseExactBytes("Hono, as a function of requests,", (receiver) => {
  const app = new Hono();
  app.post("/webhooks/:source", webhooks(receiver));
  return { post: postInto((request) => app.fetch(request)) };
});

promiseExactBytes("Hono on Node", (receiver) => {
  const app = new Hono();
  app.post("/webhooks/:source", webhooks(receiver));
  return hostOf(serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }) as Server);
});

async function after(read: (app: Hono) => void, body: string | Uint8Array, type = "application/json") {
  const stage: Stage = setStage();
  const app = new Hono();
  read(app);
  app.post("/webhooks/acme", webhooks(stage.receiver, { source: "acme" }));
  const reply = await postInto((request) => app.fetch(request))(await signed(body, { type }));
  return { status: reply.status, ...stage.refusals[0] };
}

it("after a JSON validator the text that Hono kept is used, where it has all bytes", async () => {
  const validate = (app: Hono): void => void app.use(validator("json", (value) => value as object));
  expect(await after(validate, SPACED)).toEqual({ status: 204 });
});

it("after c.req.text() bytes that are not UTF-8 are lost: body_text_only", async () => {
  const read = (app: Hono): void =>
    void app.use(async (context, next) => {
      await context.req.text();
      await next();
    });
  expect(await after(read, NOT_UTF8)).toMatchObject({ status: 500, code: "body_text_only" });
});

it.each(["arrayBuffer", "blob"] as const)(
  "after c.req.%s() the exact bytes are still there",
  async (form) => {
    const read = (app: Hono): void =>
      void app.use(async (context, next) => {
        await context.req[form]();
        await next();
      });
    expect(await after(read, NOT_UTF8)).toEqual({ status: 204 });
  },
);

it("after a form validator the exact bytes are still there", async () => {
  const validate = (app: Hono): void => void app.use(validator("form", (value) => value));
  expect(await after(validate, "a=1+2", "application/x-www-form-urlencoded")).toEqual({ status: 204 });
});

it("after c.req.formData() only the parsed form is left: body_parsed, instead of bytes that were written again", async () => {
  const read = (app: Hono): void =>
    void app.use(async (context, next) => {
      await context.req.formData();
      await next();
    });
  const found = await after(read, "a=1+2", "application/x-www-form-urlencoded");
  expect(found).toMatchObject({ status: 500, code: "body_parsed" });
  expect(found.why).toContain("validator");
});

it("after c.req.raw was read by a middleware: body_consumed", async () => {
  const read = (app: Hono): void =>
    void app.use(async (context, next) => {
      await context.req.raw.text();
      await next();
    });
  expect(await after(read, SPACED)).toMatchObject({ status: 500, code: "body_consumed" });
});

import { Elysia } from "elysia";
import { fetchHandler } from "posthorn/fetch";
import { expect, it } from "vitest";
import { promiseExactBytes } from "./exact-bytes.js";
import { postInto, setStage, signed, SPACED } from "./stage.js";

const lastPart = (request: Request): string => new URL(request.url).pathname.split("/").at(-1) ?? "";

promiseExactBytes('Elysia, with { parse: "none" },', (receiver) => {
  const handler = fetchHandler(receiver, { source: lastPart });
  const app = new Elysia().post("/webhooks/:source", ({ request }) => handler(request), { parse: "none" });
  return { post: postInto((request) => app.handle(request)) };
});

it("without it, Elysia parses the body first: body_consumed with the cure", async () => {
  const stage = setStage();
  const handler = fetchHandler(stage.receiver, { source: "acme" });
  // Elysia looks into the handler, and parses only where it uses the body.
  const app = new Elysia().post("/webhooks/acme", ({ request, body }) =>
    body === null ? "" : handler(request),
  );
  const reply = await postInto((request) => app.handle(request))(await signed(SPACED));
  expect(reply.status).toBe(500);
  expect(stage.refusals).toMatchObject([
    { code: "body_consumed", why: expect.stringContaining('{ parse: "none" }') as string },
  ]);
});

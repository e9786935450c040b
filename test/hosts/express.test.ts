import express from "express";
// @ts-expect-error -- no types of this name; what is used of it is as in version 5
import express4 from "express-4";
import { nodeListener } from "posthorn/node";
import { webhookErrors, webhooks } from "posthorn/express";
import { describe, expect, it } from "vitest";
import { promiseExactBytes } from "./exact-bytes.js";
import { serve } from "./serve.js";
import { NOT_UTF8, setStage, signed, SPACED } from "./stage.js";
import type { Stage } from "./stage.js";

const versions = [
  ["Express 5", express],
  ["Express 4", express4 as unknown as typeof express],
] as const;

describe.each(versions)("%s", (name, make) => {
  promiseExactBytes(`${name}, mounted before its parsers,`, (receiver) => {
    const app = make();
    app.use("/webhooks", webhooks(receiver));
    app.use(make.json());
    return serve(app);
  });

  promiseExactBytes(`${name}, behind express.raw of every type,`, (receiver) => {
    const app = make();
    app.use("/webhooks", make.raw({ type: () => true, limit: "2mb" }), webhooks(receiver));
    return serve(app);
  });

  promiseExactBytes(
    `${name}, behind express.raw of JSON alone, whose other types nobody reads,`,
    (receiver) => {
      const app = make();
      app.post("/webhooks/:source", make.raw({ type: "application/json", limit: "2mb" }), webhooks(receiver));
      return serve(app);
    },
  );

  async function refused(mount: (app: express.Express, stage: Stage) => void, body: string | Uint8Array) {
    const stage = setStage();
    const app = make();
    app.set("env", "test");
    mount(app, stage);
    const host = await serve(app);
    try {
      const reply = await host.post(await signed(body));
      return { status: reply.status, ...stage.refusals[0] };
    } finally {
      await host.close?.();
    }
  }

  it("behind express.json() answers body_parsed with the cure", async () => {
    const found = await refused((app, { receiver }) => {
      app.use(make.json());
      app.use("/webhooks", webhooks(receiver));
    }, SPACED);
    expect(found).toMatchObject({ status: 500, code: "body_parsed" });
    expect(found.why).toMatch(/before express\.json\(\).*express\.raw\(\{ type: \(\) => true \}\)/);
  });

  it("behind express.json() with `verify` uses the kept bytes", async () => {
    const found = await refused((app, { receiver }) => {
      const verify = (request: object, _: unknown, bytes: Buffer): void =>
        void Object.assign(request, { rawBody: bytes });
      app.use(make.json({ verify }));
      app.use("/webhooks", webhooks(receiver));
    }, SPACED);
    expect(found).toEqual({ status: 204 });
  });

  it("behind express.text() takes the text where it has all bytes, and answers body_text_only where it has not", async () => {
    const mount = (app: express.Express, { receiver }: Stage): void => {
      app.use(make.text({ type: () => true }));
      app.use("/webhooks", webhooks(receiver));
    };
    expect(await refused(mount, SPACED)).toEqual({ status: 204 });
    expect(await refused(mount, NOT_UTF8)).toMatchObject({ status: 500, code: "body_text_only" });
  });

  it("with the 100 kB that express.raw takes by default answers body_limited with the limit", async () => {
    const found = await refused(
      (app, { receiver }) => {
        app.use("/webhooks", make.raw({ type: () => true }), webhooks(receiver), webhookErrors(receiver));
      },
      `{"pad":"${"x".repeat(102_400)}"}`,
    );
    expect(found).toMatchObject({ status: 500, code: "body_limited" });
    expect(found.why).toContain("102400 bytes");
  });

  it("with a parser that fails before the webhooks answers body_parsed", async () => {
    const found = await refused((app, { receiver }) => {
      app.use("/webhooks", make.json(), webhooks(receiver), webhookErrors(receiver));
    }, "{not json");
    expect(found).toMatchObject({ status: 500, code: "body_parsed" });
    expect(found.why).toContain("entity.parse.failed");
  });

  it("hands errors that are not of a parser on", async () => {
    const stage = setStage();
    const app = make();
    app.set("env", "test");
    app.use(
      "/webhooks",
      ((_request, _response, next) => next(new Error("host"))) as express.RequestHandler,
      webhookErrors(stage.receiver),
    );
    app.use(
      ((_error, _request, response, _next) => void response.status(418).end()) as express.ErrorRequestHandler,
    );
    const host = await serve(app);
    expect((await host.post(await signed(SPACED))).status).toBe(418);
    expect(stage.refusals).toEqual([]);
    await host.close?.();
  });

  it("leaves paths that name no source to the host", async () => {
    const stage = setStage();
    const app = make();
    app.use("/webhooks", webhooks(stage.receiver));
    app.post("/webhooks/acme/more", (_request, response) => void response.status(200).send("host"));
    const host = await serve(app);
    const reply = await host.post(await signed(SPACED, { path: "/webhooks/acme/more" }));
    expect([reply.status, await reply.text()]).toEqual([200, "host"]);
    await host.close?.();
  });

  it.each([
    [
      "a route",
      (app: express.Express, { receiver }: Stage) => void app.post("/webhooks/acme", webhooks(receiver)),
    ],
    [
      "a mount path",
      (app: express.Express, { receiver }: Stage) => void app.use("/webhooks/acme", webhooks(receiver)),
    ],
  ])(
    "at %s that leaves nothing to name the source tells source_unnamed beside Express's own 404",
    async (_, mount) => {
      const found = await refused(mount, SPACED);
      expect(found).toMatchObject({ status: 404, code: "source_unnamed" });
      expect(found.why).toMatch(/"\/webhooks\/acme".*app\.use\("\/webhooks", webhooks\(receiver\)\)/);
    },
  );

  it("tells nothing of a path that a handler of the host answers, nor of one that nobody knows", async () => {
    const stage = setStage();
    const app = make();
    app.use("/webhooks", webhooks(stage.receiver));
    app.post("/webhooks", (_request, response) => void response.status(200).send("host"));
    const host = await serve(app);
    for (const path of ["/webhooks", "/elsewhere"]) await host.post(await signed(SPACED, { path }));
    expect(stage.refusals).toEqual([]);
    await host.close?.();
  });

  it("takes posthorn/node's listener on one path, too", async () => {
    const found = await refused((app, { receiver }) => {
      app.post("/webhooks/acme", nodeListener(receiver, { source: "acme" }));
    }, SPACED);
    expect(found).toEqual({ status: 204 });
  });
});

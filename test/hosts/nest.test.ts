import "reflect-metadata";
import type { IncomingMessage } from "node:http";
import { Controller, Inject, Injectable, Module, Post, Scope, VersioningType } from "@nestjs/common";
import type { INestApplication } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { ExpressAdapter } from "@nestjs/platform-express";
import type { NestExpressApplication } from "@nestjs/platform-express";
import { FastifyAdapter } from "@nestjs/platform-fastify";
import type { NestFastifyApplication } from "@nestjs/platform-fastify";
import { standardWebhooks } from "posthorn";
import type { ReceivedEvent, Signal, TransactionContext } from "posthorn";
import { memoryStore } from "posthorn/memory";
import type { MemoryTx } from "posthorn/memory";
import { OnWebhook, Webhooks, WebhooksModule } from "posthorn/nest";
import { twilio } from "posthorn/providers";
import { signedRequest, TEST_SECRETS } from "posthorn/testing";
import { describe, expect, it } from "vitest";
import { promiseExactBytes } from "./exact-bytes.js";
import type { Host } from "./exact-bytes.js";
import { hostOf } from "./serve.js";
import { setStage, signed, SPACED } from "./stage.js";
import type { Stage } from "./stage.js";

const LEDGER = Symbol("ledger");
const sources = {
  acme: standardWebhooks({ secrets: TEST_SECRETS.standard_webhooks.verifying }),
  twilio: twilio({ secrets: TEST_SECRETS.twilio.verifying }),
};

interface Ledger {
  readonly bodies: Uint8Array[];
}

@Injectable()
class Everything {
  constructor(@Inject(LEDGER) readonly ledger: Ledger) {}

  @OnWebhook("*")
  keep(event: ReceivedEvent, { tx }: TransactionContext<MemoryTx>): void {
    tx.onCommit(() => this.ledger.bodies.push(event.body));
  }
}

/** A module whose webhooks write into a stage. */
function moduleFor(
  { bodies, signals, refusals }: Stage,
  providers: readonly (new (...args: never[]) => object)[] = [],
) {
  const observer = (signal: Signal): void => {
    signals.push(signal);
    if (signal.kind === "request_refused") refusals.push(signal);
  };
  @Module({
    imports: [
      WebhooksModule.forRootAsync({
        inject: [],
        useFactory: () => ({ store: memoryStore(), sources, observer }),
      }),
    ],
    providers: [{ provide: LEDGER, useValue: { bodies } }, Everything, ...providers],
  })
  class App {}
  return App;
}

const platforms = ["express", "fastify"] as const;

async function create(
  platform: (typeof platforms)[number],
  app: object,
  rawBody = true,
): Promise<INestApplication> {
  const options = { rawBody, logger: false, forceCloseConnections: true } as const;
  if (platform === "fastify") {
    const adapter = new FastifyAdapter({ bodyLimit: 2_000_000 });
    return NestFactory.create<NestFastifyApplication>(app as never, adapter, options);
  }
  const made = await NestFactory.create<NestExpressApplication>(app as never, new ExpressAdapter(), options);
  made.useBodyParser("json", { limit: "2mb" });
  return made;
}

async function listen(app: INestApplication): Promise<Host> {
  await app.listen(0, "127.0.0.1");
  const host = await hostOf(app.getHttpServer() as never);
  return { post: host.post, close: () => app.close() };
}

describe.each(platforms)("Nest on %s", (platform) => {
  promiseExactBytes(`Nest on ${platform}`, async (_, stage) =>
    listen(await create(platform, moduleFor(stage))),
  );

  it("without rawBody the body is parsed before: body_parsed with the cure", async () => {
    const stage = setStage();
    const host = await listen(await create(platform, moduleFor(stage), false));
    expect((await host.post(await signed(SPACED))).status).toBe(500);
    expect(stage.refusals).toMatchObject([
      { code: "body_parsed", why: expect.stringContaining("rawBody: true") as string },
    ]);
    await host.close?.();
  });

  it("calls the method of a provider, with its dependencies, for its key alone", async () => {
    const stage = setStage();
    const calls: string[] = [];
    @Injectable()
    class Billing {
      constructor(@Inject(LEDGER) readonly ledger: Ledger) {}

      @OnWebhook("acme:invoice.paid", "invoice.settled")
      paid(event: ReceivedEvent): void {
        calls.push(`${event.type} ${this.ledger.bodies.length}`);
      }
    }
    const host = await listen(await create(platform, moduleFor(stage, [Billing])));
    for (const type of ["invoice.paid", "invoice.settled", "other"]) {
      expect((await host.post(await signed(JSON.stringify({ type })))).status).toBe(204);
    }
    expect(calls).toEqual(["invoice.paid 0", "invoice.settled 0"]);
    expect(stage.bodies).toHaveLength(1);
    await host.close?.();
  });

  it("verifies URLs below a global prefix and a version, as Twilio signs them", async () => {
    const stage = setStage();
    const app = await create(platform, moduleFor(stage));
    app.setGlobalPrefix("api");
    app.enableVersioning({ type: VersioningType.URI, defaultVersion: "1" });
    const host = await listen(app);
    const { port } = (app.getHttpServer() as { address(): { port: number } }).address();
    const path = "/api/v1/webhooks/twilio";
    const request = await signedRequest("twilio", { url: `http://127.0.0.1:${port}${path}` });
    const reply = await host.post({ path, headers: request.headers, body: request.body });
    expect([reply.status, stage.refusals]).toEqual([200, []]);
    await host.close?.();
  });

  it("says so where the provider signed a URL without the prefix", async () => {
    const stage = setStage();
    const app = await create(platform, moduleFor(stage));
    app.setGlobalPrefix("api");
    const host = await listen(app);
    const { port } = (app.getHttpServer() as { address(): { port: number } }).address();
    const request = await signedRequest("twilio", { url: `http://127.0.0.1:${port}/webhooks/twilio` });
    const reply = await host.post({
      path: "/api/webhooks/twilio",
      headers: request.headers,
      body: request.body,
    });
    expect(reply.status).toBe(401);
    expect(stage.signals).toMatchObject([
      {
        code: "signature_mismatch",
        diagnosis: [expect.stringContaining("without the first part of its path")],
      },
    ]);
    await host.close?.();
  });

  it("behind a guard that read the request itself answers body_consumed with the cure", async () => {
    const stage = setStage();
    const app = await create(platform, moduleFor(stage));
    app.useGlobalGuards({
      async canActivate(context) {
        const request = context
          .switchToHttp()
          .getRequest<IncomingMessage & { readonly raw?: IncomingMessage }>();
        for await (const _ of request.raw ?? request);
        return true;
      },
    });
    const host = await listen(app);
    // Of a type without a parser: one that is parsed is kept as rawBody before any guard runs.
    expect((await host.post(await signed("<a/>", { type: "application/xml" }))).status).toBe(500);
    expect(stage.refusals).toMatchObject([
      { code: "body_consumed", why: expect.stringContaining("no guard") as string },
    ]);
    await host.close?.();
  });

  it("leaves other routes as they are: types without a parser are refused on Fastify, JSON is parsed", async () => {
    @Controller("orders")
    class Orders {
      @Post()
      add(): string {
        return "added";
      }
    }
    const stage = setStage();
    @Module({ imports: [moduleFor(stage)], controllers: [Orders] })
    class App {}
    const host = await listen(await create(platform, App));
    expect((await host.post(await signed("{}", { path: "/orders" }))).status).toBe(201);
    const xml = await host.post(await signed("<a/>", { path: "/orders", type: "application/xml" }));
    expect(xml.status).toBe(platform === "fastify" ? 415 : 201);
    await host.close?.();
  });
});

it("Nest on Express answers 413 itself for JSON above 100 kB, unless useBodyParser raises the limit", async () => {
  const stage = setStage();
  const options = { rawBody: true, logger: false, forceCloseConnections: true } as const;
  const app = await NestFactory.create(moduleFor(stage) as never, new ExpressAdapter(), options);
  const host = await listen(app);
  const large = await host.post(await signed(JSON.stringify({ type: "a.b", pad: " ".repeat(110_000) })));
  expect([large.status, stage.signals]).toEqual([413, []]);
  await host.close?.();
});

describe("the start of a Nest application", () => {
  const start = async (provider: new (...args: never[]) => object): Promise<unknown> => {
    const app = await create("express", moduleFor(setStage(), [provider]));
    return app.init().finally(() => app.close());
  };

  it("fails on a key whose source does not exist, which would skip its events for ever", async () => {
    @Injectable()
    class Misspelt {
      @OnWebhook("acmee:invoice.paid")
      paid(): void {}
    }
    await expect(start(Misspelt)).rejects.toMatchObject({
      code: "inbox_option_invalid",
      message: expect.stringContaining('"acmee"; there are acme, twilio') as string,
    });
  });

  it("fails on two methods of one key", async () => {
    @Injectable()
    class Twice {
      @OnWebhook("*")
      one(): void {}
    }
    await expect(start(Twice)).rejects.toMatchObject({ code: "inbox_option_invalid" });
  });

  it("fails on a handler of a provider that lives for one request", async () => {
    @Injectable({ scope: Scope.REQUEST })
    class Scoped {
      @OnWebhook("invoice.paid")
      paid(): void {}
    }
    await expect(start(Scoped)).rejects.toMatchObject({ code: "handler_not_static" });
  });

  it("offers the receiver for purging, and stops it with the application", async () => {
    const app = await create("express", moduleFor(setStage()));
    expect(() => app.get(Webhooks).receiver).toThrow("await app.init() first");
    await app.init();
    const { receiver } = app.get(Webhooks);
    expect(await receiver.purge()).toMatchObject({ removed: 0 });
    await app.close();
    expect((await receiver.receive("acme", await signed(SPACED))).status).toBe(503);
  });
});

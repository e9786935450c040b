import "reflect-metadata";
import type { IncomingMessage } from "node:http";
import {
  Body,
  Controller,
  Inject,
  Injectable,
  Module,
  Post,
  RequestMethod,
  Scope,
  VersioningType,
} from "@nestjs/common";
import type { INestApplication, MiddlewareConsumer, ModuleMetadata, Provider } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { ExpressAdapter } from "@nestjs/platform-express";
import type { NestExpressApplication } from "@nestjs/platform-express";
import { FastifyAdapter } from "@nestjs/platform-fastify";
import type { NestFastifyApplication } from "@nestjs/platform-fastify";
import express from "express";
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
import { hostOf, serve } from "./serve.js";
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
  providers: readonly Provider[] = [],
  { maxBodyBytes, ...metadata }: ModuleMetadata & { readonly maxBodyBytes?: number } = {},
) {
  const observer = (signal: Signal): void => {
    signals.push(signal);
    if (signal.kind === "request_refused") refusals.push(signal);
  };
  @Module({
    controllers: metadata.controllers ?? [],
    imports: [
      ...(metadata.imports ?? []),
      WebhooksModule.forRootAsync({
        inject: [],
        useFactory: () => ({
          store: memoryStore(),
          sources,
          observer,
          ...(maxBodyBytes && { maxBodyBytes }),
        }),
      }),
    ],
    providers: [{ provide: LEDGER, useValue: { bodies } }, Everything, ...providers],
  })
  class App {}
  return App;
}

const platforms = ["express", "fastify"] as const;

/** As Nest is by default, or with options that keep the bodies of what its own parsers read. */
async function create(
  platform: (typeof platforms)[number],
  app: object,
  own: { readonly rawBody?: boolean; readonly bodyParser?: boolean } = {},
): Promise<INestApplication> {
  const options = { ...own, logger: false, forceCloseConnections: true } as const;
  if (platform === "fastify")
    return NestFactory.create<NestFastifyApplication>(app as never, new FastifyAdapter(), options);
  const made = await NestFactory.create<NestExpressApplication>(app as never, new ExpressAdapter(), options);
  if (own.rawBody === true) made.useBodyParser("json", { limit: "2mb" });
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

  promiseExactBytes(`Nest on ${platform} with rawBody and a parser of the host`, async (_, stage) =>
    listen(await create(platform, moduleFor(stage), { rawBody: true })),
  );

  promiseExactBytes(`Nest on ${platform} without its parsers`, async (_, stage) =>
    listen(await create(platform, moduleFor(stage), { bodyParser: false })),
  );

  promiseExactBytes(`Nest on ${platform}, as a global prefix and a middleware find it,`, async (_, stage) => {
    @Module({ imports: [moduleFor(stage)] })
    class App {
      configure(consumer: MiddlewareConsumer): void {
        const route = { path: "webhooks/:source", method: RequestMethod.POST };
        consumer.apply((_request: unknown, _response: unknown, next: () => void) => next()).forRoutes(route);
      }
    }
    const app = await create(platform, App);
    app.setGlobalPrefix("api");
    const host = await listen(app);
    return { ...host, post: (sent) => host.post({ ...sent, path: `/api${sent.path}` }) };
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

  it("gives guards the bytes as rawBody and the type that was sent, and gets no less where one reads the request", async () => {
    const stage = setStage();
    const app = await create(platform, moduleFor(stage));
    const seen: unknown[] = [];
    app.useGlobalGuards({
      async canActivate(context) {
        const request = context
          .switchToHttp()
          .getRequest<IncomingMessage & { readonly raw?: IncomingMessage; readonly rawBody?: Buffer }>();
        seen.push(request.headers["content-type"], String(request.rawBody));
        for await (const _ of request.raw ?? request);
        return true;
      },
    });
    const host = await listen(app);
    expect((await host.post(await signed("<a/>", { type: "application/xml" }))).status).toBe(204);
    expect(seen).toEqual(["application/xml", "<a/>"]);
    await host.close?.();
  });

  it("behind a middleware that read the request itself answers body_consumed with the cure", async () => {
    const stage = setStage();
    const app = await create(platform, moduleFor(stage));
    app.use(async (request: IncomingMessage, _response: unknown, next: () => void) => {
      for await (const _ of request);
      next();
    });
    const host = await listen(app);
    expect((await host.post(await signed(SPACED))).status).toBe(500);
    expect(stage.refusals).toMatchObject([
      { code: "body_consumed", why: expect.stringContaining("let no middleware") as string },
    ]);
    await host.close?.();
  });

  it("takes a body up to the limit of its source, and tells the observer of one beyond", async () => {
    const stage = setStage();
    const host = await listen(await create(platform, moduleFor(stage, [], { maxBodyBytes: 2_000_000 })));
    const json = (bytes: number): string => `{"pad":"${"x".repeat(bytes - 10)}"}`;
    expect((await host.post(await signed(json(2_000_000)))).status).toBe(204);
    expect((await host.post(await signed(json(2_000_001)))).status).toBe(413);
    expect(stage.refusals).toMatchObject([{ code: "body_too_large" }]);
    await host.close?.();
  });

  it("leaves other routes as they are: JSON is parsed, and what Nest refuses stays refused", async () => {
    @Controller()
    class Orders {
      @Post("orders")
      add(@Body() body: unknown): unknown {
        return { got: body };
      }

      @Post("webhooks/legacy")
      legacy(@Body() body: unknown): unknown {
        return { got: body };
      }

      @Post("admin/webhooks/:source")
      admin(@Body() body: unknown): unknown {
        return { got: body };
      }
    }
    const host = await listen(await create(platform, moduleFor(setStage(), [], { controllers: [Orders] })));
    for (const path of ["/orders", "/webhooks/legacy", "/admin/webhooks/acme"]) {
      const json = await host.post(await signed('{"a":1}', { path }));
      expect(await json.json()).toEqual({ got: { a: 1 } });
      expect((await host.post(await signed("{", { path }))).status).toBe(400);
      const large = await signed(`{"pad":"${"x".repeat(1_100_000)}"}`, { path });
      expect((await host.post(large)).status).toBe(413);
      for (const type of ["application/xml", "application/vnd.posthorn.unparsed"]) {
        const unknown = await host.post(await signed("<a/>", { path, type }));
        expect(unknown.status).toBe(platform === "fastify" ? 415 : 201);
      }
    }
    await host.close?.();
  });
});

it("Nest below an Express application whose parser ran before answers body_parsed with the cure", async () => {
  const stage = setStage();
  const outer = express().use(express.json());
  const app = await create("express", moduleFor(stage));
  await app.init();
  outer.use(app.getHttpAdapter().getInstance() as express.Express);
  const host = await serve(outer);
  expect((await host.post(await signed(SPACED))).status).toBe(500);
  expect(stage.refusals).toMatchObject([
    { code: "body_parsed", why: expect.stringContaining("outer application") as string },
  ]);
  await host.close?.();
  await app.close();
});

it.each([
  ["body_parsed", "{not json", "entity.parse.failed"],
  ["body_limited", `{"pad":"${"x".repeat(102_400)}"}`, "102400 bytes"],
])(
  "a parser that the host made itself and that fails before Nest's answers %s with the cure",
  async (code, body, why) => {
    const stage = setStage();
    const app = await create("express", moduleFor(stage));
    const parse = express.json();
    app.use((...args: Parameters<express.RequestHandler>) => parse(...args));
    const host = await listen(app);
    expect((await host.post(await signed(body))).status).toBe(500);
    expect(stage.refusals).toMatchObject([
      { code, source: "acme", why: expect.stringContaining(why) as string },
    ]);
    expect(stage.refusals[0]?.why).toContain("leave the path of the webhooks out of it");
    expect((await host.post(await signed("{not json", { path: "/orders" }))).status).toBe(400);
    await host.close?.();
  },
);

describe("handlers in a Nest application", () => {
  const applied: string[] = [];
  @Injectable()
  class Billing {
    readonly #name = "billing";

    @OnWebhook("invoice.paid")
    paid(): void {
      applied.push(this.#name);
    }
  }

  async function post(providers: readonly Provider[], metadata: ModuleMetadata = {}): Promise<number> {
    applied.length = 0;
    const host = await listen(await create("express", moduleFor(setStage(), providers, metadata)));
    const { status } = await host.post(await signed('{"type":"invoice.paid"}'));
    await host.close?.();
    return status;
  }

  it("may be methods of a controller", async () => {
    @Controller("billing")
    class Invoices extends Billing {}
    expect([await post([], { controllers: [Invoices] }), applied]).toEqual([204, ["billing"]]);
  });

  it("are found once where their provider has an alias", async () => {
    const alias = { provide: "ALIAS", useExisting: Billing };
    expect([await post([alias, Billing]), applied]).toEqual([204, ["billing"]]);
  });

  it("fail the start where two modules have their class, with the names of both", async () => {
    @Module({ providers: [Billing] })
    class Shop {}
    @Module({ providers: [Billing] })
    class Subscriptions {}
    await expect(post([], { imports: [Shop, Subscriptions] })).rejects.toMatchObject({
      code: "inbox_option_invalid",
      message: expect.stringMatching(
        /"invoice\.paid"\): Billing\.paid in Shop and Billing\.paid in Subscriptions\. .*useExisting/,
      ) as string,
    });
  });
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
    await expect(start(Twice)).rejects.toMatchObject({
      code: "inbox_option_invalid",
      message: expect.stringMatching(/"\*"\): Everything\.keep in App and Twice\.one in App\./) as string,
    });
  });

  it("fails on a handler of a provider that lives for one request", async () => {
    @Injectable({ scope: Scope.REQUEST })
    class Scoped {
      @OnWebhook("invoice.paid")
      paid(): void {}
    }
    await expect(start(Scoped)).rejects.toMatchObject({ code: "handler_not_static" });
  });

  it("fails on a handler of a transient provider, of which no instance is everybody's", async () => {
    @Injectable({ scope: Scope.TRANSIENT })
    class Transient {
      @OnWebhook("invoice.paid")
      paid(): void {}
    }
    await expect(start(Transient)).rejects.toMatchObject({ code: "handler_not_static" });
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

it("options that are misspelt, missing, or those of a receiver without a module are refused at once", () => {
  const forRoot = (given?: object) => () => WebhooksModule.forRoot(given as never);
  const forRootAsync = (given?: object) => () => WebhooksModule.forRootAsync(given as never);
  const refused = (message: string): object =>
    expect.objectContaining({ code: "inbox_option_invalid", message }) as object;
  expect(forRoot({ pth: "hooks" })).toThrow(
    refused('"pth" is no option of WebhooksModule.forRoot; did you mean "path"?'),
  );
  expect(forRoot({ handlers: {} })).toThrow(/^"handlers" is no option of WebhooksModule.forRoot; /);
  expect(forRootAsync({ useFactry: () => ({}) })).toThrow(
    refused('"useFactry" is no option of WebhooksModule.forRootAsync; did you mean "useFactory"?'),
  );
  expect(forRoot()).toThrow(refused("The options of WebhooksModule.forRoot are missing."));
  expect(forRootAsync()).toThrow(refused("The options of WebhooksModule.forRootAsync are missing."));
});

it("what a factory returns is checked as options are, when the application is initialised", async () => {
  const useFactory = () => ({ store: memoryStore({ environment: "test" }), sources, pth: "hooks" });
  @Module({ imports: [WebhooksModule.forRootAsync({ useFactory })] })
  class App {}
  const app = await NestFactory.create(App, { logger: false });
  await expect(app.init()).rejects.toThrow(/^"pth" is no option of what useFactory returns; /);
  await app.close();
});

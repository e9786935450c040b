import { Controller, Inject, Module, Post, Req, Res, SetMetadata } from "@nestjs/common";
import type { DynamicModule, Type } from "@nestjs/common";
import { DiscoveryModule, DiscoveryService, HttpAdapterHost } from "@nestjs/core";
import { createReceiver, RECEIVER_OPTIONS } from "../inbox/receiver.js";
import type { Receiver, ReceiverOptions } from "../inbox/receiver.js";
import type { OptionNames } from "../known-options.js";
import type { TransactionMode } from "../store-capabilities.js";
import { findHandlers, HANDLES } from "./nest-handlers.js";
import { readBeforeParsers } from "./nest-parsers.js";
import { answerNest, SOURCE_PARAMETER } from "./nest-request.js";
import { checkObject } from "./request-rules.js";

/** What the module is made of: a receiver's options, without the handlers, which are methods of providers and controllers. */
export type WebhooksOptions<Tx = unknown, Mode extends TransactionMode = TransactionMode> = Omit<
  ReceiverOptions<Tx, Mode>,
  "handlers"
>;

/** Where the webhooks are mounted. */
export interface WebhooksPath {
  /** The path before `/:source`, below the global prefix. @default "webhooks" */
  readonly path?: string;
}

/** The options from a function whose arguments Nest injects. */
export interface WebhooksAsyncOptions<Tx, Mode extends TransactionMode> extends WebhooksPath {
  readonly imports?: readonly unknown[];
  readonly inject?: readonly unknown[];
  readonly useFactory: (
    ...dependencies: never[]
  ) => WebhooksOptions<Tx, Mode> | Promise<WebhooksOptions<Tx, Mode>>;
}

/** Decorates a method that Nest shall call. */
export type WebhookDecorator = <T>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<T>,
) => void;

/**
 * Calls this method of a provider or controller for events of a type. Keys are those of a receiver's handlers: `"invoice.paid"`,
 * `"stripe:invoice.paid"`, `"stripe:*"` or `"*"`; a key with a colon begins with the name of a source.
 *
 * @example
 * @OnWebhook("stripe:invoice.paid")
 * async paid(event: ReceivedEvent<Invoice>, { tx }: TransactionContext<EntityManager>) { … }
 */
export function OnWebhook(...keys: readonly [string, ...string[]]): WebhookDecorator {
  return SetMetadata(HANDLES, keys) as unknown as WebhookDecorator;
}

/** The receiver of the application, once it is initialised: for `purge`, and for tests. */
export class Webhooks {
  readonly #options: WebhooksOptions;
  readonly #discovery: DiscoveryService;
  readonly #host: HttpAdapterHost;
  readonly #path: string;
  #receiver: Receiver | undefined;

  constructor(
    options: WebhooksOptions,
    discovery: DiscoveryService,
    { host, path }: { host: HttpAdapterHost; path: string },
  ) {
    this.#options = options;
    this.#discovery = discovery;
    this.#host = host;
    this.#path = path;
  }

  get receiver(): Receiver {
    if (this.#receiver !== undefined) return this.#receiver;
    throw new Error("The receiver is made when the application is initialised: await app.init() first.");
  }

  /** Not in the constructor: all providers have to exist before their methods can be found. */
  onModuleInit(): void {
    checkObject("what useFactory returns", this.#options, OF_RECEIVER);
    const found = [...this.#discovery.getProviders(), ...this.#discovery.getControllers()];
    const handlers = findHandlers(found, Object.keys(this.#options.sources ?? {}));
    this.#receiver = createReceiver({ ...this.#options, handlers } as ReceiverOptions<
      unknown,
      "asynchronous"
    >);
    readBeforeParsers(this.#host.httpAdapter, this.#receiver, this.#path);
  }

  /** Before the database is closed, which modules do at the end of the shutdown. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.#receiver?.stop();
  }
}

const OPTIONS = Symbol("posthorn.options");
const DEFAULT_PATH = "webhooks";
const { handlers: _, ...OF_RECEIVER } = RECEIVER_OPTIONS.inRequest;
const OF_ASYNC: OptionNames<WebhooksAsyncOptions<never, never>> = {
  path: true,
  imports: true,
  inject: true,
  useFactory: true,
};

/**
 * Answers `POST /webhooks/<source>`, and calls the methods of providers and controllers that are decorated with
 * `@OnWebhook`. It reads the bytes of its requests before Nest's parsers do.
 *
 * @example
 * @Module({ imports: [WebhooksModule.forRoot({ store, sources: { stripe: stripe({ secrets }) } })], providers: [Billing] })
 * class AppModule {}
 */
export class WebhooksModule {
  /** Nest makes one instance of each module. */
  readonly name = "posthorn";

  static forRoot<Tx, Mode extends TransactionMode>(
    options: WebhooksOptions<Tx, Mode> & WebhooksPath,
  ): DynamicModule {
    checkObject("WebhooksModule.forRoot", options, { path: true, ...OF_RECEIVER });
    const { path, ...ofReceiver } = options;
    return moduleOf(path, { provide: OPTIONS, useValue: ofReceiver }, []);
  }

  static forRootAsync<Tx, Mode extends TransactionMode>(
    options: WebhooksAsyncOptions<Tx, Mode>,
  ): DynamicModule {
    checkObject("WebhooksModule.forRootAsync", options, OF_ASYNC);
    const { path, imports = [], inject = [], useFactory } = options;
    return moduleOf(path, { provide: OPTIONS, useFactory, inject }, imports);
  }
}

Module({})(WebhooksModule);

function moduleOf(path: string = DEFAULT_PATH, options: object, imports: readonly unknown[]): DynamicModule {
  const webhooks = {
    provide: Webhooks,
    useFactory: (given: WebhooksOptions, discovery: DiscoveryService, host: HttpAdapterHost): Webhooks =>
      new Webhooks(given, discovery, { host, path }),
    inject: [OPTIONS, DiscoveryService, HttpAdapterHost],
  };
  return {
    module: WebhooksModule,
    imports: [DiscoveryModule, ...imports] as never,
    providers: [options, webhooks] as never,
    controllers: [controllerAt(path)] as never,
    exports: [Webhooks],
  };
}

/** Decorated by calls: the library is compiled without the compiler's experimental decorators. */
function controllerAt(path: string): Type {
  class WebhooksController {
    readonly #webhooks: Webhooks;

    constructor(webhooks: Webhooks) {
      this.#webhooks = webhooks;
    }

    receive(request: object, response: object): Promise<void> {
      return answerNest(this.#webhooks.receiver, request, response);
    }
  }
  const { prototype } = WebhooksController;
  const method = Object.getOwnPropertyDescriptor(prototype, "receive") ?? {};
  Controller(path)(WebhooksController);
  Post(`:${SOURCE_PARAMETER}`)(prototype, "receive", method);
  Req()(prototype, "receive", 0);
  Res()(prototype, "receive", 1);
  Inject(Webhooks)(WebhooksController, undefined, 0);
  return WebhooksController;
}

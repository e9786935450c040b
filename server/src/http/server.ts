import { fastify } from "fastify";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { createAddressGuard } from "posthorn/dispatch";
import { hangUp, newId } from "posthorn/gateway";
import type { Role } from "../config/settings.js";
import { addressRules } from "../egress.js";
import type { Ingest } from "../ingest/ingest.js";
import type { OperationRunner } from "../operations/runner.js";
import type { ServerParts } from "../parts.js";
import type { ApiParts } from "./api-parts.js";
import { failureOf } from "./failure.js";
import { hostCheck } from "./auth/host-check.js";
import { SessionCheck } from "./auth/session-check.js";
import { SignInCodes } from "./auth/sign-in-codes.js";
import { readBuiltFiles } from "./dashboard/built-files.js";
import type { BuiltFiles } from "./dashboard/built-files.js";
import { registerDashboard } from "./dashboard/register-dashboard.js";
import { INGEST_ROUTE, IngestDoor } from "./ingest-door.js";
import { registerOpenApi, registerOpenApiRoute } from "./open-api.js";
import { registerAudit } from "./audit.js";
import { problem, shown } from "./problem.js";
import { registerAuditRoute } from "./routes/audit.js";
import { registerConsumers } from "./routes/consumers.js";
import { registerDead } from "./routes/dead.js";
import { registerDeliveries } from "./routes/deliveries.js";
import { registerEndpoints } from "./routes/endpoints.js";
import { registerEvents } from "./routes/events.js";
import { registerHeld } from "./routes/held.js";
import { registerHealth } from "./routes/health.js";
import { registerInbox } from "./routes/inbox.js";
import { registerInboxDeeds } from "./routes/inbox-deeds.js";
import { registerLanes } from "./routes/lanes.js";
import { registerMetrics } from "./routes/metrics.js";
import { registerOperations } from "./routes/operations.js";
import { registerRejected } from "./routes/rejected.js";
import { registerRetry } from "./routes/retry.js";
import { registerSeries } from "./routes/series.js";
import { registerSession } from "./routes/session.js";
import { registerSetAside } from "./routes/set-aside.js";
import { registerSources } from "./routes/sources.js";
import { registerLaneWaiting } from "./routes/lane-waiting.js";
import { registerSettings } from "./routes/settings.js";
import { registerStory } from "./routes/story.js";
import { registerStatus } from "./routes/status.js";
import { registerTail } from "./routes/tail.js";
import { registerTokens } from "./routes/tokens.js";
import { frameworkOptions, nodeServer } from "./server-options.js";
import { STRICT_HEADERS, TRANSPORT_SECURITY } from "./strict-headers.js";
import { TokenCheck, tokenHook } from "./auth/token-check.js";

export interface HttpOptions {
  /** Given where the node has the role `ingest`. */
  readonly ingest?: Ingest;
  readonly roles: readonly Role[];
  /** Given where this node runs operations. */
  readonly operations?: Pick<OperationRunner, "wake">;
  /** Those that this start has printed. */
  readonly codes?: SignInCodes;
  /** @default what the build has put beside this module, if it has */
  readonly dashboard?: BuiltFiles;
}

/** The HTTP side of a node, ready to listen: health for all, `/in` for ingest, `/api/v1` and `/metrics` by role. */
export function createHttpServer(parts: ServerParts, options: HttpOptions): FastifyInstance {
  const { settings } = parts;
  const answerFailure = failureAnswerer(parts);
  const nextId = (): string => newId("req", parts.clock.now());
  const door = doorOf(parts, options, nextId);
  const app = fastify({
    ...frameworkOptions(settings, nextId),
    serverFactory: (route) =>
      nodeServer(settings, (request, response) => {
        if (door?.take(request, response) !== true) route(request, response);
      }),
    frameworkErrors: (error, request, reply) => {
      reply.headers(STRICT_HEADERS);
      answerFailure(error, request, reply);
    },
  }) as unknown as FastifyInstance;
  app.addHook("preClose", (done) => {
    door?.close();
    done();
  });
  app.setErrorHandler(answerFailure);
  addHooks(app, parts, { methods: methodsBeside(door) });
  registerHealth(app, parts);
  registerGuarded(app, parts, options);
  return app;
}

function doorOf(
  parts: ServerParts,
  { ingest, roles }: HttpOptions,
  nextId: () => string,
): IngestDoor | undefined {
  return ingest !== undefined && roles.includes("ingest")
    ? new IngestDoor({ ...parts, ingest, nextId })
    : undefined;
}

/** Starts with the routes outside of the router; the router's own are added as they are registered. */
function methodsBeside(door: IngestDoor | undefined): AllowedMethods {
  const methods = new AllowedMethods();
  if (door !== undefined) methods.add(INGEST_ROUTE, "POST");
  return methods;
}

/** The routes that check the `host` header, because another site could lead a browser on this machine to them. */
function registerGuarded(app: FastifyInstance, parts: ServerParts, options: HttpOptions): void {
  const { ingest, roles, codes = new SignInCodes(parts.clock), dashboard = readBuiltFiles() } = options;
  const tokens = new TokenCheck(parts);
  const isOurs = hostCheck(parts.settings);
  const apiParts: ApiParts = {
    ...parts,
    tokens,
    sessions: new SessionCheck(parts),
    codes,
    guard: createAddressGuard(addressRules(parts.settings)),
    // The change is written in any case; ingest reads it at its next poll.
    sourcesChanged: async () =>
      ingest?.refresh().catch((error: unknown) => parts.log.warn({ err: error }, "sources not read")),
    operationStarted: () => options.operations?.wake(),
  };
  if (roles.includes("api")) registerOpenApi(app);
  app.register(async (guarded) => {
    guarded.addHook("onRequest", (request, _reply, done) => {
      done(isOurs(request.headers.host) ? undefined : misdirected(request.headers.host));
    });
    registerMetrics(guarded, parts, tokens);
    if (!roles.includes("api")) return;
    if (dashboard !== undefined) registerDashboard(guarded, dashboard, parts.settings);
    await guarded.register((api) => registerApi(api, apiParts), { prefix: "/api/v1" });
  });
}

async function registerApi(open: FastifyInstance, parts: ApiParts): Promise<void> {
  registerOpenApiRoute(open);
  registerSession(open, parts);
  await open.register((api, _options, done) => {
    api.addHook("onRequest", tokenHook(parts.tokens, parts.sessions));
    api.addHook("preValidation", readNumbers);
    // Only JSON bodies are parsed.
    api.removeContentTypeParser("text/plain");
    registerAudit(api, parts);
    registerSources(api, parts);
    registerEndpoints(api, parts);
    registerEvents(api, parts);
    registerDeliveries(api, parts);
    registerSetAside(api, parts);
    registerDead(api, parts);
    registerInbox(api, parts);
    registerInboxDeeds(api, parts);
    registerHeld(api, parts);
    registerConsumers(api, parts);
    registerOperations(api, parts);
    registerAuditRoute(api, parts);
    registerLanes(api, parts);
    registerRetry(api, parts);
    registerRejected(api, parts);
    registerTokens(api, parts);
    registerSeries(api, parts);
    registerStatus(api, parts);
    registerStory(api, parts);
    registerLaneWaiting(api, parts);
    registerTail(api, parts);
    registerSettings(api, parts);
    done();
  });
}

function addHooks(
  app: FastifyInstance,
  { settings, metrics }: ServerParts,
  { methods }: { readonly methods: AllowedMethods },
): void {
  app.addHook("onRoute", ({ url, method }) => methods.add(url, method));
  app.addHook("onRequest", (request, reply, done) => {
    reply.headers(STRICT_HEADERS);
    if (settings.behindProxy && request.protocol === "https") reply.headers(TRANSPORT_SECURITY);
    // Before the body is read: nobody would use it.
    done(request.is404 ? nothingThere(request, methods) : undefined);
  });
  app.addHook("onResponse", (request, reply, done) => {
    const { method, routeOptions } = request;
    const route = routeOptions.url ?? "none";
    metrics.answered({ method, route, status: reply.statusCode, durationMs: reply.elapsedTime });
    done();
  });
}

function failureAnswerer({
  log,
}: ServerParts): (error: unknown, request: FastifyRequest, reply: FastifyReply) => void {
  return (error, request, reply) => {
    const { problem: told, headers, ours } = failureOf(error, request.id);
    const context = { request: request.id, method: request.method, route: request.routeOptions.url };
    if (ours) log.error({ ...context, err: error }, "request failed");
    else log.debug({ ...context, code: told.code, detail: told.detail }, "request refused");
    if (hangUp(request.raw)) reply.header("connection", "close");
    reply.code(told.status).headers(headers).type("application/problem+json").send(JSON.stringify(told));
  };
}

function nothingThere({ method, url }: FastifyRequest, methods: AllowedMethods): Error {
  const allowed = methods.of(url);
  if (allowed.length === 0)
    return problem("not_found", `There is nothing at ${shown(url.split("?", 1)[0] ?? "")}.`);
  const allow = allowed.join(", ");
  return problem("method_not_allowed", `${shown(method)} is no method of this path; it has ${allow}.`, {
    allow,
  });
}

function misdirected(host: string | undefined): Error {
  return problem(
    "misdirected",
    `The request is for ${shown(host ?? "")}, and this server listens on loopback under its own names only. ` +
      "If the name is meant, put it into the setting `hosts`.",
  );
}

const NUMBERS = ["limit", "step", "first", "last", "before"] as const;

/** Parses the numbers in queries. All other parameters stay text. */
function readNumbers(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  const asked = request.query as Record<string, unknown>;
  for (const name of NUMBERS) {
    const given = asked[name];
    if (typeof given === "string" && /^\d{1,9}$/.test(given)) asked[name] = Number(given);
  }
  done();
}

/** The methods of each path: the router itself answers a wrong method with 404. */
class AllowedMethods {
  readonly #routes: { readonly steps: readonly string[]; readonly method: string }[] = [];

  add(pattern: string, methods: string | readonly string[]): void {
    for (const method of [methods].flat()) this.#routes.push({ steps: pattern.split("/"), method });
  }

  /** Empty for an unknown path. */
  of(url: string): readonly string[] {
    const steps = (url.split("?", 1)[0] ?? "").split("/");
    const found = this.#routes.filter((route) => matches(route.steps, steps));
    return [...new Set(found.map(({ method }) => method))].toSorted();
  }
}

function matches(pattern: readonly string[], steps: readonly string[]): boolean {
  return (
    pattern.length === steps.length &&
    pattern.every((part, index) => (part.startsWith(":") ? steps[index] !== "" : part === steps[index]))
  );
}

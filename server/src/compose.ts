import { createSender, systemClock } from "posthorn";
import type { Clock, Observer } from "posthorn";
import { createAddressGuard, createDispatcher } from "posthorn/dispatch";
import type { Dispatcher } from "posthorn/dispatch";
import { createOperator } from "posthorn/operator";
import { bindFailure, localUrl } from "./bind.js";
import type { Settings } from "./config/settings.js";
import { addressRules, openEgress } from "./egress.js";
import { keepRemoved } from "./retention.js";
import { ensureToken, requireToken } from "./http/auth/first-token.js";
import type { FirstToken } from "./http/auth/first-token.js";
import { SignInCodes } from "./http/auth/sign-in-codes.js";
import { listenOnOthers } from "./http/other-addresses.js";
import { readStatus } from "./http/routes/status.js";
import { createHttpServer } from "./http/server.js";
import { createIngest } from "./ingest/ingest.js";
import type { Ingest } from "./ingest/ingest.js";
import { Activity } from "./observe/activity.js";
import type { Logger } from "./observe/log.js";
import { createMetrics } from "./observe/metrics.js";
import { SeriesWriter } from "./observe/series-writer.js";
import { signalLog } from "./observe/signal-log.js";
import { timedOutbox } from "./observe/timed-outbox.js";
import { packageVersion } from "./package-version.js";
import { OperationRunner } from "./operations/runner.js";
import type { OpenStore, ServerParts } from "./parts.js";
import { isBesideApplication } from "./store/beside-application.js";
import { openOwnStore } from "./store/open-store.js";
import { StopList } from "./stop-list.js";

/** A node that runs. */
export interface RunningServer {
  readonly parts: ServerParts;
  readonly store: "sqlite" | "postgres";
  /** Where programs on this machine reach it. */
  readonly url: string;
  /** Made at this start. */
  readonly firstToken: FirstToken | undefined;
  /** Nobody can use the API until a token is made. */
  readonly withoutToken: boolean;
  /** Signs a browser in, once and within ten minutes of this start. */
  readonly signInUrl: string;
  /** Takes nothing more, finishes what is under way and hands the rest over; false where that took too long. */
  stop(): Promise<boolean>;
}

export interface StartOptions {
  readonly log: Logger;
  readonly node: string;
  readonly clock?: Clock;
  /** Where each setting is from, for those who ask. */
  readonly origins?: ServerParts["origins"];
  /** Whether a person sees what the start prints: only then a random token is worth making. @default false */
  readonly seen?: boolean;
}

/** Starts everything that the settings ask for. Where a part fails, those before it are stopped again. */
export async function startServer(settings: Settings, options: StartOptions): Promise<RunningServer> {
  const { log, node, clock = systemClock, seen = false, origins } = options;
  const stops = new StopList(log, clock);
  const stop = (): Promise<boolean> => stops.stop(settings.stopTimeoutMs);
  try {
    const started = await startParts(settings, { log, node, clock, seen, origins, stops });
    return { ...started, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Context extends Required<Omit<StartOptions, "origins">> {
  readonly origins: ServerParts["origins"];
  readonly stops: StopList;
}

async function startParts(settings: Settings, context: Context): Promise<Omit<RunningServer, "stop">> {
  const { clock, stops } = context;
  const told: Observer[] = [signalLog(context.log)];
  const observer: Observer = (signal) => {
    for (const listener of told) listener(signal);
  };
  const store = await openOwnStore(settings, { observer, log: context.log });
  stops.add("store", () => store.close());
  const metrics = createMetrics({
    census: () => store.outbox.census(),
    retention: () => store.outbox.retention(),
    status: () => readStatus({ outbox: store.outbox, registry: store.registry, clock }),
    clock,
  });
  const activity = new Activity(context.node, clock);
  told.push(metrics.observer, activity.observer);
  await requireToken(settings, store.registry);
  const parts = await partsOf(settings, context, { store, metrics, activity });
  await startSeries(parts, stops);
  const ingest = await startIngest(parts, stops);
  startRetention(parts, observer, stops);
  const dispatcher = await startDispatcher(parts, observer, stops);
  const operations = startOperations(parts, stops);
  const codes = new SignInCodes(clock);
  const url = await startHttp(parts, { ingest, dispatcher, operations, codes }, stops);
  // Not before it listens: a token that was made by a start that failed would never be shown.
  const tokens = await ensureToken(settings, store.registry, context);
  // After the hash: it is in no request, and so in no log.
  const signInUrl = `${url}/sign-in#${codes.make()}`;
  return { parts, url, firstToken: tokens.first, withoutToken: tokens.none, signInUrl, store: store.kind };
}

async function partsOf(
  settings: Settings,
  { log, node, clock, stops, origins }: Context,
  { store, metrics, activity }: { readonly store: OpenStore } & Pick<ServerParts, "metrics" | "activity">,
): Promise<ServerParts> {
  const outbox = timedOutbox(store.outbox, metrics);
  const egress = await openEgress(settings, { log });
  stops.add("egress", () => egress.close());
  return Object.freeze({
    settings,
    origins,
    outbox,
    sender: createSender({
      store: outbox,
      guard: createAddressGuard(addressRules(settings)),
      maxBodyBytes: settings.maxBodyBytes,
      clock,
    }),
    operator: createOperator({ store: outbox }),
    egress,
    registry: store.registry,
    metrics,
    activity,
    log,
    clock,
    node,
  });
}

// Before ingest and dispatcher, so that it stops after them and writes the last of what they counted.
async function startSeries(parts: ServerParts, stops: StopList): Promise<void> {
  const { registry, activity, clock, log, node, settings } = parts;
  const writer = new SeriesWriter({
    registry,
    counters: activity.counters,
    clock,
    log,
    node: {
      name: node,
      roles: settings.roles,
      version: packageVersion(),
      startedAt: new Date(clock.now()),
    },
  });
  await writer.start();
  stops.add("counters", () => writer.stop());
}

async function startIngest(parts: ServerParts, stops: StopList): Promise<Ingest | undefined> {
  if (!parts.settings.roles.includes("ingest")) return undefined;
  const ingest = createIngest(parts);
  await ingest.start();
  stops.add("ingest", () => ingest.stop());
  return ingest;
}

/** Beside deliveries: a node that only takes events in should do nothing else. */
function startRetention(parts: ServerParts, observer: Observer, stops: StopList): void {
  if (!parts.settings.roles.includes("dispatch")) return;
  const ended = new AbortController();
  const running = keepRemoved(parts, observer, ended.signal);
  stops.add("retention", async () => {
    ended.abort();
    await running;
  });
}

async function startDispatcher(
  parts: ServerParts,
  observer: Observer,
  stops: StopList,
): Promise<Dispatcher | undefined> {
  const { settings, outbox, egress, clock } = parts;
  if (!settings.roles.includes("dispatch")) return undefined;
  const dispatcher = createDispatcher({
    store: outbox,
    egress,
    observer,
    clock,
    slots: settings.slots,
    deadlineMs: settings.attemptTimeoutMs,
    leaseMs: settings.leaseMs,
    pollMs: settings.pollMs,
  });
  await dispatcher.start();
  stops.add("dispatcher", () => dispatcher.stop());
  return dispatcher;
}

/**
 * Operations are run where deliveries are made, because their steps are writes of the same kind; beside an application, which
 * runs its own workers, there is no other node.
 */
function startOperations(parts: ServerParts, stops: StopList): OperationRunner | undefined {
  const { roles } = parts.settings;
  if (!roles.includes("dispatch") && !isBesideApplication(parts.settings)) return undefined;
  const runner = new OperationRunner(parts);
  runner.start();
  stops.add("operations", () => runner.stop());
  return runner;
}

interface Workers {
  readonly ingest: Ingest | undefined;
  readonly dispatcher: Dispatcher | undefined;
  readonly operations: OperationRunner | undefined;
  readonly codes: SignInCodes;
}

async function startHttp(
  parts: ServerParts,
  { ingest, dispatcher, operations, codes }: Workers,
  stops: StopList,
): Promise<string> {
  const { settings } = parts;
  const { listen, roles } = settings;
  const app = createHttpServer(parts, {
    ...(ingest && { ingest }),
    ...(operations && { operations }),
    roles,
    codes,
  });
  // Requests and attempts may each take their whole time: one after the other, they would miss the deadline of the stop.
  stops.add("requests", async () => {
    await Promise.all([app.close(), dispatcher?.stop()]);
  });
  try {
    await app.listen({ host: listen.host, port: listen.port });
    if (listen.host === "localhost") await listenOnOthers(app.server, listen.host);
  } catch (error) {
    throw bindFailure(error, listen);
  }
  const bound = app.server.address();
  const port = typeof bound === "object" && bound !== null ? bound.port : listen.port;
  return localUrl({ host: listen.host, port });
}

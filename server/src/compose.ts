import { createSender, systemClock } from "posthorn";
import type { Clock, Observer } from "posthorn";
import { createDispatcher } from "posthorn/dispatch";
import type { Dispatcher } from "posthorn/dispatch";
import { createOperator } from "posthorn/operator";
import { bindFailure, localUrl } from "./bind.js";
import type { Settings } from "./config/settings.js";
import { openEgress } from "./egress.js";
import { ensureToken, requireToken } from "./http/auth/first-token.js";
import type { FirstToken } from "./http/auth/first-token.js";
import { SignInCodes } from "./http/auth/sign-in-codes.js";
import { listenOnOthers } from "./http/other-addresses.js";
import { createHttpServer } from "./http/server.js";
import { createIngest } from "./ingest/ingest.js";
import type { Ingest } from "./ingest/ingest.js";
import type { Logger } from "./observe/log.js";
import { createMetrics } from "./observe/metrics.js";
import type { Metrics } from "./observe/metrics.js";
import { signalLog } from "./observe/signal-log.js";
import { timedOutbox } from "./observe/timed-outbox.js";
import type { OpenStore, ServerParts } from "./parts.js";
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
  /** Signs a browser in, once and within ten minutes of this start. */
  readonly signInUrl: string;
  /** Takes nothing more, finishes what is under way and hands the rest over; false where that took too long. */
  stop(): Promise<boolean>;
}

export interface StartOptions {
  readonly log: Logger;
  readonly node: string;
  readonly clock?: Clock;
}

/** Starts everything that the settings ask for. Where a part fails, those before it are stopped again. */
export async function startServer(settings: Settings, options: StartOptions): Promise<RunningServer> {
  const { log, node, clock = systemClock } = options;
  const stops = new StopList(log, clock);
  const stop = (): Promise<boolean> => stops.stop(settings.stopTimeoutMs);
  try {
    const started = await startParts(settings, { log, node, clock, stops });
    return { ...started, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Context extends Required<StartOptions> {
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
  const metrics = createMetrics({ census: () => store.outbox.census(), clock });
  told.push(metrics.observer);
  await requireToken(settings, store.registry);
  const parts = await partsOf(settings, context, { store, metrics });
  const ingest = await startIngest(parts, stops);
  const dispatcher = await startDispatcher(parts, observer, stops);
  const codes = new SignInCodes(clock);
  const url = await startHttp(parts, { ingest, dispatcher, codes }, stops);
  // Not before it listens: a token that was made by a start that failed would never be shown.
  const firstToken = await ensureToken(settings, store.registry, clock);
  // After the hash: it is in no request, and so in no log.
  const signInUrl = `${url}/sign-in#${codes.make()}`;
  return { parts, url, firstToken, signInUrl, store: store.kind };
}

async function partsOf(
  settings: Settings,
  { log, node, clock, stops }: Context,
  { store, metrics }: { readonly store: OpenStore; readonly metrics: Metrics },
): Promise<ServerParts> {
  const outbox = timedOutbox(store.outbox, metrics);
  const egress = await openEgress(settings);
  stops.add("egress", () => egress.close());
  return Object.freeze({
    settings,
    outbox,
    sender: createSender({
      store: outbox,
      allowHttp: settings.dev,
      maxBodyBytes: settings.maxBodyBytes,
      clock,
    }),
    operator: createOperator({ store: outbox }),
    egress,
    registry: store.registry,
    metrics,
    log,
    clock,
    node,
  });
}

async function startIngest(parts: ServerParts, stops: StopList): Promise<Ingest | undefined> {
  if (!parts.settings.roles.includes("ingest")) return undefined;
  const ingest = createIngest(parts);
  await ingest.start();
  stops.add("ingest", () => ingest.stop());
  return ingest;
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

interface Workers {
  readonly ingest: Ingest | undefined;
  readonly dispatcher: Dispatcher | undefined;
  readonly codes: SignInCodes;
}

async function startHttp(
  parts: ServerParts,
  { ingest, dispatcher, codes }: Workers,
  stops: StopList,
): Promise<string> {
  const { settings } = parts;
  const { listen, roles } = settings;
  const app = createHttpServer(parts, { ...(ingest && { ingest }), roles, codes });
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

import Database from "better-sqlite3";
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from "fastify";
import type { SecretSeal } from "posthorn";
import { createSender } from "posthorn";
import { createAddressGuard } from "posthorn/dispatch";
import type { Egress, EgressAnswer, OutgoingRequest } from "posthorn/dispatch";
import { addressRules } from "../../server/src/egress.js";
import { createClient } from "posthorn/client";
import type { Client, Fetch } from "posthorn/client";
import { createOperator } from "posthorn/operator";
import { migrate, sqliteStore } from "posthorn/sqlite";
import { createFakeClock } from "posthorn/testing";
import type { FakeClock } from "posthorn/testing";
import { defaultSettings } from "../../server/src/config/load.js";
import type { Settings } from "../../server/src/config/settings.js";
import { newToken } from "../../server/src/http/auth/new-token.js";
import { createHttpServer } from "../../server/src/http/server.js";
import type { HttpOptions } from "../../server/src/http/server.js";
import { Activity } from "../../server/src/observe/activity.js";
import type { Metrics } from "../../server/src/observe/metrics.js";
import type { ServerOutbox, ServerParts } from "../../server/src/parts.js";
import type { Registry } from "../../server/src/store/registry.js";
import { SERVER_MIGRATIONS } from "../../server/src/store/sqlite/migrations.js";
import { sqliteRegistry } from "../../server/src/store/sqlite/registry.js";

const seal: SecretSeal = { seal: (secret) => secret, open: (sealed) => sealed };

export interface BenchOptions extends Partial<HttpOptions> {
  readonly settings?: Partial<Settings>;
  /** Put over what the registry does. */
  readonly registry?: Partial<Registry>;
  readonly outbox?: Partial<ServerOutbox>;
}

/** One log line. */
export interface Line {
  readonly level: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** The HTTP side of a node on a database in memory, whose egress answers what it is told. */
export interface ApiBench {
  readonly app: FastifyInstance;
  readonly parts: ServerParts;
  readonly clock: FakeClock;
  readonly lines: readonly Line[];
  readonly sent: readonly OutgoingRequest[];
  /** What the next test sends come to. */
  answer(answer: EgressAnswer): void;
  /** A token with a scope. */
  token(scope: "read" | "full", expiresAt?: Date): Promise<string>;
  /** The client that programs use, with a full token or the one that is given. */
  client(token?: string): Client;
  /** A request with a full token, unless it has another header. */
  call(
    method: string,
    url: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<LightMyRequestResponse>;
}

export async function apiBench(options: BenchOptions = {}): Promise<ApiBench> {
  const db = new Database(":memory:");
  await migrate(db);
  await migrate(db, { set: { name: "server", migrations: SERVER_MIGRATIONS } });
  const clock = createFakeClock({ at: Date.UTC(2026, 10, 16) });
  const registry = { ...sqliteRegistry(db, seal, clock), ...options.registry };
  const outbox = Object.assign(sqliteStore({ db, clock }), options.outbox) as unknown as ServerOutbox;
  open.push(() => Promise.resolve(void db.close()));
  return benchOf({ registry, outbox, clock }, options);
}

const open: (() => Promise<unknown>)[] = [];

/** For the end of a file: a bench takes a tenth of a second to make, so that tests share them. */
export async function closeBenches(): Promise<void> {
  for (const close of open.splice(0).toReversed()) await close();
}

type Stores = Pick<ServerParts, "registry" | "outbox"> & { readonly clock: FakeClock };

/** The same on stores of one's own. */
export async function benchOf(stores: Stores, options: BenchOptions = {}): Promise<ApiBench> {
  const lines: Line[] = [];
  const egress = new ScriptedEgress();
  const settings = defaultSettings(options.settings);
  const parts: ServerParts = {
    ...stores,
    settings,
    egress,
    sender: createSender({
      store: stores.outbox,
      guard: createAddressGuard(addressRules(settings)),
      clock: stores.clock,
    }),
    operator: createOperator({ store: stores.outbox }),
    metrics: silentMetrics,
    activity: new Activity("node-1", stores.clock),
    log: recordingLog(lines),
    node: "node-1",
  };
  const app = createHttpServer(parts, { roles: ["api", "ingest"], ...options });
  open.push(() => app.close());
  const token = async (scope: "read" | "full", expiresAt?: Date): Promise<string> => {
    const made = newToken({ name: scope, scope, expiresAt }, new Date(stores.clock.now()));
    await stores.registry.addToken(made.record);
    return made.token;
  };
  const full = await token("full");
  return {
    app,
    parts,
    lines,
    token,
    clock: stores.clock,
    sent: egress.sent,
    client: (given = full) =>
      createClient({ url: "http://127.0.0.1:8710", token: given, fetch: injected(app), retries: 0 }),
    answer: (answer) => (egress.next = answer),
    call: (method, url, body, headers = {}) =>
      app.inject({
        method: method as NonNullable<InjectOptions["method"]>,
        url,
        headers: { host: "127.0.0.1:8710", authorization: `Bearer ${full}`, ...headers },
        ...(body !== undefined && { payload: body as NonNullable<InjectOptions["payload"]> }),
      }),
  };
}

/** What `fetch` would give, without a socket. */
function injected(app: FastifyInstance): Fetch {
  return async (url, { method, headers, body }) => {
    const answer = await app.inject({
      method: method as NonNullable<InjectOptions["method"]>,
      url,
      headers: headers as Record<string, string>,
      ...(typeof body === "string" && { payload: body }),
    });
    const bytes = answer.statusCode === 204 ? null : new Uint8Array(answer.rawPayload);
    return new Response(bytes, {
      status: answer.statusCode,
      headers: Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)]),
    });
  };
}

class ScriptedEgress implements Egress {
  readonly sent: OutgoingRequest[] = [];
  next: EgressAnswer = { outcome: { kind: "acknowledged", status: 204 }, answer: undefined, durationMs: 3 };

  post(request: OutgoingRequest): Promise<EgressAnswer> {
    this.sent.push(request);
    return Promise.resolve(this.next);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

const silentMetrics: Metrics = {
  observer: () => undefined,
  ingested: () => undefined,
  rejectedDropped: () => undefined,
  answered: () => undefined,
  timed: (_operation, run) => run(),
  tokenRefused: () => undefined,
  text: () => Promise.resolve({ contentType: "text/plain; version=0.0.4", body: "posthorn_up 1\n" }),
};

function recordingLog(lines: Line[]): ServerParts["log"] {
  const at =
    (level: string) =>
    (fields: unknown, text: unknown): void =>
      void lines.push({ level, fields: fields as Line["fields"], text: String(text) });
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") } as ServerParts["log"];
}

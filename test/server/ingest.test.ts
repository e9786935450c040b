import { createServer } from "node:http";
import type { Server } from "node:http";
import type { Database } from "better-sqlite3";
import type { Pool } from "pg";
import type { SecretSeal } from "posthorn";
import { systemClock } from "posthorn";
import type { SourceInput } from "posthorn/client";
import { migrate as migratePostgres, postgresStore } from "posthorn/postgres";
import { migrate as migrateSqlite, sqliteStore } from "posthorn/sqlite";
import { signedRequest, TEST_SECRETS } from "posthorn/testing";
import { afterAll, describe, expect, it } from "vitest";
import { IngestDoor } from "../../server/src/http/ingest-door.js";
import { checkSource } from "../../server/src/ingest/check-source.js";
import { createIngest } from "../../server/src/ingest/ingest.js";
import type { Ingest, IngestParts } from "../../server/src/ingest/ingest.js";
import { Activity } from "../../server/src/observe/activity.js";
import type { Registry } from "../../server/src/store/registry.js";
import { SERVER_MIGRATIONS as POSTGRES_MIGRATIONS } from "../../server/src/store/postgres/migrations.js";
import { postgresRegistry } from "../../server/src/store/postgres/registry.js";
import { SERVER_MIGRATIONS as SQLITE_MIGRATIONS } from "../../server/src/store/sqlite/migrations.js";
import { sqliteRegistry } from "../../server/src/store/sqlite/registry.js";
import { quietPool } from "../postgres/quiet-pool.js";
import { freshDatabase } from "../services.js";
import { createDatabaseFile } from "../sqlite/database-file.js";
import { knock } from "./knock.js";

const plain: SecretSeal = { seal: (secret) => secret, open: (sealed) => sealed };

interface StoredEvent {
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly key: string | null;
  readonly body: Uint8Array;
  readonly headers: string | null;
}

interface Node {
  readonly server: Server;
  readonly ingest: Ingest;
  readonly registry: Registry;
}

/** Two nodes on one database. */
interface Bench {
  readonly nodes: readonly [Node, Node];
  events(): Promise<readonly StoredEvent[]>;
}

const nothing = (): void => undefined;

async function node(outbox: unknown, registry: Registry): Promise<Node> {
  const parts = {
    outbox,
    registry,
    clock: systemClock,
    settings: {
      rejectedPerSource: 10,
      rejectedBodyBytes: 1000,
      sourcePollMs: 1000,
      behindProxy: false,
      maxBodyBytes: 1_048_576,
    },
    metrics: { ingested: nothing, rejectedDropped: nothing, answered: nothing },
    activity: new Activity("node-1", systemClock),
    log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
  } as unknown as IngestParts;
  const ingest = createIngest(parts);
  const door = new IngestDoor({ ...parts, ingest, nextId: () => "req_1" });
  const server = createServer((request, response) => void door.take(request, response));
  await ingest.start();
  afterAll(async () => {
    server.close();
    await ingest.stop();
  });
  return { server, ingest, registry };
}

function postgresNode(pool: Pool): Promise<Node> {
  return node(postgresStore({ client: pool }), postgresRegistry(pool, "posthorn", plain));
}

async function postgresBench(): Promise<Bench> {
  const url = await freshDatabase();
  const pools = [
    quietPool({ connectionString: url, max: 5 }),
    quietPool({ connectionString: url, max: 5 }),
  ] as const;
  afterAll(() => Promise.all(pools.map((pool) => pool.end())));
  await migratePostgres(pools[0], { set: { name: "server", migrations: POSTGRES_MIGRATIONS } });
  return {
    nodes: [await postgresNode(pools[0]), await postgresNode(pools[1])],
    events: async () => {
      const { rows } = await pools[0].query(
        "select public_id as id, source, type, key, body, headers from posthorn.event order by id",
      );
      return rows as StoredEvent[];
    },
  };
}

function sqliteNode(db: Database): Promise<Node> {
  return node(sqliteStore({ db }), sqliteRegistry(db, plain));
}

async function sqliteBench(): Promise<Bench> {
  const file = createDatabaseFile();
  afterAll(() => file.remove());
  const handles = [file.open(), file.open()] as const;
  await migrateSqlite(handles[0]);
  await migrateSqlite(handles[0], { set: { name: "server", migrations: SQLITE_MIGRATIONS } });
  return {
    nodes: [await sqliteNode(handles[0]), await sqliteNode(handles[1])],
    events: () =>
      Promise.resolve(
        handles[0]
          .prepare(
            "select public_id as id, source, type, key, body, headers from posthorn_event order by posthorn_event.id",
          )
          .all() as StoredEvent[],
      ),
  };
}

let made = 0;

/** A source of its own for each test, on the first node. */
async function addSource({ nodes }: Bench, input: Omit<SourceInput, "name">): Promise<string> {
  const name = `source-${++made}`;
  await nodes[0].registry.addSource(checkSource({ name, ...input }, systemClock));
  await Promise.all(nodes.map(({ ingest }) => ingest.refresh()));
  return name;
}

const STANDARD = { scheme: "standard_webhooks", secrets: [TEST_SECRETS.standard_webhooks.verifying] };

interface Answer {
  readonly status: number | undefined;
  readonly verdict: unknown;
  readonly event: unknown;
}

async function post(
  { server }: Node,
  source: string,
  { headers, body }: { headers: Readonly<Record<string, string>>; body: Uint8Array },
): Promise<Answer> {
  const answer = await knock(server, { url: `/in/${source}`, headers, payload: body });
  return {
    status: answer.status,
    verdict: answer.headers["posthorn-verdict"],
    event: answer.headers["posthorn-event"],
  };
}

const unsigned = (body: string, headers = {}): { headers: Record<string, string>; body: Uint8Array } => ({
  headers,
  body: new TextEncoder().encode(body),
});

describe.each([
  ["Postgres", postgresBench],
  ["SQLite", sqliteBench],
])("ingest on %s", async (_name, open) => {
  const bench = await open();
  const [one, two] = bench.nodes;
  const eventsOf = async (source: string): Promise<readonly StoredEvent[]> =>
    (await bench.events()).filter((event) => event.source === source);

  it("stores an event once that comes to two nodes, ten times at once", async () => {
    const source = await addSource(bench, {
      ...STANDARD,
      key: { json: "/data/account" },
      forwardHeaders: ["x-*"],
    });
    const request = await signedRequest("standard_webhooks", {
      id: "msg_1",
      type: "invoice.paid",
      data: { account: "a7" },
      headers: { "x-shard": "3", authorization: "Bearer x" },
    });
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => post(n % 2 === 0 ? one : two, source, request)),
    );
    const events = await eventsOf(source);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ source, type: "invoice.paid", key: "a7" });
    expect(JSON.parse(events[0]?.headers ?? "{}")).toEqual({ "x-shard": "3" });
    expect(Buffer.from(events[0]?.body ?? [])).toEqual(Buffer.from(request.body));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 204));
    expect(answers.map(({ verdict }) => String(verdict)).toSorted()).toEqual([
      ...Array.from({ length: 9 }, () => "duplicate"),
      "stored",
    ]);
    expect(new Set(answers.map(({ event }) => event))).toEqual(new Set([events[0]?.id]));
  });

  it("stores every one of many that come at once", async () => {
    const source = await addSource(bench, STANDARD);
    const requests = await Promise.all(
      Array.from({ length: 200 }, (_, n) => signedRequest("standard_webhooks", { id: `msg_${n}` })),
    );
    const answers = await Promise.all(
      [...requests, ...requests].map((request, n) => post(n % 2 === 0 ? one : two, source, request)),
    );
    const events = await eventsOf(source);
    expect(events).toHaveLength(200);
    expect(answers.filter(({ verdict }) => verdict === "stored")).toHaveLength(200);
    expect(answers.filter(({ verdict }) => verdict === "duplicate")).toHaveLength(200);
    expect(new Set(answers.map(({ event }) => event))).toEqual(new Set(events.map(({ id }) => id)));
  });

  it("does not store a second body under one id, and keeps it apart", async () => {
    const source = await addSource(bench, STANDARD);
    const [first, second] = await Promise.all(
      [1, 2].map((n) => signedRequest("standard_webhooks", { id: "msg_1", data: { n } })),
    );
    const stored = await post(one, source, first as never);
    const conflict = await post(two, source, second as never);
    expect(conflict).toEqual({ status: 200, verdict: "conflict", event: stored.event });
    expect(await eventsOf(source)).toHaveLength(1);
    await two.ingest.stop();
    expect(await one.registry.listRejected({ source, limit: 10 })).toMatchObject([{ code: "conflict" }]);
  });

  it("knows an event by its content under whatever id it comes again, and by its id", async () => {
    const source = await addSource(bench, {
      scheme: "none",
      allowUnverified: true,
      options: { id: { header: "x-id" } },
      dedup: { by: "both", content: "json", exclude: ["/attempt"] },
    });
    const bodies = ['{"a":1,"b":[1,2],"attempt":1}', '{ "b": [1, 2], "a": 1.0, "attempt": 2 }'];
    const [first, ...others] = [
      await post(one, source, unsigned(bodies[0] ?? "", { "x-id": "1" })),
      await post(two, source, unsigned(bodies[1] ?? "", { "x-id": "2" })),
      // Its second id is known by now.
      await post(one, source, unsigned(bodies[0] ?? "", { "x-id": "2" })),
    ];
    expect(first?.verdict).toBe("stored");
    for (const other of others)
      expect(other).toEqual({ status: 200, verdict: "duplicate", event: first?.event });
    expect(await post(one, source, unsigned('{"a":2}', { "x-id": "3" }))).toMatchObject({
      verdict: "stored",
    });
    expect(await eventsOf(source)).toHaveLength(2);
  });

  it("keeps apart what two sources, or two tenants, call the same", async () => {
    const anybody = { scheme: "none", allowUnverified: true, options: { id: { header: "x-id" } } };
    const sources = [
      await addSource(bench, anybody),
      await addSource(bench, { ...anybody, tenant: "other" }),
    ];
    for (const source of sources) {
      expect(await post(one, source, unsigned("x", { "x-id": "1" }))).toMatchObject({ verdict: "stored" });
    }
  });

  it("stores bytes that are no text, no JSON and no UTF-8, as they are", async () => {
    const source = await addSource(bench, { scheme: "none", allowUnverified: true });
    const body = Uint8Array.from({ length: 256 }, (_, n) => n);
    await post(one, source, { headers: {}, body });
    const [event] = await eventsOf(source);
    expect(Buffer.from(event?.body ?? [])).toEqual(Buffer.from(body));
  });

  it.each([
    ["a type that is no name", { type: "\u0001".repeat(3) }],
    ["a key of ten thousand characters", { key: "k".repeat(10_000) }],
    ["an id that is no name", { id: "caf\u00e9 \u0002" }],
  ])("stores an event with %s", async (_what, fields) => {
    const source = await addSource(bench, {
      scheme: "none",
      allowUnverified: true,
      options: { id: { json: "/id" }, type: { json: "/type" } },
      key: { json: "/key" },
    });
    expect(await post(one, source, unsigned(JSON.stringify(fields)))).toMatchObject({
      status: 200,
      verdict: "stored",
    });
    expect(await eventsOf(source)).toHaveLength(1);
  });

  it("keeps a request with a bad signature apart, with its explanation", async () => {
    const source = await addSource(bench, STANDARD);
    const request = await signedRequest("standard_webhooks");
    const answer = await post(one, source, { ...request, body: new TextEncoder().encode("{}") });
    expect(answer).toEqual({ status: 401, verdict: undefined, event: undefined });
    await one.ingest.stop();
    const [rejected] = await one.registry.listRejected({ source, limit: 10 });
    expect(rejected).toMatchObject({ source, code: "signature_mismatch", bodyBytes: 2 });
    expect((await two.registry.readRejected(rejected?.id ?? ""))?.body).toEqual(
      new TextEncoder().encode("{}"),
    );
    expect(await eventsOf(source)).toHaveLength(0);
  });
});

describe("without its database", () => {
  it("ingest answers 503, on Postgres", async () => {
    const url = await freshDatabase();
    const [kept, lost] = [
      quietPool({ connectionString: url }),
      quietPool({ connectionString: "postgres://nobody@127.0.0.1:1/none" }),
    ];
    await migratePostgres(kept, { set: { name: "server", migrations: POSTGRES_MIGRATIONS } });
    const { server, registry, ingest } = await node(
      postgresStore({ client: lost }),
      postgresRegistry(kept, "posthorn", plain),
    );
    await registry.addSource(
      checkSource({ name: "open", scheme: "none", allowUnverified: true }, systemClock),
    );
    const answer = await knock(server, { url: "/in/open", payload: "x" });
    expect(answer.status).toBe(503);
    expect(answer.headers["retry-after"]).toBe("5");
    await ingest.stop();
    await Promise.all([kept.end(), lost.end()]);
  });

  it("ingest answers 503, on SQLite", async () => {
    const file = createDatabaseFile();
    const [kept, lost] = [file.open(), file.open()];
    await migrateSqlite(kept);
    await migrateSqlite(kept, { set: { name: "server", migrations: SQLITE_MIGRATIONS } });
    const { server, registry, ingest } = await node(sqliteStore({ db: lost }), sqliteRegistry(kept, plain));
    await registry.addSource(
      checkSource({ name: "open", scheme: "none", allowUnverified: true }, systemClock),
    );
    lost.close();
    expect((await knock(server, { url: "/in/open", payload: "x" })).status).toBe(503);
    await ingest.stop();
    file.remove();
  });
});

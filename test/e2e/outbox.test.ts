import type Database from "better-sqlite3";
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { createReceiver, createSender, generateSecret, standardWebhooks, verify } from "posthorn";
import { createAddressGuard, createDispatcher } from "posthorn/dispatch";
import type { Egress } from "posthorn/dispatch";
import { memoryStore } from "posthorn/memory";
import { migrate, sqliteStore } from "posthorn/sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { createDatabaseFile } from "../sqlite/database-file.js";
import type { Effect, Landing, PassageOptions } from "./outbox-passage.js";
import { createFlakiness, effectOf, everyFault, Passage } from "./outbox-passage.js";

const LOOPBACK = createAddressGuard({ allowHttp: true, allowAddresses: ["127.0.0.0/8"] });

/** Repeats a run that failed, or makes another one. */
const SEED = Number(process.env["POSTHORN_CRASH_SEED"] ?? 1);

/** Both ends in memory. */
function inMemory(): Promise<PassageOptions> {
  const effects: Effect[] = [];
  const failFlaky = createFlakiness();
  return Promise.resolve({
    outbox: memoryStore({ environment: "test" }),
    land: (sources): Landing => ({
      receiver: createReceiver({
        store: memoryStore({ environment: "test" }),
        // What fails here fails as asked.
        observer: () => {},
        sources,
        handlers: {
          "*": (event, { tx }) => {
            failFlaky(event);
            tx.onCommit(() => effects.push(effectOf(event)));
          },
        },
      }),
      effects: () => effects,
    }),
  });
}

/** Both ends on SQLite, each in a file of its own. */
async function onSqlite(): Promise<PassageOptions> {
  const [outgoing, incoming] = [createDatabaseFile(), createDatabaseFile()];
  for (const file of [outgoing, incoming]) onTestFinished(() => file.remove());
  const [from, to] = [outgoing.open(), incoming.open()];
  await migrate(from);
  await migrate(to);
  to.exec("create table effect (n integer primary key autoincrement, told text)");
  const failFlaky = createFlakiness();
  const effects = to.prepare("select told from effect order by n").pluck();
  return {
    outbox: sqliteStore({ db: from }),
    land: (sources): Landing => ({
      receiver: createReceiver({
        store: sqliteStore({ db: to }),
        observer: () => {},
        sources,
        handlers: {
          "*": (event) => (tx: Database.Database) => {
            tx.prepare("insert into effect (told) values (?)").run(JSON.stringify(effectOf(event)));
            failFlaky(event);
          },
        },
      }),
      // JSON leaves out what is undefined; the comparison does not mind.
      effects: () => effects.all().map((told) => JSON.parse(told as string) as Effect),
    }),
  };
}

describe.each([
  ["in memory", inMemory],
  ["on SQLite", onSqlite],
])("from our sender to our receiver, %s", (_where, make: () => Promise<PassageOptions>) => {
  it(`over a network that breaks in every way, each event has one effect, and each key is in order (seed ${SEED})`, async () => {
    const passage = await Passage.open({ ...(await make()), seed: SEED });
    await passage.publish(30);
    for (const faults of everyFault(passage.chance)) await passage.through(faults);
    await passage.expectAllLanded();
    // Faults that met nobody would prove nothing.
    expect([...passage.outcomes.keys()]).toEqual(
      expect.arrayContaining(["acknowledged", "refused", "unknown"]),
    );
  });

  it("an answer that is lost costs a second request, and no second effect", async () => {
    const passage = await Passage.open(await make());
    for (const after of ["reset", "silence"] as const) {
      const lost = passage.proxy.swallowAnswer("webhook-id", after);
      await passage.publish(4);
      await lost;
    }
    await passage.expectAllLanded();
  });
});

describe("an endpoint on localhost", () => {
  const rules = { allowHttp: true, allowAddresses: ["127.0.0.1", "::1"] };

  it("is accepted and delivered to by one guard, and refused at once without it", async () => {
    const server = createServer((request, response) => void request.resume().on("end", () => response.end()));
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void server.close());
    const url = `http://localhost:${(server.address() as AddressInfo).port}/`;
    const store = memoryStore({ environment: "test" });
    const secrets = generateSecret();
    await expect(createSender({ store }).endpoints.create({ url, secrets })).rejects.toThrow(
      "allowHttp: true",
    );
    const strict = createSender({ store, guard: createAddressGuard({ allowHttp: true }) });
    await expect(strict.endpoints.create({ url, secrets })).rejects.toThrow("allowAddresses");
    const guard = createAddressGuard(rules);
    const sender = createSender({ store, guard });
    await sender.endpoints.create({ url, secrets });
    await sender.publish({ type: "t", data: 1 });
    expect(await createDispatcher({ store, guard }).drain()).toMatchObject({ delivered: 1, failed: 0 });
  });

  it("that only the sender's guard allowed dies with the sentence of the dispatcher's", async () => {
    const store = memoryStore({ environment: "test" });
    const sender = createSender({ store, guard: createAddressGuard(rules) });
    await sender.endpoints.create({ url: "http://localhost:3000/", secrets: generateSecret() });
    await sender.publish({ type: "t", data: 1 });
    await createDispatcher({ store }).drain();
    const [dead] = (await store.deadLetters({ limit: 1 })).items;
    expect(dead?.lastError).toContain("allowHttp: true would allow it");
  });
});

describe("an event that a handler publishes", () => {
  it("is delivered when the handler's transaction commits, and never when it does not", async () => {
    const store = memoryStore({ environment: "test" });
    const sender = createSender({ store, guard: LOOPBACK });
    const failFlaky = createFlakiness();
    const effects: Effect[] = [];
    // The same process receives what it publishes, from another source.
    const passage = await Passage.open({
      outbox: memoryStore({ environment: "test" }),
      land: (sources): Landing => ({
        receiver: createReceiver({
          store,
          sources,
          publisher: sender,
          handlers: {
            "*": async (event, context) => {
              await context.publish({ type: "relayed", id: event.id, key: "relay", body: event.body });
              failFlaky(event);
              context.tx.onCommit(() => effects.push(effectOf(event)));
            },
          },
        }),
        effects: () => effects,
      }),
    });
    const posted: string[] = [];
    await sender.endpoints.create({
      url: "http://127.0.0.1:9000/",
      secrets: "whsec_cG9zdGhvcm4gY3Jhc2ggdGVzdHMgb25seSE=",
    });
    const relay = createDispatcher({ store, egress: acknowledging(posted) });
    await passage.publish(30);
    await passage.expectAllLanded();
    expect(await relay.drain()).toEqual({ delivered: 30, failed: 0, more: false });
    // In the order of the commits, because they have one key.
    expect(posted).toEqual(effects.map(({ id }) => id));
  });
});

describe("an event that is not to be delivered yet", () => {
  it("is delivered when it is due, by a process that meanwhile does other things", async () => {
    const outbox = memoryStore({ environment: "test" });
    const sender = createSender({ store: outbox });
    await sender.endpoints.create({ url: "https://example.com/", secrets: generateSecret() });
    // A loop that asks without a pause would let no timer run, and this test would never end.
    let asked = 0;
    const untilDue = (): Promise<number | undefined> => {
      if (++asked > MOST_ASKED) throw new Error("the store is asked without a pause");
      return outbox.untilDue({ kind: "endpoint" });
    };
    const store = new Proxy(outbox, {
      get: (target, name) => {
        if (name === "untilDue") return untilDue;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
    const posted: string[] = [];
    const dispatcher = createDispatcher({ store, egress: acknowledging(posted) });
    await dispatcher.start();
    onTestFinished(() => dispatcher.stop());
    for (const n of [1, 2, 3]) {
      const deliverAt = new Date(Date.now() + 60 * n);
      await sender.publish({ type: "t", id: `later${n}`, key: "k", data: n, deliverAt });
    }
    const endsAt = performance.now() + 10_000;
    while (posted.length < 3 && performance.now() < endsAt) await sleep(5);
    expect(posted).toEqual(["later1", "later2", "later3"]);
    expect(asked).toBeLessThanOrEqual(MOST_ASKED);
  });
});

describe("the headers of an event", () => {
  it("arrive with it, beside a signature that holds", async () => {
    const seen: { headers: IncomingHttpHeaders; body: Uint8Array }[] = [];
    const server = createServer((request, response) => {
      const note = async (): Promise<void> => {
        seen.push({ headers: request.headers, body: await buffer(request) });
        response.writeHead(204).end();
      };
      void note();
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const outbox = memoryStore({ environment: "test" });
    const sender = createSender({ store: outbox, guard: LOOPBACK });
    const secrets = generateSecret();
    await sender.endpoints.create({ url: `http://127.0.0.1:${port}/`, secrets });
    const dispatcher = createDispatcher({
      store: outbox,
      guard: LOOPBACK,
    });
    await sender.publish({ type: "t", data: 1, headers: { "X-Shop": "eu west", "x-tab": "a\tb" } });
    expect(await dispatcher.drain()).toMatchObject({ delivered: 1 });
    await dispatcher.stop();
    const [request] = seen;
    expect(request?.headers).toMatchObject({ "x-shop": "eu west", "x-tab": "a\tb" });
    const verifier = standardWebhooks({ secrets });
    await expect(
      verify(verifier, { headers: request?.headers ?? {}, body: request?.body ?? new Uint8Array() }),
    ).resolves.toMatchObject({ keyIndex: 0 });
  });
});

const MOST_ASKED = 2000;

/** A way out that leads nowhere, and notes the ids of what was sent. */
function acknowledging(posted: string[]): Egress {
  return {
    post: ({ headers }) => {
      posted.push(headers["webhook-id"] ?? "");
      return Promise.resolve({
        outcome: { kind: "acknowledged", status: 204 },
        answer: undefined,
        durationMs: 1,
      });
    },
    close: () => Promise.resolve(),
  };
}

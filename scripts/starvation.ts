// npm run starvation: real runs on SQLite and loopback, of endpoints that hang, names that are dead, deliveries that run
// alone, a large fan-out and a backlog of many endpoints, each beside an endpoint that is well; says how long that one
// waits for its events, the first of them apart.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import { createSender, generateSecret } from "posthorn";
import type { Publication, Sender, Signal } from "posthorn";
import { createAddressGuard, createDispatcher, queryResolver } from "posthorn/dispatch";
import { migrate, sqliteStore } from "posthorn/sqlite";

const EVENTS = 50;
const EVERY_MS = 100;
const LEASE_MS = 30_000;

interface Scene {
  readonly name: string;
  /** Adds the endpoints that are not well, and what waits for them. */
  readonly prepare: (world: World) => Promise<void>;
}

interface World {
  readonly sender: Pick<Sender<never>, "endpoints"> & {
    publish(events: readonly Publication[]): Promise<unknown>;
  };
  readonly store: ReturnType<typeof sqliteStore>;
  /** A server that accepts connections and never answers. */
  readonly hanging: string;
  /** A server that answers at once, and is not the one that is measured. */
  readonly quick: string;
}

const secrets = generateSecret();

async function fill(
  { sender }: Pick<World, "sender">,
  type: string,
  url: string,
  lanes: number,
): Promise<void> {
  await sender.endpoints.create({ url, secrets, types: [type] });
  await sender.publish(Array.from({ length: lanes }, (_, n) => ({ type, key: `k${n}`, data: n })));
}

const SCENES: readonly Scene[] = [
  { name: "nobody else", prepare: () => Promise.resolve() },
  {
    name: "two endpoints that hang, 200 lanes each",
    async prepare(world) {
      for (const name of ["hang1", "hang2"]) await fill(world, name, `${world.hanging}${name}`, 200);
    },
  },
  {
    name: "six names whose DNS server is silent",
    async prepare(world) {
      for (let n = 1; n <= 6; n++) await fill(world, `dead${n}`, `http://dead${n}.example.com/`, 4);
    },
  },
  {
    name: "twenty deliveries that lapsed three times, at an endpoint that hangs",
    async prepare(world) {
      await fill(world, "poison", `${world.hanging}poison`, 20);
      const request = {
        limit: 100,
        leaseMs: 1,
        of: { kind: "endpoint" } as const,
        inFlight: new Map(),
        alone: false,
      };
      for (let n = 0; n < 3; n++) {
        await world.store.claim({ ...request, worker: `dead ${n}`, run: { maxEvents: 1, maxBytes: 1 } });
        await sleep(50);
      }
    },
  },
  {
    name: "200 events without a key of another tenant, to 1,000 endpoints: 200,000 deliveries",
    async prepare({ sender, quick }) {
      const tenant = "big";
      for (let n = 0; n < 1000; n++) await sender.endpoints.create({ tenant, url: quick, secrets });
      await sender.publish(Array.from({ length: 200 }, (_, n) => ({ tenant, type: "big", data: n })));
    },
  },
  {
    name: "1,000 endpoints of the same tenant, each with one lane of 200 events",
    async prepare({ sender, store, quick }) {
      for (let n = 0; n < 1000; n++) await sender.endpoints.create({ url: quick, secrets, types: ["long"] });
      await sender.publish(Array.from({ length: 200 }, (_, n) => ({ type: "long", key: "k", data: n })));
      while ((await store.sequence()).more);
    },
  },
];

async function play({ name, prepare }: Scene): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "posthorn-starvation-"));
  const db = new Database(join(folder, "outbox.db"));
  const well = createServer((request, response) => void request.resume().on("end", () => response.end("ok")));
  const quick = createServer(
    (request, response) => void request.resume().on("end", () => response.end("ok")),
  );
  const hanging = createServer(() => undefined);
  await Promise.all([well, hanging, quick].map((server) => once(server.listen(0, "127.0.0.1"), "listening")));
  const urlOf = (server: typeof well): string =>
    `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await migrate(db);
  const store = sqliteStore({ db });
  // Nobody listens at the port of a closed socket's; a silent server is one that takes datagrams and answers none.
  const silent = await silentDns();
  const guard = createAddressGuard({
    allowHttp: true,
    allowAddresses: ["127.0.0.0/8"],
    resolve: queryResolver({ servers: [silent.address] }),
  });
  const sender = createSender({ store, guard });
  const landed = new Map<string, (ms: number) => void>();
  const observer = (signal: Signal): void => {
    if (signal.kind === "delivery_attempted" && signal.outcome === "acknowledged")
      landed.get(signal.id)?.(performance.now());
  };
  const dispatcher = createDispatcher({ store, guard, observer, leaseMs: LEASE_MS });
  await prepare({ sender, store, hanging: urlOf(hanging), quick: urlOf(quick) });
  await sender.endpoints.create({ url: urlOf(well), secrets, types: ["well"] });
  await dispatcher.start();
  await sleep(1500);
  const waits: Promise<number>[] = [];
  for (let n = 0; n < EVENTS; n++) {
    const startedAt = performance.now();
    const id = `e${n}`;
    waits.push(new Promise<number>((resolve) => landed.set(id, resolve)).then((at) => at - startedAt));
    await sender.publish({ type: "well", id, key: "k", data: n });
    await sleep(EVERY_MS);
  }
  const waited = await Promise.all(waits);
  const sorted = waited.toSorted((a, b) => a - b);
  const at = (share: number): string =>
    `${Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0)} ms`;
  const first = `${Math.round(waited[0] ?? 0)} ms`;
  console.log(`${name}: first ${first}, p50 ${at(0.5)}, p99 ${at(0.99)}, slowest ${at(1)}`);
  for (const server of [well, hanging, quick]) server.closeAllConnections();
  await dispatcher.stop();
  for (const server of [well, hanging, quick]) server.close();
  silent.close();
  db.close();
  rmSync(folder, { recursive: true });
}

async function silentDns(): Promise<{ readonly address: string; readonly close: () => void }> {
  const { createSocket } = await import("node:dgram");
  const socket = createSocket("udp4");
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return { address: `127.0.0.1:${socket.address().port}`, close: () => void socket.close() };
}

const [only = ""] = process.argv.slice(2);
for (const scene of SCENES.filter(({ name }) => name.includes(only))) await play(scene);

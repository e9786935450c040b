import { setTimeout as sleep } from "node:timers/promises";
import type { Pool, PoolClient } from "pg";
import type { Sender, Signal } from "posthorn";
import type { Case, Ratio, WorkCase } from "../../suite.js";
import { inTransaction } from "../inbox/durable-postgres.js";
import { dispatcherOf, publication } from "./bench-outbox.js";
import type { BenchOutbox } from "./bench-outbox.js";
import { postedEvent } from "./signed-posts.js";
import type { Post } from "./signed-posts.js";

export const LIGHT = {
  beside: "10/s: one commit + one POST",
  own: "10/s: published without tx",
  woken: "10/s: published with tx, then wake()",
  polled: "10/s: published with tx, polled",
  elsewhere: "10/s: published by another process, polled",
  sqliteBeside: "10/s: one SQLite commit + one POST",
  sqlite: "10/s: published on SQLite",
} as const;

// Ours at its slowest against the other as it usually is: more than to divide p99 by p99 would ask, which is reported.
const slowest = { to: LIGHT.beside, figure: "p99Ms", toFigure: "p50Ms" } as const;
const alike = { to: LIGHT.beside, figure: "p99Ms" } as const;
const usual = { figure: "p50Ms" } as const;

export const lightRatios: readonly Ratio[] = [
  {
    name: "p50 without tx / one commit + one POST",
    of: LIGHT.own,
    to: LIGHT.beside,
    ...usual,
    goal: "<= 4",
  },
  {
    name: "p50 on SQLite / one SQLite commit + one POST",
    of: LIGHT.sqlite,
    to: LIGHT.sqliteBeside,
    ...usual,
    goal: "<= 4",
  },
  { name: "p50 with tx and wake() / one commit + one POST", of: LIGHT.woken, to: LIGHT.beside, ...usual },
  { name: "p50 with tx, polled / one commit + one POST", of: LIGHT.polled, to: LIGHT.beside, ...usual },
  { name: "p99 without tx / one commit + one POST", of: LIGHT.own, ...slowest, goal: "<= 8" },
  { name: "p99 with tx and wake() / one commit + one POST", of: LIGHT.woken, ...slowest, goal: "<= 8" },
  { name: "p99 without tx / p99 of one commit + one POST", of: LIGHT.own, ...alike },
  { name: "p99 with tx and wake() / p99 of one commit + one POST", of: LIGHT.woken, ...alike },
  { name: "p99 with tx, polled / one commit + one POST", of: LIGHT.polled, ...slowest },
  { name: "p99 of another process, polled / one commit + one POST", of: LIGHT.elsewhere, ...slowest },
];

const EVERY_MS = 100;
const KEYS = 1000;

interface Parts {
  readonly pool: Pool;
  readonly post: Post;
  /** What the dispatcher delivers. */
  readonly outbox: BenchOutbox<PoolClient>;
  /** The same tables by a store of its own, as another process has one: the dispatcher hears nothing of it. */
  readonly elsewhere: Sender<PoolClient>;
  readonly sqlite: BenchOutbox;
  /** One commit in a SQLite file. */
  readonly sqliteCommit: (key: string) => void;
  /** In a turn: p99 of fewer than 100 is the slowest. */
  readonly events: number;
}

/** Ten events a second, each timed from before it is published until it is acknowledged. */
export async function lightLoadCases(parts: Parts): Promise<Case[]> {
  const { pool, post, outbox, elsewhere, sqlite, sqliteCommit, events } = parts;
  await pool.query(
    "create table if not exists light_commit (id bigint generated always as identity primary key, key text)",
  );
  const commit = (key: string): Promise<void> =>
    inTransaction(
      pool,
      async (tx) => void (await tx.query("insert into light_commit (key) values ($1)", [key])),
    );
  const inHost = (from: Sender<PoolClient>, number: number, wake: boolean): Promise<string> =>
    publishInHost(pool, from, number).then((id) => {
      if (wake) from.wake();
      return id;
    });
  const light = (name: string, publish: (number: number) => Promise<string>): WorkCase =>
    lightCase({ name, outbox, events, publish });
  return [
    besideCase({ name: LIGHT.beside, events, post, commit }),
    besideCase({ name: LIGHT.sqliteBeside, events, post, commit: sqliteCommit }),
    light(LIGHT.own, async (number) => (await outbox.sender.publish(publication(number, KEYS))).id),
    light(LIGHT.woken, (number) => inHost(outbox.sender, number, true)),
    light(LIGHT.polled, (number) => inHost(outbox.sender, number, false)),
    light(LIGHT.elsewhere, (number) => inHost(elsewhere, number, false)),
    lightCase({
      name: LIGHT.sqlite,
      outbox: sqlite,
      events,
      publish: async (number) => (await sqlite.sender.publish(publication(number, KEYS))).id,
    }),
  ];
}

interface Beside {
  readonly name: string;
  readonly events: number;
  readonly post: Post;
  readonly commit: (key: string) => void | Promise<void>;
}

/** What every delivery needs at least: a commit, and then a POST. */
function besideCase({ name, events, post, commit }: Beside): WorkCase {
  return {
    kind: "work",
    group: "light load",
    name,
    async run(record) {
      await atFixedRate(events, async (number) => {
        const startedAt = performance.now();
        await commit(`key_${number}`);
        await post(postedEvent(number + 1, KEYS));
        record(performance.now() - startedAt);
      });
      return events;
    },
  };
}

async function publishInHost(pool: Pool, sender: Sender<PoolClient>, number: number): Promise<string> {
  let id = "";
  await inTransaction(pool, async (tx) => {
    ({ id } = await sender.publish(publication(number, KEYS), { tx }));
  });
  return id;
}

interface Light {
  readonly name: string;
  readonly outbox: Pick<BenchOutbox, "store" | "empty">;
  readonly events: number;
  /** Returns the event's id. */
  readonly publish: (number: number) => Promise<string>;
}

function lightCase({ name, outbox, events, publish }: Light): WorkCase {
  const acknowledgements = new Acknowledgements();
  const dispatcher = dispatcherOf(outbox.store, { observer: (signal) => acknowledgements.see(signal) });
  return {
    kind: "work",
    group: "light load",
    name,
    async beforeTurn() {
      await outbox.empty();
      await dispatcher.start();
      // Its first event opens a connection; and it shall be asleep when the clock starts.
      await acknowledgements.of(await publish(0));
      await sleep(EVERY_MS);
    },
    async run(record) {
      await atFixedRate(events, async (number) => {
        const startedAt = performance.now();
        await acknowledgements.of(await publish(number));
        record(performance.now() - startedAt);
      });
      return events;
    },
    afterTurn: () => dispatcher.stop(),
  };
}

/** Calls so many times, ten times a second and never quite regularly, whether or not the calls before have ended. */
async function atFixedRate(count: number, call: (number: number) => Promise<void>): Promise<void> {
  const calls: Promise<void>[] = [];
  const startedAt = performance.now();
  for (let number = 0; number < count; number += 1) {
    // A rate without any jitter would keep its distance to every poll.
    const at = startedAt + (number + 0.5 * Math.random()) * EVERY_MS;
    await sleep(Math.max(0, at - performance.now()));
    calls.push(call(number));
  }
  await Promise.all(calls);
}

/** Tells when an event is acknowledged, also if it was before somebody asks. */
class Acknowledgements {
  readonly #seen = new Set<string>();
  readonly #waiting = new Map<string, () => void>();

  see(signal: Signal): void {
    if (signal.kind !== "delivery_attempted" || signal.outcome !== "acknowledged") return;
    const resolve = this.#waiting.get(signal.id);
    if (resolve === undefined) this.#seen.add(signal.id);
    else resolve();
    this.#waiting.delete(signal.id);
  }

  async of(id: string): Promise<void> {
    if (this.#seen.delete(id)) return;
    await new Promise<void>((resolve) => this.#waiting.set(id, resolve));
  }
}

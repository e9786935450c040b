import { createWorker } from "posthorn";
import { postgresStore } from "posthorn/postgres";
import { describe, expect, it } from "vitest";
import type { IncomingEvent, IncomingName } from "../../library/src/outbox/ingest-store.js";
import { eventOf } from "../../library/src/testing/conformance/outbox/steps.js";
import { inOrder, postArray, Seen } from "../array-request.js";
import { freshDatabase } from "../services.js";
import { drivers } from "./drivers.js";
import { createLossyProxy } from "./lossy-proxy.js";
import { emptyOutbox } from "./outbox-harness.js";

interface Wish {
  readonly body?: string;
  readonly type?: string;
  readonly windowS?: number;
}

async function incomingOf(
  id: string,
  names: readonly string[],
  { body = "body", type = "t", windowS }: Wish = {},
): Promise<IncomingEvent> {
  const bodyHash = Buffer.from(body.padEnd(32, "."));
  return {
    event: await eventOf({ id, type, body: Buffer.from(body) }),
    names: names.map((name) => ({ name, bodyHash })) as unknown as [IncomingName],
    windowS,
  };
}

// The whole command, and not the end of "read committed".
const COMMIT = "commit\u0000";

describe.each(drivers)("ingest on $name", async (driver) => {
  const url = await freshDatabase();
  const pool = driver.open(url);
  const one = postgresStore({ client: pool.client });
  const two = postgresStore({ client: driver.open(url).client });
  const proxy = await createLossyProxy(url);
  // A connection of its own for each: the drivers send the text of a command once.
  const openLossy = () => postgresStore({ client: driver.open(proxy.url, { max: 1 }).client });

  const read = async (text: string): Promise<string[]> =>
    (await pool.rows(`select (${text})::text as found`)).map(({ found }) => found ?? "");
  const count = async (table: string): Promise<number> =>
    Number((await read(`select count(*) from posthorn.${table}`))[0]);
  const deadlocks = () => read("select deadlocks from pg_stat_database where datname = current_database()");
  const versions = () =>
    read(
      "select string_agg(keep_until::text || xmin, ',' order by name) from posthorn.ingest_name where keep_until is not null",
    );
  const standing = async (): Promise<Record<string, string>> => {
    const rows = await pool.rows("select name, event_id from posthorn.ingest_name order by name");
    return Object.fromEntries(rows.map(({ name = "", event_id = "" }) => [name, event_id]));
  };

  it("calls of the same moment share one commit, and each has its own answer", async () => {
    await emptyOutbox(pool);
    const incoming = await Promise.all(
      Array.from({ length: 300 }, (_, n) => incomingOf(`evt_${n}`, [`s/id/${n}`, `s/hash/${n}`])),
    );
    const ingested = await Promise.all(incoming.map((each) => one.ingest(each)));
    expect(ingested).toEqual(incoming.map(({ event }) => ({ kind: "stored", id: event.id })));
    expect([await count("event"), await count("stage"), await count("ingest_name")]).toEqual([300, 300, 600]);
    const commits = Number((await read("select count(distinct xmin::text) from posthorn.event"))[0]);
    expect(commits).toBeLessThan(5);
    const order = await read("select string_agg(public_id, ',' order by id) from posthorn.event");
    expect(order[0]).toBe(incoming.map(({ event }) => event.id).join(","));
  });

  it("the events of one request share commits when they are stored first, and keep their order within their key", async () => {
    await emptyOutbox(pool);
    expect((await postArray(one, 1200)).verdict).toBe("stored");
    const commits = Number((await read("select count(distinct xmin::text) from posthorn.event"))[0]);
    expect(commits).toBeLessThan(10);
    const seen = new Seen();
    await createWorker({ store: one, handlers: { delivered: ({ data }) => seen.add(data) } }).drain();
    expect(seen.numbers).toEqual(inOrder(1200));
  });

  it("what is handed over in one step keeps its order, though it is too much for one statement", async () => {
    await emptyOutbox(pool);
    const ids = Array.from({ length: 1700 }, (_, n) => `evt_${String(n).padStart(4, "0")}`);
    const incoming = await Promise.all(ids.map((id) => incomingOf(id, [`s/${id}`])));
    await Promise.all(incoming.map((each) => one.ingest(each)));
    const order = await read("select string_agg(public_id, ',' order by id) from posthorn.event");
    expect(order[0]).toBe(ids.join(","));
  });

  it("what is handed over in one step keeps its order, though others come and are written meanwhile", async () => {
    await emptyOutbox(pool);
    const ids = Array.from({ length: 400 }, (_, n) => `evt_${String(n).padStart(3, "0")}`);
    const incoming = await Promise.all(ids.map((id) => incomingOf(id, [`s/${id}`])));
    const calls: Promise<unknown>[] = [];
    for (let from = 0; from < ids.length; from += 80) {
      calls.push(...incoming.slice(from, from + 80).map((each) => one.ingest(each)));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await Promise.all(calls);
    const written = (
      await read("select string_agg(public_id, ',' order by id) from posthorn.event")
    )[0]?.split(",");
    for (let from = 0; from < ids.length; from += 80) {
      const step = ids.slice(from, from + 80);
      expect(written?.filter((id) => step.includes(id))).toEqual(step);
    }
  });

  it("a batch that hangs does not hold up those that come after it", async () => {
    await emptyOutbox(pool);
    await one.ingest(await incomingOf("evt_held", ["s/held"], { windowS: 60 }));
    const holder = await pool.begin();
    await pool.inside(holder.client, "update posthorn.ingest_name set event_id = event_id");
    const hangs = one.ingest(await incomingOf("evt_again", ["s/held"], { windowS: 60 }));
    try {
      // Not in the same moment, and so not in the same batch.
      await new Promise((resolve) => setTimeout(resolve, 50));
      const passes = await one.ingest(await incomingOf("evt_free", ["s/free"]));
      expect(passes).toEqual({ kind: "stored", id: "evt_free" });
    } finally {
      await holder.rollback();
    }
    expect(await hangs).toEqual({ kind: "duplicate", id: "evt_held" });
  });

  it("the same event five times at once in one process is stored once, and the others are duplicates of it", async () => {
    await emptyOutbox(pool);
    const incoming = await Promise.all(
      Array.from({ length: 5 }, (_, n) => incomingOf(`evt_${n}`, ["s/id/1", "s/hash/1"])),
    );
    const ingested = await Promise.all(incoming.map((each) => one.ingest(each)));
    expect(ingested.map(({ kind }) => kind)).toEqual(["stored", ...Array<string>(4).fill("duplicate")]);
    expect(new Set(ingested.map(({ id }) => id))).toEqual(new Set(["evt_0"]));
    expect(await count("event")).toBe(1);
  });

  it("of one moment, those that are new are stored and each of the others is judged by itself", async () => {
    await emptyOutbox(pool);
    for (const [name, windowS] of [
      ["s/known", 3600],
      ["s/changed", 3600],
      ["s/passed", 1],
    ] as const)
      await one.ingest(await incomingOf(`evt_${name}`, [name], { windowS }));
    await pool.rows(
      "update posthorn.ingest_name set keep_until = now() - interval '1 s' where name = 's/passed'",
    );
    const wishes: [string, Wish][] = Array.from({ length: 30 }, (_, n) => [`s/${n}`, {}]);
    wishes.splice(3, 0, ["s/known", {}]);
    wishes.splice(17, 0, ["s/changed", { body: "other" }], ["s/passed", {}]);
    const incoming = await Promise.all(
      wishes.map(([name, wish], n) => incomingOf(`evt_${n}`, [name], { windowS: 3600, ...wish })),
    );
    const ingested = await Promise.all(incoming.map((each) => one.ingest(each)));
    const expected = incoming.map(({ event: { id }, names: [{ name }] }) => {
      if (name === "s/known") return { kind: "duplicate", id: "evt_s/known" };
      return name === "s/changed" ? { kind: "conflict", id: "evt_s/changed" } : { kind: "stored", id };
    });
    expect(ingested).toEqual(expected);
    expect([await count("event"), await count("stage")]).toEqual([34, 34]);
    // And the same once more: by now all of them came before, and the passed one under its new id.
    const later = await Promise.all(
      wishes.map(([name, wish], n) => incomingOf(`evt_later_${n}`, [name], { windowS: 3600, ...wish })),
    );
    const again = await Promise.all(later.map((each) => one.ingest(each)));
    expect(again).toEqual(
      expected.map(({ kind, id }) => ({ kind: kind === "stored" ? "duplicate" : kind, id })),
    );
    expect(await count("event")).toBe(34);
  });

  it("what shares only a part of its names with one of the same moment adds the others to it", async () => {
    await emptyOutbox(pool);
    const [first, second, third] = await Promise.all([
      one.ingest(await incomingOf("evt_a", ["s/1", "s/2"])),
      one.ingest(await incomingOf("evt_b", ["s/2", "s/3"])),
      one.ingest(await incomingOf("evt_c", ["s/3"])),
    ]);
    expect([first, second, third]).toEqual([
      { kind: "stored", id: "evt_a" },
      { kind: "duplicate", id: "evt_a" },
      { kind: "duplicate", id: "evt_a" },
    ]);
    expect(await standing()).toEqual({ "s/1": "evt_a", "s/2": "evt_a", "s/3": "evt_a" });
  });

  it("a conflict takes none of its names with it", async () => {
    await emptyOutbox(pool);
    await one.ingest(await incomingOf("evt_a", ["s/1"]));
    const other = await incomingOf("evt_b", ["s/1", "s/2"], { body: "other" });
    expect(await one.ingest(other)).toEqual({ kind: "conflict", id: "evt_a" });
    expect(await standing()).toEqual({ "s/1": "evt_a" });
    expect(await one.ingest(await incomingOf("evt_c", ["s/2"], { body: "other" }))).toEqual({
      kind: "stored",
      id: "evt_c",
    });
  });

  it("two nodes that get events with crossing names at once store one of each, and never meet in a deadlock", async () => {
    await emptyOutbox(pool);
    const before = await deadlocks();
    for (let round = 0; round < 20; round++) {
      const at = (node: number, names: readonly string[], n: number) =>
        incomingOf(`evt_${round}_${node}_${n}`, names);
      const calls = Array.from({ length: 10 }, async (_, n) => {
        const [a, b] = [`s/${round}/${n}`, `s/${round}/${(n * 7 + 3) % 10}x`];
        return Promise.all([one.ingest(await at(1, [a, b], n)), two.ingest(await at(2, [b, a], n))]);
      });
      for (const [first, second] of await Promise.all(calls)) {
        expect([first.kind, second.kind].toSorted()).toEqual(["duplicate", "stored"]);
        expect(first.id).toBe(second.id);
      }
    }
    expect(await count("event")).toBe(200);
    expect(await deadlocks()).toEqual(before);
  });

  it("many nodes and overlapping names: every event that is told as stored is there, and every name leads to one", async () => {
    await emptyOutbox(pool);
    const chains = Array.from({ length: 200 }, async (_, n) =>
      (n % 2 === 0 ? one : two).ingest(await incomingOf(`evt_${n}`, [`s/${n >> 1}`, `s/${(n >> 1) + 1}`])),
    );
    const ingested = await Promise.all(chains);
    const stored = ingested.filter(({ kind }) => kind === "stored").map(({ id }) => id);
    const events = await pool.rows("select public_id from posthorn.event");
    expect(events.map(({ public_id = "" }) => public_id).toSorted()).toEqual(stored.toSorted());
    for (const { id } of ingested) expect(stored).toContain(id);
    for (const id of Object.values(await standing())) expect(stored).toContain(id);
    expect(await count("stage")).toBe(stored.length);
  });

  it.each(["commit", "rollback"] as const)(
    "a name that another node's open transaction has written is waited for, until its %s",
    async (end) => {
      await emptyOutbox(pool);
      const holder = await pool.begin();
      const values = "('default', 's/1', 'evt_other', null, null)";
      await pool.inside(holder.client, `insert into posthorn.ingest_name values ${values}`);
      const ingesting = one.ingest(await incomingOf("evt_mine", ["s/1", "s/0"]));
      const waiting = "from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
      await expect.poll(() => pool.rows(`select 1 as one ${waiting}`)).toHaveLength(1);
      await holder[end]();
      const known = end === "commit";
      expect(await ingesting).toEqual(
        known ? { kind: "duplicate", id: "evt_other" } : { kind: "stored", id: "evt_mine" },
      );
      const id = known ? "evt_other" : "evt_mine";
      expect(await standing()).toEqual({ "s/0": id, "s/1": id });
      expect(await count("event")).toBe(known ? 0 : 1);
    },
  );

  it("after a lost answer to its commit an event is still told as stored, and is stored once", async () => {
    await emptyOutbox(pool);
    const lost = proxy.lost();
    for (const [how, id] of [
      ["loseAnswerTo", "evt_1"],
      ["loseRequest", "evt_2"],
    ] as const) {
      proxy[how](COMMIT);
      expect(await openLossy().ingest(await incomingOf(id, [`s/${id}`]))).toEqual({ kind: "stored", id });
    }
    expect(proxy.lost()).toBe(lost + 2);
    expect([await count("event"), await count("stage")]).toEqual([2, 2]);
    expect(await one.ingest(await incomingOf("evt_3", ["s/evt_1"]))).toEqual({
      kind: "duplicate",
      id: "evt_1",
    });
  });

  it("an event that the database refuses fails alone", async () => {
    await emptyOutbox(pool);
    await pool.rows(`
      create function refuse_poison() returns trigger language plpgsql as $$ begin
        if new.type = 'poison' then raise exception 'poison'; end if;
        return new;
      end $$;
      create trigger refuse_poison before insert on posthorn.event for each row execute function refuse_poison()`);
    try {
      const calls = Array.from({ length: 10 }, async (_, n) =>
        one.ingest(await incomingOf(`evt_${n}`, [`s/${n}`], { type: n === 3 ? "poison" : "t" })),
      );
      const ends = await Promise.allSettled(calls);
      expect(ends.map(({ status }) => status === "fulfilled")).toEqual(
        Array.from({ length: 10 }, (_, n) => n !== 3),
      );
    } finally {
      await pool.rows("drop function refuse_poison() cascade");
    }
    expect([await count("event"), await count("ingest_name")]).toEqual([9, 9]);
    expect(await one.ingest(await incomingOf("evt_again", ["s/3"]))).toMatchObject({ kind: "stored" });
  });

  it("a name that comes again and again is written once a minute, and not at all where it is known for ever", async () => {
    await emptyOutbox(pool);
    await one.ingest(await incomingOf("evt_a", ["s/1"], { windowS: 3600 }));
    await one.ingest(await incomingOf("evt_b", ["s/2"]));
    const before = await versions();
    await one.ingest(await incomingOf("evt_c", ["s/1"], { windowS: 3600 }));
    await one.ingest(await incomingOf("evt_d", ["s/2"], { windowS: 3600 }));
    expect(await versions()).toEqual(before);
    await pool.rows("update posthorn.ingest_name set keep_until = keep_until - interval '2 minutes'");
    const older = await versions();
    await one.ingest(await incomingOf("evt_e", ["s/1"], { windowS: 3600 }));
    expect(await versions()).not.toEqual(older);
  });

  it("works without prepared statements, and where tables are missing says how to make them", async () => {
    await emptyOutbox(pool);
    const plain = postgresStore({ client: pool.client, prepare: false });
    expect(await plain.ingest(await incomingOf("evt_a", ["s/1"]))).toMatchObject({ kind: "stored" });
    expect(await plain.ingest(await incomingOf("evt_b", ["s/1", "s/2"]))).toMatchObject({
      kind: "duplicate",
    });
    expect(await plain.forgetNames({ maxNames: 10 })).toBe(0);
    const missing = postgresStore({ client: pool.client, schema: "nowhere" });
    await expect(missing.ingest(await incomingOf("evt_a", ["s/1"]))).rejects.toMatchObject({
      code: "store_not_migrated",
    });
  });
});

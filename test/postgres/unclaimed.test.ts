import { postgresStore } from "posthorn/postgres";
import { describe, expect, it } from "vitest";
import { UNCLAIMED } from "../../library/src/outbox/fan-out.js";
import type { Signal } from "../../library/src/observer.js";
import { storedEvent } from "../../library/src/testing/conformance/outbox/workers/handlers.js";
import { freshDatabase } from "../services.js";
import { drivers } from "./drivers.js";
import { emptyOutbox } from "./outbox-harness.js";

const handler = { id: "hnd_a", sources: ["stripe"], types: ["*"], order: "key", dead: undefined } as const;
const MOST_AT_ONCE = 5000;
const IN_TURNS = "case when n % 2 = 0 then 'github' else 'shopify' end";

describe.each(drivers)("what no handler names, on $name", async (driver) => {
  const url = await freshDatabase();
  const pool = driver.open(url);
  const signals: Signal[] = [];
  const observer = (signal: Signal): void => void signals.push(signal);
  const one = postgresStore({ client: pool.client, observer });
  const two = postgresStore({ client: driver.open(url).client, observer });

  async function come(id: string, source: string, tenant = "default"): Promise<void> {
    const names = [{ name: `${source}/id/${id}`, bodyHash: undefined }] as const;
    const event = await storedEvent(id, { source, tenant });
    await one.ingest({ event, names, windowS: undefined });
  }

  /** Events of one key, set aside long ago, from a source by their number n; they are numbered as they were staged. */
  async function setAside(count: number, source: string): Promise<void> {
    await emptyOutbox(pool);
    await pool.rows("drop trigger if exists judge_step on posthorn.stage_dead");
    await one.register([handler]);
    await one.sequence();
    await pool.rows(`
      with old as (
        insert into posthorn.event (public_id, direction, tenant, source, type, key, content_type, event_at, receipt, body)
        select 'old_' || n, 'in', 'default', ${source}, 'paid', 'k',
          'application/json', now(), '{}', '\\x7b7d'
        from generate_series(1, ${count}) as n returning id, source
      )
      insert into posthorn.stage_dead (id, tenant, event_id, round, error, died_at)
      select id, 'default', id, 1, '${UNCLAIMED}', now() from old`);
    await pool.rows(`alter table posthorn.stage alter column id restart with ${count + 1}`);
    await pool.rows("analyze");
    signals.length = 0;
  }

  const count = async (table: string): Promise<number> => {
    const [row] = await pool.rows(`select count(*)::text as n from posthorn.${table}`);
    return Number(row?.["n"]);
  };

  const placed = async (): Promise<string[]> => {
    const rows = await pool.rows(`
      select public_id as id from posthorn.delivery join posthorn.event on event.id = event_id
      where source = 'github' order by seq`);
    return rows.map(({ id = "" }) => id);
  };

  it("stays as it is when a version says its words again, and nobody is told of it once more", async () => {
    await setAside(100, "'github'");
    await pool.rows(`update posthorn.consumer
      set definition = regexp_replace(definition, '"at":(\\d+)', '"at":1')`);
    const [before] = await one.readHandlers();
    await one.register([handler]);
    expect((await one.readHandlers())[0]?.version).toBe((before?.version ?? 0) + 1);
    expect(await two.sequence()).toEqual({ events: 0, more: false });
    expect([await count("stage_dead"), signals]).toEqual([100, []]);
  });

  it("is staged in steps when a handler names its source: events of others do not wait for it, those of its key do", async () => {
    const total = 2 * MOST_AT_ONCE + 500;
    await setAside(total, IN_TURNS);
    await pool.rows(`
      create or replace function judge_step() returns trigger language plpgsql as $$ begin
        if (select count(*) from gone) > ${MOST_AT_ONCE} then raise exception 'too many at once'; end if;
        return null;
      end $$;
      create or replace trigger judge_step after delete on posthorn.stage_dead
      referencing old table as gone for each statement execute function judge_step()`);
    await one.register([{ ...handler, id: "hnd_b", sources: ["git*"] }]);
    await come("new", "github");
    await come("live", "stripe", "other");
    // Whoever has registered it is gone: another process goes on.
    expect(await two.sequence()).toMatchObject({ more: true });
    expect(await count("delivery join posthorn.event on event.id = event_id where source = 'stripe'")).toBe(
      1,
    );
    expect(await count("stage_dead")).toBe(total - MOST_AT_ONCE / 2);
    while ((await two.sequence()).more);
    expect([await count("stage"), await count("stage_dead")]).toEqual([0, total / 2]);
    const old = Array.from({ length: total }, (_, n) => n + 1).filter((n) => n % 2 === 0);
    expect(await placed()).toEqual([...old.map((n) => `old_${n}`), "new"]);
    expect(signals).toEqual([]);
  });

  it("comes before what was stored since then, also where it is not looked at in the first step", async () => {
    const others = 4 * MOST_AT_ONCE;
    await setAside(others + 2, `case when n > ${others} then 'github' else 'shopify' end`);
    await one.register([{ ...handler, id: "hnd_b", sources: ["github"] }]);
    await come("new", "github");
    expect(await one.sequence()).toEqual({ events: 0, more: true });
    while ((await one.sequence()).more);
    expect(await placed()).toEqual([`old_${others + 1}`, `old_${others + 2}`, "new"]);
  });

  it("is looked at from the first on, where a second handler names another source before all of it is staged", async () => {
    const total = MOST_AT_ONCE + 1000;
    await setAside(total, IN_TURNS);
    await one.register([{ ...handler, id: "hnd_b", sources: ["github"] }]);
    await one.sequence();
    await one.register([{ ...handler, id: "hnd_c", sources: ["shopify"] }]);
    while ((await one.sequence()).more);
    expect([await count("stage_dead"), await count("delivery")]).toEqual([0, total]);
  });
});

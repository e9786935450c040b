import { postgresStore } from "posthorn/postgres";
import { describe, expect, it } from "vitest";
import { freshDatabase } from "../services.js";
import { drivers } from "./drivers.js";
import { emptyOutbox } from "./outbox-harness.js";

const LANES = 25_000;
const MOST_AT_ONCE = 10_000;

describe.each(drivers)("generations after a restore, on $name", async (driver) => {
  const pool = driver.open(await freshDatabase());
  const store = postgresStore({ client: pool.client });

  const generations = () =>
    pool.rows("select generation::text, count(*)::text as lanes from posthorn.lane group by 1 order by 1");

  it("are raised in steps, and by a second call where the first one ended between two", async () => {
    await emptyOutbox(pool);
    await pool.rows(`
      insert into posthorn.lane (consumer_id, key, generation) select 1, 'k' || n, 1 from generate_series(1, ${LANES}) as n`);
    await pool.rows(`
      create function judge_step() returns trigger language plpgsql as $$ begin
        if (select count(*) from raised) > ${MOST_AT_ONCE} then raise exception 'too many at once'; end if;
        if exists (select from raised where key = 'k12000') then raise exception 'killed'; end if;
        return null;
      end $$;
      create trigger judge_step after update on posthorn.lane
      referencing new table as raised for each statement execute function judge_step()`);
    await expect(store.raiseGenerations()).rejects.toMatchObject({ cause: { message: "killed" } });
    const [low, high, ...none] = await generations();
    expect([low, high?.["lanes"], none]).toEqual([{ generation: "1", lanes: "15000" }, "10000", []]);
    await pool.rows("drop trigger judge_step on posthorn.lane; drop function judge_step");
    expect(await store.raiseGenerations()).toBe(LANES);
    const [all, ...others] = await generations();
    expect([all?.["lanes"], others]).toEqual([String(LANES), []]);
    expect(Number(all?.["generation"])).toBeGreaterThan(Number(high?.["generation"]));
  });
});

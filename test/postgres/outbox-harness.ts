import { postgresStore } from "posthorn/postgres";
import type { OutboxBench, OutboxHarness } from "posthorn/testing";
import type { Driver, TestPool } from "./drivers.js";

const HOUR_S = 3600;

// The columns that hold an instant by which something is decided or listed.
const INSTANTS: Readonly<Record<string, readonly string[]>> = {
  event: ["written_at", "deliver_at", "expires_at"],
  outbox_key: ["keep_until"],
  retention: ["passed_at"],
  later: ["deliver_at"],
  hold: ["seen_at"],
  held: ["until"],
  filled: ["filled_at"],
  consumer: ["stopped_at", "paused_until", "seen_at"],
  lane_state: ["ready_at", "leased_at", "leased_until", "blocked_at"],
  loose_delivery: ["ready_at", "leased_at", "leased_until"],
  attempt: ["started_at"],
  loose_attempt: ["started_at"],
  dead: ["died_at", "resolved_at"],
  cancelled: ["cancelled_at"],
  stage_dead: ["died_at", "resolved_at"],
  ingest_name: ["keep_until"],
  ingest_repeat: ["keep_until"],
};

const EMPTIED = [
  ...Object.keys(INSTANTS),
  "inbox",
  "newest",
  "stage",
  "lane",
  "delivery",
  "dead_change",
  "dead_group",
  "step",
].map((table) => `posthorn.${table}`);

/** Two pools on one database stand for two processes: to Postgres they are. The tables are emptied for each case. */
export function postgresOutboxHarness(driver: Driver, url: string): OutboxHarness<never> {
  const [one, two, host] = [driver.open(url), driver.open(url), driver.open(url)];
  const open = async (firstEvent: bigint): Promise<OutboxBench<never>> => {
    await emptyOutbox(host, firstEvent);
    return {
      outboxes: [one, two].map(({ client }) => postgresStore({ client })),
      time: { tickS: HOUR_S, pass: (ms) => moveIntoPast(host, ms) },
      transaction: (work) => inTransaction(host, work),
      cancelled: () => cancelledIn(host),
      refusePlaces: (prefix) => refusePlaces(host, prefix),
      close: () => Promise.resolve(),
    };
  };
  return {
    capabilities: {
      sharesHostTransaction: true,
      survivesPowerLoss: true,
      multiProcess: true,
      clock: "store",
    },
    transactions: "asynchronous",
    exactTime: false,
    listsCancelled: true,
    refusesPlaces: true,
    oneConnection: driver.oneConnection === true,
    open: () => open(1n),
    openAt: open,
  };
}

/** Empties the tables; the next event has this number. */
export async function emptyOutbox(host: TestPool, firstEvent = 1n): Promise<void> {
  await host.rows(`truncate ${EMPTIED.join(", ")} restart identity`);
  // Whoever has read the endpoints before reads them again.
  await host.rows("update posthorn.outbox_config set mark = gen_random_uuid()");
  for (const table of ["event", "stage"]) {
    await host.rows(`alter table posthorn.${table} alter column id restart with ${firstEvent}`);
  }
}

async function refusePlaces(host: TestPool, prefix: string): Promise<() => Promise<void>> {
  await host.rows(`
    create function refuse_places() returns trigger language plpgsql as $$ begin
      if exists (select from posthorn.event where id = new.event_id and public_id like '${prefix}%') then
        raise exception 'refused by the test';
      end if;
      return new;
    end $$;
    create trigger refuse_places before insert on posthorn.delivery for each row execute function refuse_places()`);
  return async () => void (await host.rows("drop function refuse_places() cascade"));
}

async function inTransaction<T>(host: TestPool, work: (tx: never) => Promise<T> | T): Promise<T> {
  const transaction = await host.begin();
  try {
    const value = await work(transaction.client as never);
    await transaction.commit();
    return value;
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
}

export async function moveIntoPast(host: TestPool, ms: number): Promise<void> {
  for (const [table, columns] of Object.entries(INSTANTS)) {
    const past = columns.map((column) => `${column} = ${column} - ${ms} * interval '1 millisecond'`);
    await host.rows(`update posthorn.${table} set ${past.join(", ")}`);
  }
}

async function cancelledIn(host: TestPool): ReturnType<NonNullable<OutboxBench["cancelled"]>> {
  const rows = await host.rows(`
    select consumer.public_id as endpoint, event.public_id as event, cancelled.because
    from posthorn.cancelled join posthorn.consumer on consumer.id = consumer_id
    join posthorn.event on event.id = event_id`);
  return rows.map(({ endpoint = "", event = "", because = "" }) => ({
    endpointId: endpoint,
    eventId: event,
    because,
  }));
}

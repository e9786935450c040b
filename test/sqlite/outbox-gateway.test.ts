import type { Database } from "better-sqlite3";
import { migrate, sqliteStore } from "posthorn/sqlite";
import type { SqliteDatabase } from "posthorn/sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Signal } from "../../library/src/observer.js";
import type { SecretSeal } from "../../library/src/outbox/secret-seal.js";
import type { DatabaseFile } from "./database-file.js";
import { createDatabaseFile } from "./database-file.js";
import { claimRequest, deliverAll, endpointOf, eventOf } from "./outbox-events.js";

let file: DatabaseFile;
let db: Database;
beforeEach(async () => {
  file = createDatabaseFile();
  db = file.open();
  await migrate(db);
});
afterEach(() => file.remove());

const count = (table: string) => db.prepare(`select count(*) from posthorn_${table}`).pluck().get();

const written = () => db.prepare("select secrets from posthorn_consumer").pluck().get();

describe("incoming events of one moment", () => {
  it("share a commit", async () => {
    const commits: string[] = [];
    const noting: SqliteDatabase = {
      prepare: (sql) => db.prepare(sql),
      exec(sql) {
        if (sql === "commit") commits.push(sql);
        return db.exec(sql);
      },
      get inTransaction() {
        return db.inTransaction;
      },
    };
    const outbox = sqliteStore({ db: noting });
    const names = Array.from({ length: 50 }, (_, n) => `shop/${n}`);
    const ingested = await Promise.all(
      names.map((name) =>
        outbox.ingest({ event: eventOf(`evt_${name}`), names: [{ name, bodyHash: undefined }], windowS: 60 }),
      ),
    );
    expect(ingested.filter(({ kind }) => kind === "stored")).toHaveLength(50);
    expect(count("ingest_name")).toBe(50);
    expect(commits.length).toBeLessThan(10);
  });
});

describe("an event with more places than one turn has time for", () => {
  it("is given them in several turns, and what comes after it waits for that", async () => {
    const outbox = sqliteStore({ db });
    for (let n = 0; n < 620; n++) await outbox.addEndpoint(endpointOf({ id: `ep_${n}` }));
    await outbox.append([eventOf("e1")]);
    expect(count("place")).toBe(0);
    const given = [0];
    const noting = async (work: Promise<unknown>) => (await work, given.push(Number(count("place"))));
    await noting(outbox.append([eventOf("e2")]));
    while (given.at(-1) !== 1240) await noting(outbox.sequence());
    expect(given.slice(1).filter((each, turn) => each - (given[turn] ?? 0) > 500)).toEqual([]);
    expect((await outbox.sequence()).more).toBe(false);
    const delivered = await deliverAll(outbox, claimRequest({ limit: 5000 }));
    expect(delivered.slice(0, 620)).toEqual(Array.from({ length: 620 }, () => "e1"));
    expect(delivered.slice(620)).toEqual(Array.from({ length: 620 }, () => "e2"));
  });

  it("goes by the patterns that there were when it was published", async () => {
    const outbox = sqliteStore({ db });
    for (let n = 0; n < 600; n++) await outbox.addEndpoint(endpointOf({ id: `ep_${n}` }));
    await outbox.append([eventOf("e1")]);
    await outbox.sequence();
    await outbox.changeEndpoint("ep_599", { types: ["other"] });
    expect(await outbox.deliveriesOf("default", ["e1"])).toHaveLength(600);
  });
});

describe("many events at once", () => {
  it("are placed in turns, and none that is published later comes before them", async () => {
    const outbox = sqliteStore({ db });
    await outbox.addEndpoint(endpointOf());
    const ids = Array.from({ length: 800 }, (_, n) => `e${n}`);
    await outbox.append(ids.map((id) => eventOf(id)));
    await outbox.append([eventOf("last")]);
    while ((await outbox.sequence()).more);
    expect(await deliverAll(outbox, claimRequest())).toEqual([...ids, "last"]);
  });
});

/** A seal that anybody can break. */
function sealOf(key: string): SecretSeal {
  return {
    seal: (secret) => `${key}:${secret.toUpperCase()}`,
    open(sealed) {
      if (!sealed.startsWith(`${key}:`)) throw new Error("it was sealed under another key");
      return sealed.slice(key.length + 1).toLowerCase();
    },
  };
}

describe("the secrets of an endpoint", () => {
  const secrets = ["whsec_mdeymzq1njc4otaxmjm0nty3odkwmtiz"];

  it("are sealed in the database, and open for whoever has the key", async () => {
    const outbox = sqliteStore({ db, seal: sealOf("one") });
    await outbox.addEndpoint(endpointOf({ secrets }));
    expect(written()).toBe(JSON.stringify([`one:${secrets[0]?.toUpperCase()}`]));
    expect((await outbox.readEndpoints(["ep_a"]))[0]?.secrets).toEqual(secrets);
    const changed = await outbox.changeEndpoint("ep_a", { secrets: [...secrets, "whsec_second"] });
    expect(changed?.secrets).toEqual([...secrets, "whsec_second"]);
    expect(written()).not.toContain("whsec");
  });

  it("are read where they were written without a seal", async () => {
    await sqliteStore({ db }).addEndpoint(endpointOf({ secrets }));
    const [found] = await sqliteStore({ db, seal: sealOf("one") }).listEndpoints({ limit: 1 });
    expect(found).toMatchObject({ secrets, state: "active" });
  });

  it("that cannot be opened disable their endpoint here, lose nothing, and stop no other", async () => {
    const right = sqliteStore({ db, seal: sealOf("one") });
    await right.addEndpoint(endpointOf({ secrets }));
    const signals: Signal[] = [];
    const observer = (signal: Signal): void => void signals.push(signal);
    const wrong = sqliteStore({ db, seal: sealOf("two"), observer });
    await wrong.addEndpoint(endpointOf({ id: "ep_b", secrets }));
    await wrong.append([eventOf("e1")]);
    const { claims } = await wrong.claim(claimRequest());
    expect(claims.map(({ consumer: endpoint }) => endpoint.id)).toEqual(["ep_b"]);
    const because = "its secrets cannot be opened: it was sealed under another key";
    expect(await wrong.readEndpoints(["ep_a"])).toMatchObject([{ state: "disabled", secrets: [], because }]);
    expect(signals).toEqual([{ kind: "endpoint_disabled", endpoint: "ep_a", because }]);
    await wrong.changeEndpoint("ep_a", { maxInFlight: 3 });
    expect(await right.readEndpoints(["ep_a"])).toMatchObject([{ state: "active", secrets, maxInFlight: 3 }]);
    expect((await right.claim(claimRequest())).claims.map(({ consumer: endpoint }) => endpoint.id)).toEqual([
      "ep_a",
    ]);
  });

  it("that are sealed, for a store without a seal, disable their endpoint too", async () => {
    await sqliteStore({ db, seal: sealOf("one") }).addEndpoint(endpointOf({ secrets }));
    const [found] = await sqliteStore({ db }).listEndpoints({ limit: 1 });
    expect(found).toMatchObject({ state: "disabled", secrets: [] });
  });
});

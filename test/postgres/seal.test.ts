import { postgresStore } from "posthorn/postgres";
import { describe, expect, it } from "vitest";
import type { Signal } from "../../library/src/observer.js";
import type { SecretSeal } from "../../library/src/outbox/secret-seal.js";
import { endpointFor, eventOf, settlementOf } from "../../library/src/testing/conformance/outbox/steps.js";
import { freshDatabase } from "../services.js";
import { drivers } from "./drivers.js";
import { emptyOutbox } from "./outbox-harness.js";

function turned(text: string): string {
  return text.split("").toReversed().join("");
}

/** Turns a text around behind the name of its key: no encryption, but nobody who looks for the secret finds it. */
function sealUnder(key: string): SecretSeal {
  return {
    seal: (secret) => `${key}.${turned(secret)}`,
    open(sealed) {
      if (!sealed.startsWith(`${key}.`)) throw new Error(`sealed under another key than ${key}`);
      return turned(sealed.slice(key.length + 1));
    },
  };
}

const run = { maxEvents: 1, maxBytes: 1_000_000 };
const request = {
  worker: "worker_1",
  limit: 100,
  leaseMs: 60_000,
  of: { kind: "endpoint" } as const,
  inFlight: new Map(),
  run,
  alone: false,
};
const SECRET = endpointFor().secrets[0] ?? "";

describe.each(drivers)("secrets on $name", async (driver) => {
  const pool = driver.open(await freshDatabase());
  const signals: Signal[] = [];
  const observer = (signal: Signal) => signals.push(signal);
  const open = (seal?: SecretSeal) => postgresStore({ client: pool.client, observer, ...(seal && { seal }) });
  const definitions = async (): Promise<string> =>
    (await pool.rows("select definition from posthorn.consumer")).map(({ definition }) => definition).join();

  it("are sealed in the database and open to whoever has the key", async () => {
    await emptyOutbox(pool);
    const outbox = open(sealUnder("k1"));
    await outbox.addEndpoint(endpointFor());
    expect(await definitions()).not.toContain(SECRET);
    expect((await outbox.readEndpoints(["ep_a"]))[0]?.secrets).toEqual([SECRET]);
    const changed = await outbox.changeEndpoint("ep_a", { secrets: [SECRET, "whsk_other"] });
    expect(changed?.secrets).toEqual([SECRET, "whsk_other"]);
    expect((await outbox.listEndpoints({ limit: 10 }))[0]?.secrets).toEqual([SECRET, "whsk_other"]);
    expect(await definitions()).not.toMatch(/whs/);
  });

  it("that were stored without a seal are still read, and are sealed when they are changed", async () => {
    await emptyOutbox(pool);
    await open().addEndpoint(endpointFor());
    const outbox = open(sealUnder("k1"));
    expect((await outbox.readEndpoints(["ep_a"]))[0]?.secrets).toEqual([SECRET]);
    await outbox.changeEndpoint("ep_a", { secrets: [SECRET] });
    expect(await definitions()).not.toContain(SECRET);
  });

  it("that cannot be opened stop their endpoint at this node alone: its events wait, and no other endpoint does", async () => {
    await emptyOutbox(pool);
    signals.length = 0;
    const right = open(sealUnder("k1"));
    const wrong = open(sealUnder("k2"));
    await right.addEndpoint(endpointFor());
    await wrong.addEndpoint(endpointFor({ id: "ep_b" }));
    await right.append([await eventOf({ id: "e1", key: "k" })]);
    while ((await right.sequence()).more);
    const { claims } = await wrong.claim(request);
    expect(claims.map(({ consumer: endpoint }) => endpoint.id)).toEqual(["ep_b"]);
    const settlements = claims.map((claim) => settlementOf(claim, { acknowledged: 1, next: true }));
    await wrong.settle({ ...request, settlements });
    // Nothing is due for a node that cannot sign: it would ask again and again.
    expect(await wrong.untilDue({ kind: "endpoint" })).toBeUndefined();
    expect((await wrong.claim(request)).claims).toEqual([]);
    const [told, ...more] = signals;
    expect(told).toMatchObject({ kind: "endpoint_disabled", endpoint: "ep_a" });
    expect(more).toEqual([]);
    expect(await wrong.readEndpoints(["ep_a"])).toMatchObject([
      {
        state: "disabled",
        because: "its secrets cannot be opened: sealed under another key than k2",
        secrets: [],
      },
    ]);
    expect(await right.readEndpoints(["ep_a"])).toMatchObject([{ state: "active", secrets: [SECRET] }]);
    const served = await right.claim(request);
    expect(served.claims.map(({ consumer: endpoint }) => endpoint.id)).toEqual(["ep_a"]);
  });

  it("that cannot be opened are kept by a change of something else, and replaced by a change of theirs", async () => {
    await emptyOutbox(pool);
    const right = open(sealUnder("k1"));
    const wrong = open(sealUnder("k2"));
    await right.addEndpoint(endpointFor());
    expect(await wrong.changeEndpoint("ep_a", { maxInFlight: 3 })).toMatchObject({ state: "disabled" });
    expect(await right.readEndpoints(["ep_a"])).toMatchObject([
      { state: "active", secrets: [SECRET], maxInFlight: 3 },
    ]);
    await right.append([await eventOf({ id: "e1", key: "k" })]);
    while ((await right.sequence()).more);
    expect((await wrong.claim(request)).claims).toEqual([]);
    await wrong.changeEndpoint("ep_a", { secrets: [SECRET] });
    expect((await wrong.claim(request)).claims).toHaveLength(1);
  });

  it("that are sealed are not sent as they stand where no seal was given", async () => {
    await emptyOutbox(pool);
    await open(sealUnder("k1")).addEndpoint(endpointFor());
    const [found] = await open().readEndpoints(["ep_a"]);
    expect(found).toMatchObject({ state: "disabled", secrets: [] });
    expect(found?.because).toContain("no seal");
  });
});

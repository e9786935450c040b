import type { Compared, ResourceVersion } from "../../../../inbox/handler/newest.js";
import { alike, same, soon } from "../../expectation.js";
import type { OutboxBench, OutboxPledge } from "../harness.js";
import { outboxOf } from "../steps.js";

/** What comparing versions of resources promises. */
export const outboxNewest: readonly OutboxPledge[] = [
  {
    name: "a version is the newest where all that is known is older, and an equal one of another event is stale",
    async check(bench) {
      const answers: Compared[] = [];
      for (const [n, version] of [5n, 5n, 4n, 6n, 5n].entries())
        answers.push(await ask(bench, { version, eventId: `evt_${n}` }));
      alike(answers, ["newest", "stale", "stale", "newest", "stale"], "of 5, 5, 4, 6 and 5");
    },
  },
  {
    name: "an equal version is the newest again where the same event brought it, and stale once another event brings a newer one",
    async check(bench) {
      const answers: Compared[] = [];
      const brought = [
        ["evt_a", 5n],
        ["evt_a", 5n],
        ["evt_b", 5n],
        ["evt_b", 6n],
        ["evt_a", 5n],
        ["evt_a", 6n],
        ["evt_b", 6n],
      ] as const;
      for (const [eventId, version] of brought) answers.push(await ask(bench, { eventId, version }));
      alike(
        answers,
        ["newest", "newest", "stale", "newest", "stale", "stale", "newest"],
        "of two events in turn",
      );
    },
  },
  {
    name: "versions of 64 bits are compared exactly",
    async check(bench) {
      const versions = [-(2n ** 63n), -1n, 0n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n];
      const answers: Compared[] = [];
      for (const version of versions) answers.push(await ask(bench, { version }));
      alike(
        answers,
        versions.map(() => "newest"),
        "of versions that grow",
      );
      same(await ask(bench, { version: 2n ** 63n - 2n }), "stale", "of the one before the last");
    },
  },
  {
    name: "a rollback forgets the version",
    async check(bench) {
      await ask(bench, { version: 1n });
      const failed = await ask(bench, { version: 2n, throws: true }).catch((error: unknown) => error);
      alike(failed, new Error("as asked"), "what the transaction threw");
      same(await ask(bench, { version: 2n, eventId: "evt_2", at: 1 }), "newest", "after the rollback");
    },
  },
  {
    name: "of two transactions that ask for one resource, the second waits for the end of the first: they are never both the newest",
    needs: ["manyWriters"],
    async check(bench) {
      alike(await both(bench, { resource: "kept", throws: false }), "stale", "after a commit");
      alike(await both(bench, { resource: "undone", throws: true }), "newest", "after a rollback");
    },
  },
  {
    name: "consumers, tenants, sources and resources have nothing to do with each other",
    async check(bench) {
      await ask(bench, { version: 9n });
      const others = [{ consumer: "crm" }, { tenant: "acme" }, { source: "github" }, { resource: "cus_2" }];
      for (const other of others) {
        same(await ask(bench, { ...other, version: 1n }), "newest", `of ${JSON.stringify(other)}`);
      }
      same(await ask(bench, { version: 9n, eventId: "evt_2" }), "stale", "of the first");
    },
  },
  {
    name: "a number is never compared with a time",
    async check(bench) {
      await ask(bench, { version: 5n });
      same(await ask(bench, { kind: "time", version: 6n }), "mixed", "of a time where a number is known");
      same(await ask(bench, { version: 6n }), "newest", "of a number after it");
    },
  },
  {
    name: "newest returns without a promise exactly where transactions are synchronous",
    async check(bench) {
      const outbox = outboxOf(bench);
      let answer: unknown;
      await bench.transaction((tx) => (answer = outbox.newest(tx, versionOf({}))));
      same(answer instanceof Promise, outbox.transactions === "asynchronous", "whether it is a promise");
    },
  },
];

function versionOf(given: Partial<ResourceVersion>): ResourceVersion {
  const name = { consumer: "", tenant: "default", source: "stripe", resource: "cus_1" };
  return { ...name, eventId: "evt_1", kind: "number", version: 1n, ...given };
}

type Asking = Partial<ResourceVersion> & { readonly at?: number; readonly throws?: boolean };

/** Asks in a transaction of its own. */
function ask(bench: OutboxBench, { at = 0, throws = false, ...given }: Asking): Promise<Compared> {
  const outbox = outboxOf(bench, at);
  const end = (compared: Compared): Compared => {
    if (throws) throw new Error("as asked");
    return compared;
  };
  return bench.transaction((tx) => {
    const compared = outbox.newest(tx, versionOf(given));
    return typeof compared === "string" ? end(compared) : compared.then(end);
  });
}

/** What the second of two transactions is told, that asks while the first is open. */
async function both(
  bench: OutboxBench,
  { resource, throws }: { readonly resource: string; readonly throws: boolean },
): Promise<Compared> {
  const outbox = outboxOf(bench);
  let second: Promise<Compared> | undefined;
  const first = bench.transaction(async (tx) => {
    same(await outbox.newest(tx, versionOf({ resource })), "newest", "of the first transaction");
    const gate = new EventTarget();
    const asked = new Promise((resolve) => gate.addEventListener("asked", resolve));
    second = bench.transaction((other) => {
      const compared = outboxOf(bench, 1).newest(other, versionOf({ resource, eventId: "evt_2" }));
      gate.dispatchEvent(new Event("asked"));
      return compared;
    });
    second.catch(() => undefined);
    await asked;
    // Gives a store that does not wait the time to answer.
    for (let n = 0; n < 5; n++) await outbox.newest(tx, versionOf({ resource: `beside ${n}` }));
    if (throws) throw new Error("as asked");
  });
  await first.catch(() => undefined);
  return soon(second as Promise<Compared>, "newest of the second transaction", bench.patienceMs);
}

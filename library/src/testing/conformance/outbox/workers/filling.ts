import { sha256 } from "#crypto";
import { utf8 } from "../../../../bytes.js";
import type { FilledPlace } from "../../../../hold-mark.js";
import type { Ingested } from "../../../../outbox/ingest-store.js";
import { alike, same } from "../../expectation.js";
import type { OutboxBench, OutboxPledge } from "../harness.js";
import {
  acknowledge,
  claimOne,
  claimsNothing,
  deliverAll,
  outboxOf,
  passTicks,
  sequenceAll,
  ticksMs,
} from "../steps.js";
import { A, register } from "./handlers.js";
import { come, decidedOf, removeEvents, take } from "./holding.js";
import type { Coming } from "./holding.js";

/** What is promised of places whose events were answered and are not stored. */
export const outboxFilling: readonly OutboxPledge[] = [
  {
    name: "a duplicate or a conflict fills its place in the sequence of its key: what comes behind it does not wait",
    async check(bench) {
      await register(bench, {});
      const known = { name: "stripe/id/known", bodyHash: await sha256(utf8("one body")) };
      same(await take(bench, { id: "known", name: known, n: 1 }), "stored", "the first");
      await come(bench, [2]);
      same(await take(bench, { id: "same", name: known, n: 3 }), "duplicate", "the same again");
      same(await take(bench, { id: "same", name: known, n: 3 }, { at: 1 }), "duplicate", "a retry of that");
      await come(bench, [4]);
      const other = { ...known, bodyHash: await sha256(utf8("another body")) };
      same(await take(bench, { id: "other", name: other, n: 5 }), "conflict", "another body");
      await come(bench, [6]);
      same(await deliverAll(bench, { of: A }), "known e2 e4 e6", "what goes");
    },
  },
  {
    name: "a duplicate or a conflict of an event that waits for its places fills none of them: nobody passes it",
    async check(bench) {
      // Set aside until a handler is registered, or behind more than one step takes of a tenant: one before it is judged first.
      for (const key of ["aside", "staged"]) {
        for (const n of [1, 3]) await takeIn(bench, n, { key });
        await takeOthers(bench, key);
        await takeIn(bench, 2, { key });
        for (const kind of ["duplicate", "conflict"] as const)
          same(await take(bench, await incomingOf(key, 2, kind), { key, at: 1 }), kind, `a ${kind} of 2`);
        if (key === "aside") await sequenceAll(bench);
        await register(bench, {});
        await sequenceAll(bench);
        const went = (await deliverAll(bench, { of: A })).split(" ").filter((id) => id.startsWith(key));
        same(went.join(" "), `${key}_1 ${key}_2 ${key}_3`, "what goes of the key");
      }
    },
  },
  {
    name: "fill fills the place of an event that was answered and is not stored: what is held behind it goes",
    async check(bench) {
      await register(bench, {});
      await come(bench, [1, 3, 4]);
      same(await deliverAll(bench, { of: A }), "e1", "before the place is filled");
      await fill(bench, 2, { at: 1 });
      await sequenceAll(bench);
      same(await deliverAll(bench, { of: A }), "e3 e4", "after it");
    },
  },
  {
    name: "what is missing before a filled place is still waited for, and alone is given up",
    async check(bench) {
      await register(bench, {});
      await come(bench, [1]);
      await fill(bench, 3);
      await come(bench, [4]);
      same(await deliverAll(bench, { of: A }), "e1", "while 2 is missing");
      const held = await outboxOf(bench).heldEvent("default", "e4");
      alike(held?.hold?.missing, { from: 2n, to: 2n }, "what is missing before 4");
      await come(bench, [2]);
      same(await deliverAll(bench, { of: A }), "e2 e4", "after 2 has come");
      await fill(bench, 6);
      await come(bench, [7], { maxMs: 1 });
      await passTicks(bench, 1);
      await sequenceAll(bench);
      const gap = { from: 5n, to: 5n, because: "time" } as const;
      alike(decidedOf(await claimOne(bench, { of: A })), { sequence: 7n, gap }, "what went without 5");
    },
  },
  {
    name: "a filled place lets nobody pass: an event below it is not late",
    async check(bench) {
      await register(bench, {});
      await come(bench, [1]);
      // Its sender has skipped 2, whose answer was lost, and sends it again in another place.
      await fill(bench, 3, { after: 1n });
      await come(bench, [2]);
      await acknowledge(bench, await claimOne(bench, { of: A }));
      const below = await claimOne(bench, { of: A });
      alike(decidedOf(below), { sequence: 2n }, "the event below it");
      await acknowledge(bench, below);
      // Held, and sent once more: what is missing before it comes in one step with what is behind it.
      await come(bench, [5]);
      await fill(bench, 5);
      for (const n of [4, 6]) {
        const name = { name: `stripe/id/e${n}`, bodyHash: undefined };
        same(await take(bench, { id: `e${n}`, name, n }), "stored", `ingest of ${n}`);
      }
      await sequenceAll(bench);
      for (const n of [4n, 5n, 6n]) {
        const next = await claimOne(bench, { of: A });
        alike(decidedOf(next), { sequence: n }, `the event of ${n}`);
        await acknowledge(bench, next);
      }
    },
  },
  {
    name: "a place is filled for its tenant, source, key and generation alone",
    async check(bench) {
      await register(bench, {});
      await come(bench, [1, 3]);
      for (const other of [{ tenant: "other" }, { source: "github" }, { key: "other" }, { generation: 2n }])
        await fill(bench, 2, other);
      await sequenceAll(bench);
      same(await deliverAll(bench, { of: A }), "e1", "what goes");
      await claimsNothing(bench, "behind the gap", { of: A });
    },
  },
  {
    name: "a filled place is forgotten when events of its time are",
    async check(bench) {
      await register(bench, {});
      await fill(bench, 2);
      await sequenceAll(bench);
      await passTicks(bench, 20);
      await removeEvents(bench, 10);
      await come(bench, [1, 3], { maxMs: ticksMs(bench, 500) });
      same(await deliverAll(bench, { of: A }), "e1", "what goes");
    },
  },
];

async function takeIn(bench: OutboxBench, n: number, wish: Coming & { readonly key: string }): Promise<void> {
  const { key } = wish;
  same(await take(bench, await incomingOf(key, n, "stored"), wish), "stored", `${n} of ${key}`);
}

/** With this many tenants, a step takes few events of each. */
async function takeOthers(bench: OutboxBench, name: string): Promise<void> {
  const others = Array.from({ length: 130 }, (_, n) => {
    const key = `other_${name}_${n}`;
    return takeIn(bench, 1, n < 10 ? { key } : { key, tenant: `tenant_${n}` });
  });
  await Promise.all(others);
}

/** An event as it comes for the first time, and as it comes again. */
async function incomingOf(
  key: string,
  n: number,
  kind: Ingested["kind"],
): Promise<Parameters<typeof take>[1]> {
  const id = `${key}_${n}`;
  const bodyHash = await sha256(utf8(kind === "conflict" ? "another body" : "one body"));
  return { id: kind === "stored" ? id : `${id}_again`, name: { name: `stripe/id/${id}`, bodyHash }, n };
}

async function fill(bench: OutboxBench, n: number, wish: Coming = {}): Promise<void> {
  await outboxOf(bench, wish.at).fill(placeOf(n, wish));
}

function placeOf(n: number, wish: Coming): FilledPlace {
  const { tenant = "default", source = "stripe", key = "k", generation = 1n } = wish;
  const sequence = BigInt(n);
  const { after = sequence - 1n } = wish;
  return { tenant, source, key, generation, sequence, after };
}

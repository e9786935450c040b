import type { WorkerStore } from "../../../inbox/worker/worker-store.js";
import type { Publications } from "../outbox/publications.js";
import type { MemoryParts } from "../parts.js";
import type { MemoryTx } from "../client/transaction.js";
import type { AcceptParts } from "../inbox/accept.js";
import { textOf } from "../inbox/inbox-row.js";
import { removeHandler } from "../outbox/remove-endpoint.js";
import { apply } from "./apply.js";
import { claim } from "./claim.js";
import { extend } from "./extend.js";
import { release } from "./release.js";
import { settle } from "./settle.js";
import { untilDue } from "./until-due.js";

type Lanes = Omit<WorkerStore<MemoryTx, "asynchronous">, "transactions" | "connections" | "attempts">;

/** Ordering, claims, settlements and handlers. */
export function createLanes(parts: MemoryParts, publications: Publications, inbox: AcceptParts): Lanes {
  const cursor = { served: "", briefServed: "" };
  return {
    wake: parts.wake,
    // Events have their places when they commit; only those that had to wait for their time are left.
    sequence: () => Promise.resolve({ events: publications.placeDue(), more: false }),
    claim: (request) => Promise.resolve(claim(parts, cursor, request)),
    settle: (request) => Promise.resolve(request.settlements.map((each) => settle(parts, each, request))),
    release: (worker, held) => Promise.resolve(release(parts, worker, held)),
    extend: (worker, leases, leaseMs) => Promise.resolve(extend(parts, worker, { leases, leaseMs })),
    untilDue: (of) => Promise.resolve(untilDue(parts, publications, of)),
    register(consumers) {
      publications.placeDue();
      for (const consumer of consumers) parts.endpoints.register(consumer);
      publications.placeUnclaimed();
      parts.wake.ring("committed");
      return Promise.resolve();
    },
    apply: (claimed, work, limits) => apply({ ...parts, inbox }, claimed, work, limits),
    pauseHandler: (id, pause) => Promise.resolve(parts.endpoints.pause(id, pause)),
    resumeHandler(id) {
      const resumed = parts.endpoints.resume(id);
      if (resumed) parts.wake.ring("committed");
      return Promise.resolve(resumed);
    },
    removeHandler(id, removal) {
      publications.placeDue();
      return Promise.resolve(removeHandler(parts, id, removal));
    },
    roundOf(key, consumer) {
      const { round = 1, outcome } = inbox.rows.get(textOf(key, consumer)) ?? {};
      return Promise.resolve({ round, outcome });
    },
    beginStep: (key, storedAs) => Promise.resolve(parts.steps.begin(key, storedAs)),
    keepStep: (key, result) => Promise.resolve(parts.steps.keep(key, result)),
    readHandlers(ids) {
      const found = parts.endpoints.handlers().filter(({ id }) => ids?.includes(id) ?? true);
      return Promise.resolve(structuredClone(found));
    },
  };
}

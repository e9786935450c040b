// The worker of a host: it delivers what an outbox holds.
import { Socket } from "node:net";
import { createAddressGuard, createDispatcher } from "posthorn/dispatch";
import { end } from "./armed.mjs";

/** @import { Claim, ClaimRequest } from "posthorn" */
/** @import { Store } from "posthorn/operator" */
/** @import { HostOptions } from "./work.mjs" */

/**
 * A worker as short-lived as can be: most of a test's time is leases that end. An answer may still take a while on a
 * busy machine.
 *
 * @param {Store<any>} outbox
 * @param {HostOptions} options
 */
export async function startDispatcher(outbox, options) {
  const { deadlineMs = 1500, leaseMs = 8000 } = options;
  if (options.poison !== undefined) endAt(options.poison);
  const dispatcher = createDispatcher({
    store: options.plant === "settle_first" ? hasty(outbox) : outbox,
    deadlineMs,
    leaseMs,
    slots: 16,
    pollMs: 50,
    guard: createAddressGuard({ allowAddresses: ["127.0.0.1"], allowHttp: true }),
    observer: (signal) => {
      // A store that is not there is what some tests are about; the last words are printed when this process fails.
      if (signal.kind === "store_failed")
        console.error(`${signal.operation}: ${signal.code} ${signal.message}`);
    },
  });
  process.once("SIGTERM", () => void dispatcher.stop().then(() => process.exit(0)));
  await dispatcher.start();
}

/** Ends this process at the request that holds a text, before a byte of it has left. */
/** @param {string} text */
function endAt(text) {
  const write = Reflect.get(Socket.prototype, "write");
  /** @this {Socket} @param {any} chunk @param {any[]} rest */
  function guarded(chunk, ...rest) {
    const sent = String(chunk);
    if (sent.includes("POST ") && sent.includes(text)) end("poison");
    return Reflect.apply(write, this, [chunk, ...rest]);
  }
  Socket.prototype.write = guarded;
}

/** The bug of writing down that something is delivered before it is sent. */
/** @param {Store<any>} store @returns {Store<any>} */
function hasty(store) {
  /** @param {Claim} claim @param {ClaimRequest} request */
  const settled = (claim, { worker, leaseMs, run }) => {
    const plain = { round: 1, number: 1, startedAt: new Date(), durationMs: 0, status: 204 };
    const outcome = /** @type {const} */ ("acknowledged");
    const attempts = claim.run.map(({ sequence }) => ({
      ...plain,
      sequence,
      outcome,
      error: undefined,
      answer: undefined,
    }));
    const done = { claim, attempts, acknowledged: attempts.length, rest: undefined, next: false };
    return store.settle({ worker, leaseMs, run, settlements: [done] });
  };
  return new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (name !== "claim") return typeof value === "function" ? value.bind(target) : value;
      return async (/** @type {ClaimRequest} */ request) => {
        const answer = await target.claim(request);
        for (const claim of answer.claims) await settled(claim, request);
        return answer;
      };
    },
  });
}

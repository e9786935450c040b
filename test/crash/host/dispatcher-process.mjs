// A worker that delivers, to be killed, stopped and ended. Started by host.ts with its options as JSON; says "ready"
// with its port on stdout.
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { createDispatcher } from "posthorn/dispatch";
import { Socket } from "node:net";
import { arm, end, listenForFaults } from "./armed.mjs";

/** @import { IncomingMessage, ServerResponse } from "node:http" */
/** @import { Claim, ClaimRequest } from "posthorn" */
/** @import { Outbox } from "posthorn/operator" */
/** @import { HostOptions } from "./work.mjs" */

const options = /** @type {HostOptions} */ (JSON.parse(process.argv[2] ?? "{}"));

/** @returns {Promise<Outbox<any>>} */
async function openOutbox() {
  if (options.store === "sqlite") {
    const { default: Database } = await import("better-sqlite3");
    const { sqliteOutbox } = await import("posthorn/sqlite");
    return sqliteOutbox({ db: new Database(options.database), durability: "strict" });
  }
  const { Pool } = await import("pg");
  const { postgresOutbox } = await import("posthorn/postgres");
  const pool = new Pool({
    connectionString: options.database,
    max: 4,
    application_name: "posthorn-crash-worker",
  });
  pool.on("error", () => {});
  return postgresOutbox({ client: pool });
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
if (options.poison !== undefined) endAt(options.poison);

/** The bug of writing down that something is delivered before it is sent. */
/** @param {Outbox<any>} store @returns {Outbox<any>} */
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
const outbox = await openOutbox();

// As short as can be: most of a test's time is leases that end. An answer may still take a while on a busy machine.
const { deadlineMs = 1500, leaseMs = 8000 } = options;
const dispatcher = createDispatcher({
  store: options.plant === "settle_first" ? hasty(outbox) : outbox,
  deadlineMs,
  leaseMs,
  slots: 16,
  pollMs: 50,
  allowAddresses: ["127.0.0.1"],
  allowHttp: true,
  observer: (signal) => {
    // A store that is not there is what some tests are about; the last words are printed when this process fails.
    if (signal.kind === "store_failed")
      console.error(`${signal.operation}: ${signal.code} ${signal.message}`);
  },
});

listenForFaults();
process.once("SIGTERM", () => void dispatcher.stop().then(() => process.exit(0)));

/** @param {IncomingMessage} request @param {ServerResponse} response */
async function armed(request, response) {
  arm(JSON.parse(String(await buffer(request))));
  response.writeHead(204).end();
}
const server = createServer((request, response) => void armed(request, response));
await dispatcher.start();
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  console.log(`ready ${typeof address === "object" ? address?.port : ""}`);
});
// Whoever started this process is gone: nobody would ever end it.
process.stdin.on("close", () => process.exit());
process.stdin.resume();
